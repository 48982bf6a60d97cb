"""Run a network on a problem and record a trace that can be drawn, saved and sent."""

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

import torch

from ntm.evaluation.predicting import problem_of
from ntm.models.family import Model, family_of
from ntm.tasks import Batch, Examples, Task
from ntm.trace import Trace


def traced(
    net: Model, problem: Batch | torch.Tensor, task: Task | None = None, title: str = ""
) -> Trace:
    """Run a network on one problem; return the trace of every step, with the problem's targets.

        traced(net, task.at(length=12).sample(1, generator), task).save("copy.npz")

    problem: a batch of one, or inputs (time, 1, input_size) if there is no target.
    task: the task that names the channels (None: the channels are numbered).
    title: title of the trace ("": the task's name).
    """
    inputs = problem.inputs if isinstance(problem, Batch) else problem
    if inputs.dim() != 3 or inputs.shape[1] != 1:
        raise ValueError(
            f"traced takes one problem, with inputs of shape (time, 1, channels); got "
            f"{tuple(inputs.shape)}. Give batch.narrow(i, i + 1)."
        )
    config: Any = net.config
    about = {
        "title": title or (task.name if task else "trace"),
        "task": task.name if task else None,
        "model": family_of(net).name,
        "config": asdict(config),
        **_channels(task),
    }
    return replace(_run(net, inputs), about=about, **_asked(problem, task))


def traced_input(
    net: Model, task: Examples, value: Any, title: str = "", at_most: int | None = None
) -> Trace:
    """Run a network on an input without a target; return the trace up to the end of the answer.

    value: input as in the file of examples.
    at_most: length at which an answer without an end symbol is cut (None: as in `predict`).
    """
    inputs, answering = problem_of(net, task, value, at_most)
    return replace(traced(net, inputs, task, title), mask=answering.numpy())


def _run(net: Model, inputs: torch.Tensor) -> Trace:
    seen = inputs.to(next(net.parameters()))
    if getattr(net, "batch_first", False):  # optional for the networks of a family
        seen = seen.transpose(0, 1)
    return family_of(net).trace(net, seen, memory=True)


def _asked(problem: Batch | torch.Tensor, task: Task | None) -> dict[str, Any]:
    """Return the targets, the scored steps, and the best possible answer if the task knows one."""
    if not isinstance(problem, Batch):
        return {}
    batch = problem.to("cpu")
    asked = {"targets": batch.targets.numpy(), "mask": batch.mask.numpy()}
    best = None if task is None else task.optimal_probabilities(batch)
    if best is not None:
        asked["optimal"] = best.float().numpy()
    return asked


def _channels(task: Task | None) -> dict[str, Sequence[str]]:
    if task is None:
        return {}
    kinds = {"input_kind": task.input_kind, "output_kind": task.output_kind}
    names = {"input_channels": task.input_channels, "output_channels": task.output_channels}
    return {**names, **{key: kind for key, kind in kinds.items() if kind != "bits"}}

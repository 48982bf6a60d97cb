"""A trace as one JSON document: what the page, a shared file and a notebook all draw.

    document = trace_document(net, batch, task, title="copy, length 12")

    format          1
    title           what to write above it
    task            the task's name, or null
    model           ntm-ff, ntm-lstm or lstm
    config          the network's sizes and choices, as in config.json
    steps           T
    cost_bits       the cost of the outputs; null without targets
    wrong_bits      scored outputs on the wrong side of 1/2; null without targets
    answer_steps    the steps whose outputs are scored
    labels          {"inputs": [...], "outputs": [...]}, a name for every channel
    inputs          A (T, input_size)
    targets         A (T, output_size), or null
    outputs         A (T, output_size), probabilities
    optimal         A (T, 1), the best possible predictions; n-grams only
    shifts          the allowed shifts, in the order of every head's "shift"
    memory          A (T, N, M) after each step; null for an LSTM, which also has no reads or heads
    reads           A (T, M) for each read head
    heads           read heads, then write heads:
        kind, index         "read" or "write", and its number among its kind, from 0
        key                 A (T, M)
        strength, gate, sharpening      A (T)
        shift               A (T, S)
        content, gated, shifted, weighting      A (T, N), the links of the addressing chain
        erase, add          A (T, M), write heads only

An array A is {"shape": [...], "data": base64 of little-endian float32}.
"""

import base64
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike

from ntm.layer import NTM
from ntm.models.family import Model, model_name
from ntm.tasks import Batch, Task, cost_in_bits, wrong_bits
from ntm.trace import Trace

FORMAT = 1

Document = dict[str, Any]

# The parts of a head: their names in the document, and in a Trace behind "read_" or "write_".
_HEAD_PARTS = {
    "key": "keys",
    "strength": "strengths",
    "gate": "gates",
    "shift": "shifts",
    "sharpening": "sharpness",
    "content": "content",
    "gated": "gated",
    "shifted": "shifted",
    "weighting": "weightings",
}


def trace_document(
    net: Model, problem: Batch | torch.Tensor, task: Task | None = None, title: str = ""
) -> Document:
    """Run a network on one problem and write down everything that happened.

    problem: a batch of one, or its inputs alone, (time, 1, input_size), where there is no target.
    task: names the channels, if it is given.
    """
    inputs = problem.inputs if isinstance(problem, Batch) else problem
    if inputs.dim() != 3 or inputs.shape[1] != 1:
        raise ValueError(
            f"A document shows one problem, inputs of shape (time, 1, channels); got "
            f"{tuple(inputs.shape)}. Give batch.narrow(i, i + 1)."
        )
    logits, inside = _run(net, inputs)
    return {
        "format": FORMAT,
        "title": title,
        "task": task.name if task else None,
        "model": model_name(net.config),
        "config": vars(net.config),
        "steps": len(inputs),
        "labels": _labels(inputs.shape[2], logits.shape[2], task),
        "inputs": encoded(inputs[:, 0].cpu()),
        "outputs": encoded(torch.sigmoid(logits[:, 0])),
        **_answers(logits, problem, task),
        **inside,
    }


def encoded(values: ArrayLike) -> dict[str, Any]:
    """An array as the document holds it."""
    array = np.ascontiguousarray(values, dtype="<f4")
    return {"shape": list(array.shape), "data": base64.b64encode(array.tobytes()).decode("ascii")}


def decoded(array: dict[str, Any]) -> np.ndarray[Any, np.dtype[np.float32]]:
    """What `encoded` was given, as float32."""
    values = np.frombuffer(base64.b64decode(array["data"]), dtype="<f4")
    return values.reshape(array["shape"])


@torch.no_grad()
def _run(net: Model, inputs: torch.Tensor) -> tuple[torch.Tensor, Document]:
    """The logits, on the CPU, and what went on inside the network."""
    seen = inputs.to(next(net.parameters()))
    if net.batch_first:
        seen = seen.transpose(0, 1)
    if isinstance(net, NTM):
        trace = net.trace(seen, memory=True)
        return torch.from_numpy(trace.outputs), _inside(trace)
    logits = net(seen)[0].cpu()
    nothing: Document = {"shifts": [], "memory": None, "reads": [], "heads": []}
    return (logits.transpose(0, 1) if net.batch_first else logits), nothing


def _inside(trace: Trace) -> Document:
    assert trace.memory is not None
    reads, writes = trace.read_weightings.shape[2], trace.write_weightings.shape[2]
    return {
        "shifts": list(trace.shifts),
        "memory": encoded(trace.memory[:, 0]),
        "reads": [encoded(trace.reads[:, 0, head]) for head in range(reads)],
        "heads": [_head(trace, "read", head) for head in range(reads)]
        + [_head(trace, "write", head) for head in range(writes)],
    }


def _head(trace: Trace, kind: str, index: int) -> Document:
    parts = {name: f"{kind}_{array}" for name, array in _HEAD_PARTS.items()}
    if kind == "write":
        parts |= {"erase": "erases", "add": "adds"}
    arrays = {name: encoded(getattr(trace, array)[:, 0, index]) for name, array in parts.items()}
    return {"kind": kind, "index": index, **arrays}


def _answers(logits: torch.Tensor, problem: Batch | torch.Tensor, task: Task | None) -> Document:
    """What was asked for, and how far the outputs are from it."""
    if not isinstance(problem, Batch):
        return {"targets": None, "answer_steps": [], "cost_bits": None, "wrong_bits": None}
    batch = problem.to("cpu")
    cost = float(cost_in_bits(logits, batch))
    answers = {
        "targets": encoded(batch.targets[:, 0]),
        "answer_steps": batch.mask[:, 0].nonzero().flatten().tolist(),
        # JSON has no word for a cost that is not finite.
        "cost_bits": cost if math.isfinite(cost) else None,
        "wrong_bits": int(wrong_bits(logits, batch)),
    }
    optimal = None if task is None else task.optimal_probabilities(batch)
    if optimal is not None:
        answers["optimal"] = encoded(optimal[:, 0])
    return answers


def _labels(inputs: int, outputs: int, task: Task | None) -> dict[str, Sequence[str]]:
    if task is not None:
        return {"inputs": task.input_channels, "outputs": task.output_channels}
    return {
        "inputs": [f"input {number}" for number in range(1, inputs + 1)],
        "outputs": [f"output {number}" for number in range(1, outputs + 1)],
    }

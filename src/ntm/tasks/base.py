"""What every task shares: a batch of problems, the task that samples it, and its cost.

A task is a picture and a sampler. It knows nothing of networks: they see its inputs, and their
logits meet its targets in `cost_in_bits` and `wrong_bits`.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, NamedTuple, Self

import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits

from ntm.common.fields import check_fields, check_order, check_value
from ntm.tasks import drawing
from ntm.tasks.drawing import Row

MAX_BITS = 4096
"""The most bits of one vector: each is a channel with a name."""


class Batch(NamedTuple):
    """Problems of mixed lengths with their answers; time is the first axis, the batch the second.

    inputs:  (time, batch, input_size) float32; zero beyond each sequence's length
    targets: (time, batch, output_size) float32, 0 or 1; zero where not scored
    mask:    (time, batch) float32; 1 at the steps whose outputs are scored
    lengths: (batch,) int64; the steps of each sequence, problem and answer together
    """

    inputs: Tensor
    targets: Tensor
    mask: Tensor
    lengths: Tensor

    @property
    def batch_size(self) -> int:
        """How many sequences there are."""
        return len(self.lengths)

    def narrow(self, start: int, stop: int) -> "Batch":
        """Sequences start to stop - 1 as views, with the time cut to the longest of them."""
        if not 0 <= start < stop <= self.batch_size:
            raise ValueError(
                f"Sequences {start} to {stop} were asked of a batch of {self.batch_size}; "
                f"give 0 <= start < stop <= {self.batch_size}."
            )
        lengths = self.lengths[start:stop]
        time = int(lengths.max())
        return Batch(
            self.inputs[:time, start:stop],
            self.targets[:time, start:stop],
            self.mask[:time, start:stop],
            lengths,
        )

    def to(self, device: torch.device | str) -> "Batch":
        """The same batch on another device."""
        return Batch(*(tensor.to(device) for tensor in self))

    def __repr__(self) -> str:
        shapes = [f"{name}={tuple(t.shape)}" for name, t in self._asdict().items()]
        return f"Batch({', '.join(shapes)}, on {self.inputs.device})"


@dataclass(frozen=True, kw_only=True)
class Task(ABC):
    """A kind of problem: its encoding, its ranges and a sampler.

    A subclass is a frozen dataclass whose fields are its settings (see `ntm.tasks.setting` for
    what a field may declare; it is checked on construction). It names its channels, samples
    batches, and says how many steps it scores on average; the rest follows.
    """

    name: ClassVar[str]
    # What generalisation is measured along. `at(length=...)` fixes the field `length`, or the
    # fields `min_length` and `max_length`; `fields_at` may say otherwise.
    axes: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        check_fields(self)
        for axis in self.axes:
            low, high = f"min_{axis}", f"max_{axis}"
            if hasattr(self, low) and hasattr(self, high):
                check_order(low, getattr(self, low), high, getattr(self, high))

    @property
    @abstractmethod
    def input_channels(self) -> tuple[str, ...]:
        """The name of every input channel, in order."""

    @property
    @abstractmethod
    def output_channels(self) -> tuple[str, ...]:
        """The name of every output channel, in order."""

    @property
    @abstractmethod
    def mean_scored_steps(self) -> float:
        """The expected number of scored steps of a sequence."""

    @abstractmethod
    def draw(self, batch_size: int, generator: torch.Generator) -> Batch:
        """The sampler itself: what `sample` returns; the batch size has been checked."""

    def sample(self, batch_size: int, generator: torch.Generator) -> Batch:
        """Independent problems of this task, on the CPU; equal generators give equal problems."""
        check_value("batch_size", batch_size, int, {"at_least": 1})
        return self.draw(batch_size, generator)

    @property
    def input_size(self) -> int:
        """The number of input channels."""
        return len(self.input_channels)

    @property
    def output_size(self) -> int:
        """The number of output channels."""
        return len(self.output_channels)

    @property
    def chance_bits(self) -> float:
        """The expected cost of answering p = 1/2 everywhere: one bit per scored output."""
        return self.mean_scored_steps * self.output_size

    @property
    def optimum(self) -> float | None:
        """The mean cost of the best possible predictions; None where a perfect answer is free."""
        return None

    def optimal_probabilities(self, batch: Batch) -> Tensor | None:  # noqa: ARG002
        """The best possible predictions, (time, batch, output_size); None if none are known."""
        return None

    def optimal_bits(self, batch: Batch) -> Tensor | None:
        """The cost of the best possible predictions on these sequences, (batch,) bits; or None."""
        best = self.optimal_probabilities(batch)
        return None if best is None else cost_in_bits(torch.logit(best), batch)

    def trained_range(self, axis: str) -> tuple[int, int]:
        """The smallest and the largest size along an axis that the task samples."""
        if hasattr(self, axis):
            return getattr(self, axis), getattr(self, axis)
        return getattr(self, f"min_{axis}"), getattr(self, f"max_{axis}")

    def smallest(self, axis: str) -> int:
        """The smallest size along an axis that makes sense at all; 1 where no field says more."""
        self._require_axis(axis)
        names = (axis, f"min_{axis}")
        declared = (f.metadata.get("at_least", 1) for f in fields(self) if f.name in names)
        return int(next(declared, 1))

    @property
    def usual_sizes(self) -> dict[str, int]:
        """A size of medium difficulty along every axis."""
        return {axis: sum(self.trained_range(axis)) // 2 for axis in self.axes}

    def at(self, **axes: int) -> Self:
        """This task fixed at a value along each given axis, say `task.at(length=120)`.

        Encoding and normalisation stay as they are, so a network trained on this task
        understands the new one.
        """
        changes: dict[str, Any] = {}
        for axis, value in axes.items():
            self._require_axis(axis)
            check_value(axis, value, int, {"at_least": 1})
            changes |= self.fields_at(axis, value)
        return replace(self, **changes)

    def fields_at(self, axis: str, value: int) -> dict[str, Any]:
        """The settings that fix this task at the value along one of its axes."""
        if hasattr(self, axis):
            return {axis: value}
        return {f"min_{axis}": value, f"max_{axis}": value}

    def render(self, batch: Batch, index: int, logits: Tensor | None = None) -> str:
        """A text picture of one problem, its target and, given logits, the answer.

        logits: (time, batch, output_size), the outputs for the whole batch.
        """
        problem = batch.narrow(index, index + 1)
        if logits is None:
            return f"{self.title(problem)}\n{drawing.fold(self.picture(problem, None))}"
        check_logits(logits, batch)
        outputs = logits.detach()[: len(problem.inputs), index : index + 1]
        wrong = int(wrong_bits(outputs, problem))
        verdict = f"{wrong or 'no'} wrong bit{'' if wrong == 1 else 's'}"
        return f"{self.title(problem)}, {verdict}\n{drawing.fold(self.picture(problem, outputs))}"

    def title(self, problem: Batch) -> str:
        """The heading of a picture of this problem, a batch of one."""
        return f"{self.name}: {int(problem.lengths)} steps, {int(problem.mask.sum())} scored"

    def picture(self, problem: Batch, logits: Tensor | None) -> list[Row]:
        """The rows of a picture of this problem, a batch of one."""
        inputs, targets = (t[:, 0].T.tolist() for t in (problem.inputs, problem.targets))
        rows = drawing.channels("input", self.input_channels, inputs)
        answers = None if logits is None else logits[:, 0].T.tolist()
        scored = problem.mask[:, 0].tolist()
        return [*rows, *drawing.answers(self.output_channels, targets, scored, answers)]

    def _require_axis(self, axis: str) -> None:
        if axis not in self.axes:
            known = f"it has {' and '.join(self.axes)}" if self.axes else "it has none"
            raise ValueError(f"The {self.name} task has no axis {axis!r}; {known}.")


def bit_names(count: int) -> tuple[str, ...]:
    """Names for the channels of a binary vector: bit 1, bit 2, ..."""
    return tuple(f"bit {number}" for number in range(1, count + 1))


def cost_in_bits(logits: Tensor, batch: Batch) -> Tensor:
    """The cross-entropy of every sequence, summed over scored steps and channels: (batch,) bits.

    logits: (time, batch, output_size). Logits at unscored steps are ignored, even NaN; they get
    no gradient.
    """
    check_logits(logits, batch)
    mask = batch.mask.unsqueeze(-1)
    scored = logits.masked_fill(mask == 0, 0.0)
    targets = batch.targets.to(logits.dtype)
    nats = binary_cross_entropy_with_logits(scored, targets, reduction="none") * mask
    return nats.sum(dim=(0, 2)) / math.log(2)


def wrong_bits(logits: Tensor, batch: Batch) -> Tensor:
    """How many scored outputs of every sequence are on the wrong side of 1/2: (batch,) int64.

    logits: (time, batch, output_size). A positive logit means one, any other zero; NaN is always
    wrong.
    """
    check_logits(logits, batch)
    right = torch.where(batch.targets > 0.5, logits > 0, logits <= 0)
    return (~right & (batch.mask > 0).unsqueeze(-1)).sum(dim=(0, 2))


def check_logits(logits: Tensor, batch: Batch) -> None:
    """Refuse logits of another shape than the targets, which broadcasting might hide."""
    if logits.shape != batch.targets.shape:
        raise ValueError(
            f"The logits have shape {tuple(logits.shape)} and the targets "
            f"{tuple(batch.targets.shape)}; give one logit per target, (time, batch, output_size)."
        )


def check_batch(task: Task, batch: Batch) -> None:
    """Refuse a batch that breaks a promise of `Batch`, and name the promise.

    It is for authors of new tasks and for tests; samplers do not call it.
    """
    _check_shapes(task, batch)
    time = len(batch.inputs)
    beyond = torch.arange(time).unsqueeze(1) >= batch.lengths
    promises = {
        "the longest sequence fills the time axis": int(batch.lengths.max()) == time,
        "inputs are zero beyond each length": not batch.inputs[beyond].any(),
        "no step beyond a length is scored": not batch.mask[beyond].any(),
        "mask is 0 or 1": _is_binary(batch.mask),
        "targets are 0 or 1": _is_binary(batch.targets),
        "targets are zero where not scored": not batch.targets[batch.mask == 0].any(),
        "every sequence has a scored step": bool(batch.mask.any(dim=0).all()),
    }
    for promise, kept in promises.items():
        if not kept:
            raise ValueError(f"A batch of {task.name} breaks a promise: {promise}.")


def check_targets(task: Task, batch: Batch) -> None:
    """Refuse scored targets other than 0 and 1, for which the cost in bits has no meaning."""
    if _is_binary(batch.targets):
        return
    scored = batch.targets[batch.mask > 0]
    others = scored[(scored != 0) & (scored != 1)]
    if len(others):
        raise ValueError(
            f"The targets of {task.name} must be 0 or 1 where they are scored; got "
            f"{others[0].item():g}. Give each output as bits: soft targets cannot be trained on."
        )


def _check_shapes(task: Task, batch: Batch) -> None:
    time, size = len(batch.inputs), batch.batch_size
    wanted = {
        "inputs": ((time, size, task.input_size), torch.float32),
        "targets": ((time, size, task.output_size), torch.float32),
        "mask": ((time, size), torch.float32),
        "lengths": ((size,), torch.int64),
    }
    for name, (shape, dtype) in wanted.items():
        tensor = getattr(batch, name)
        if tensor.shape != shape or tensor.dtype != dtype:
            raise ValueError(
                f"A batch of {task.name} has {name} of shape {tuple(tensor.shape)} and type "
                f"{tensor.dtype}; they must be {shape} and {dtype}."
            )


def _is_binary(tensor: Tensor) -> bool:
    # x * x = x for 0 and 1 alone; NaN and infinity leave NaN. It is faster than two comparisons.
    return not (tensor.square() - tensor).any()

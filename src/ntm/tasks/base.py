"""Base of every task: a batch of problems, the task that samples the batch, and the cost.

A task knows nothing of networks. A network sees the inputs of a batch. `cost_in_bits` and
`wrong_bits` compare its logits with the targets.
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
"""Maximum number of bits per vector; each bit is a channel with a name."""


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
        """Number of sequences."""
        return len(self.lengths)

    def narrow(self, start: int, stop: int) -> "Batch":
        """Return sequences start to stop - 1 as views, with the time cut to the longest of them."""
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
        """Return the batch on another device."""
        return Batch(*(tensor.to(device) for tensor in self))

    def __repr__(self) -> str:
        shapes = [f"{name}={tuple(t.shape)}" for name, t in self._asdict().items()]
        return f"Batch({', '.join(shapes)}, on {self.inputs.device})"


@dataclass(frozen=True, kw_only=True)
class Task(ABC):
    """Kind of problem: its encoding, its ranges and a sampler.

    A subclass is a frozen dataclass whose fields are its settings. Each field declares its allowed
    values with `ntm.tasks.setting`; they are checked on construction. The subclass has a `name` and
    defines `input_channels`, `output_channels`, `mean_scored_steps` and `draw`.
    """

    name: ClassVar[str]
    # Axes along which generalisation is measured. `at(length=...)` fixes the field `length`, or
    # the fields `min_length` and `max_length`, unless a subclass overrides `fields_at`.
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
        """Names of the input channels, in order."""

    @property
    @abstractmethod
    def output_channels(self) -> tuple[str, ...]:
        """Names of the output channels, in order."""

    @property
    @abstractmethod
    def mean_scored_steps(self) -> float:
        """Expected number of scored steps per sequence."""

    @abstractmethod
    def draw(self, batch_size: int, generator: torch.Generator) -> Batch:
        """Sample a batch, without checking the batch size; `sample` calls this."""

    def sample(self, batch_size: int, generator: torch.Generator) -> Batch:
        """Return independent problems, on the CPU; equal generators give equal problems."""
        check_value("batch_size", batch_size, int, {"at_least": 1})
        return self.draw(batch_size, generator)

    @property
    def input_size(self) -> int:
        """Number of input channels."""
        return len(self.input_channels)

    @property
    def output_size(self) -> int:
        """Number of output channels."""
        return len(self.output_channels)

    @property
    def chance_bits(self) -> float:
        """Expected cost of answering p = 1/2 everywhere: one bit per scored output."""
        return self.mean_scored_steps * self.output_size

    @property
    def optimum(self) -> float | None:
        """Mean cost of the best possible predictions; None if a perfect answer costs nothing."""
        return None

    def optimal_probabilities(self, batch: Batch) -> Tensor | None:  # noqa: ARG002
        """Return the best possible predictions, (time, batch, output_size); None if unknown."""
        return None

    def optimal_bits(self, batch: Batch) -> Tensor | None:
        """Return the cost of the best possible predictions, (batch,) bits; None if unknown."""
        best = self.optimal_probabilities(batch)
        return None if best is None else cost_in_bits(torch.logit(best), batch)

    def trained_range(self, axis: str) -> tuple[int, int]:
        """Return the smallest and the largest size that the task samples along an axis."""
        if hasattr(self, axis):
            return getattr(self, axis), getattr(self, axis)
        return getattr(self, f"min_{axis}"), getattr(self, f"max_{axis}")

    def smallest(self, axis: str) -> int:
        """Return the smallest size along an axis that a field allows; 1 if no field has a bound."""
        self._require_axis(axis)
        names = (axis, f"min_{axis}")
        declared = (f.metadata.get("at_least", 1) for f in fields(self) if f.name in names)
        return int(next(declared, 1))

    @property
    def usual_sizes(self) -> dict[str, int]:
        """Size of medium difficulty along every axis."""
        return {axis: sum(self.trained_range(axis)) // 2 for axis in self.axes}

    def at(self, **axes: int) -> Self:
        """Return this task with a fixed size along each given axis: `task.at(length=120)`.

        Encoding and normalisation stay the same, so a network trained on this task understands
        the new one.
        """
        changes: dict[str, Any] = {}
        for axis, value in axes.items():
            self._require_axis(axis)
            check_value(axis, value, int, {"at_least": 1})
            changes |= self.fields_at(axis, value)
        return replace(self, **changes)

    def fields_at(self, axis: str, value: int) -> dict[str, Any]:
        """Return the settings that fix this task at a value along one of its axes."""
        if hasattr(self, axis):
            return {axis: value}
        return {f"min_{axis}": value, f"max_{axis}": value}

    def render(self, batch: Batch, index: int, logits: Tensor | None = None) -> str:
        """Return a text picture of one problem, its target and, given logits, the answer.

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
        """Return the heading of a picture of this problem, a batch of one."""
        return f"{self.name}: {int(problem.lengths)} steps, {int(problem.mask.sum())} scored"

    def picture(self, problem: Batch, logits: Tensor | None) -> list[Row]:
        """Return the rows of a picture of this problem, a batch of one."""
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
    """Return names for the channels of a binary vector: bit 1, bit 2, ..."""
    return tuple(f"bit {number}" for number in range(1, count + 1))


def cost_in_bits(logits: Tensor, batch: Batch) -> Tensor:
    """Return the cost per sequence in bits, (batch,): cross-entropy, summed over scored outputs.

    logits: (time, batch, output_size). Logits at unscored steps are ignored, even NaN, and get no
        gradient.
    """
    check_logits(logits, batch)
    mask = batch.mask.unsqueeze(-1)
    scored = logits.masked_fill(mask == 0, 0.0)
    targets = batch.targets.to(logits.dtype)
    nats = binary_cross_entropy_with_logits(scored, targets, reduction="none") * mask
    return nats.sum(dim=(0, 2)) / math.log(2)


def wrong_bits(logits: Tensor, batch: Batch) -> Tensor:
    """Return the number of wrong bits among the scored outputs of each sequence, (batch,) int64.

    logits: (time, batch, output_size). A positive logit means one, any other means zero. NaN is
        always wrong.
    """
    check_logits(logits, batch)
    right = torch.where(batch.targets > 0.5, logits > 0, logits <= 0)
    return (~right & (batch.mask > 0).unsqueeze(-1)).sum(dim=(0, 2))


def check_logits(logits: Tensor, batch: Batch) -> None:
    """Refuse logits whose shape differs from the targets; broadcasting might hide the mistake."""
    if logits.shape != batch.targets.shape:
        raise ValueError(
            f"The logits have shape {tuple(logits.shape)} and the targets "
            f"{tuple(batch.targets.shape)}; give one logit per target, (time, batch, output_size)."
        )


def check_batch(task: Task, batch: Batch) -> None:
    """Refuse a batch that breaks a promise of `Batch`, and name the promise.

    This is for authors of new tasks and for tests; samplers do not call it.
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
    """Refuse scored targets other than 0 and 1: the cost in bits has no meaning for them."""
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
    # x * x = x only for 0 and 1; NaN and infinity give NaN. This is faster than two comparisons.
    return not (tensor.square() - tensor).any()

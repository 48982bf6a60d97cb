"""Base of every task: a batch of problems, the task that samples the batch, and the cost.

A task knows nothing of networks. A network sees the inputs of a batch. `cost_in_bits` and
`wrong_bits` compare its logits with the targets.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, NamedTuple, Self

import torch
from torch import Tensor

from ntm.common.channels import ChannelKind
from ntm.common.fields import check_fields, check_order, check_value
from ntm.tasks import pictures
from ntm.tasks.outputs import OUTPUTS, Outputs
from ntm.tasks.pictures import Row
from ntm.tasks.problems import ProblemPart, Problems

MAX_BITS = 4096
"""Maximum number of bits per vector; each bit is a channel with a name."""


class Batch(NamedTuple):
    """Problems of mixed lengths with their answers; time is the first axis, the batch the second.

    inputs:  (time, batch, input_size) float32; zero beyond each sequence's length
    targets: (time, batch, output_size) float32, 0 or 1; zero where not scored
    mask:    (time, batch) float32; 1 at the steps whose outputs are scored
    lengths: (batch,) int64; the steps of each sequence, problem and answer together

    The targets are bits; a `SymbolBatch` has symbols as targets.
    """

    inputs: Tensor
    targets: Tensor
    mask: Tensor
    lengths: Tensor

    @property
    def output_kind(self) -> ChannelKind:
        """Kind of the targets: bits."""
        return "bits"

    @property
    def batch_size(self) -> int:
        """Number of sequences."""
        return len(self.lengths)

    def narrow(self, start: int, stop: int) -> "Batch":
        """Return views of the sequences `start` to `stop - 1`; time ends with the longest."""
        if not 0 <= start < stop <= self.batch_size:
            raise ValueError(
                f"Sequences {start} to {stop} were asked of a batch of {self.batch_size}; "
                f"give 0 <= start < stop <= {self.batch_size}."
            )
        lengths = self.lengths[start:stop]
        time = int(lengths.max())
        return type(self)(
            self.inputs[:time, start:stop],
            self.targets[:time, start:stop],
            self.mask[:time, start:stop],
            lengths,
        )

    def to(self, device: torch.device | str) -> "Batch":
        """Return the batch on another device."""
        return type(self)(*(tensor.to(device) for tensor in self))

    def __repr__(self) -> str:
        shapes = [f"{name}={tuple(t.shape)}" for name, t in self._asdict().items()]
        return f"{type(self).__name__}({', '.join(shapes)}, on {self.inputs.device})"


class SymbolBatch(Batch):
    """Batch whose targets are symbols: one channel is 1 at every scored step."""

    __slots__ = ()

    @property
    def output_kind(self) -> ChannelKind:
        """Kind of the targets: symbols."""
        return "symbols"


BATCHES: dict[ChannelKind, type[Batch]] = {"bits": Batch, "symbols": SymbolBatch}


@dataclass(frozen=True, kw_only=True)
class Task(ABC):
    """Kind of problem: its encoding, its ranges and a sampler.

    A subclass is a frozen dataclass whose fields are its settings. Each field declares its allowed
    values with `ntm.tasks.setting`; the constructor checks them. The subclass has a `name` and
    defines `input_channels`, `output_channels`, `mean_scored_steps` and either `draw` or, so that
    a person can draw its problems, `parts`, `pose`, `encode` and `longest`.
    """

    name: ClassVar[str]
    # Axes along which generalisation is measured. `at(length=...)` fixes the field `length`, or
    # the fields `min_length` and `max_length`, unless a subclass overrides `fields_at`.
    axes: ClassVar[tuple[str, ...]] = ()
    parts: ClassVar[tuple[ProblemPart, ...]] = ()

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

    def draw(self, batch_size: int, generator: torch.Generator) -> Batch:
        """Sample a batch; do not check the batch size: `sample` does this, then calls `draw`."""
        return self.encode(self.pose(batch_size, generator))

    def pose(self, batch_size: int, generator: torch.Generator) -> Problems:
        """Sample problems, before they are encoded; see `encode`."""
        raise NotImplementedError(f"The {self.name} task defines neither draw nor pose.")

    def encode(self, problems: Problems) -> Batch:
        """Encode problems and their answers as a batch of input and target sequences."""
        raise NotImplementedError(f"The {self.name} task does not define encode.")

    @property
    def longest(self) -> int:
        """Number of steps of the longest problem that the task samples."""
        raise NotImplementedError(f"The {self.name} task does not define longest.")

    def sample(self, batch_size: int, generator: torch.Generator) -> Batch:
        """Return independent problems, on the CPU; equal generators give equal problems."""
        check_value("batch_size", batch_size, int, {"at_least": 1})
        drawn = self.draw(batch_size, generator)
        return drawn if drawn.output_kind == self.output_kind else self.batch_type(*drawn)

    @property
    def input_kind(self) -> ChannelKind:
        """Kind of the inputs, for pictures: bits, or at most one symbol per step."""
        return "bits"

    @property
    def output_kind(self) -> ChannelKind:
        """Kind of the outputs, which decides the cost: bits, or one symbol per scored step."""
        return "bits"

    @property
    def outputs(self) -> Outputs:
        """Cost and probabilities of the task's kind of outputs."""
        return OUTPUTS[self.output_kind]

    @property
    def batch_type(self) -> type[Batch]:
        """Type of the task's batches."""
        return BATCHES[self.output_kind]

    @property
    def label(self) -> str:
        """Name for folders of runs."""
        return self.name

    @property
    def problems(self) -> int | None:
        """Number of problems (None: unlimited)."""
        return None

    def take(self, numbers: Sequence[int]) -> Batch:
        """Return the problems with these numbers, counted from 0; for tasks with `problems`."""
        raise NotImplementedError(f"The problems of {self.name} have no numbers.")

    @property
    def for_validation(self) -> "Task":
        """Task to validate and evaluate on: this task, unless its problems come from a file."""
        return self

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
        """Expected cost of equal probabilities: for bits, one bit per scored output."""
        return self.mean_scored_steps * self.outputs.chance_bits(self.output_size)

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
        return None if best is None else cost_in_bits(self.outputs.logits(best), batch)

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
        """Medium size along every axis: the middle of the trained range."""
        return {axis: sum(self.trained_range(axis)) // 2 for axis in self.axes}

    def part_along(self, axis: str) -> ProblemPart | None:
        """Return a part of the problem with one entry per step along an axis; None if none has."""
        fitting = (p for p in self.parts if p.axes[:1] == (axis,) and p.kind != "choice")
        return next(fitting, None)

    def at(self, **axes: int) -> Self:
        """Return this task with a fixed size along each given axis: `task.at(length=120)`.

        Encoding and normalisation stay the same, so a network trained on this task understands
        the new task.
        """
        changes: dict[str, Any] = {}
        for axis, value in axes.items():
            self._require_axis(axis)
            check_value(axis, value, int, {"at_least": 1})
            changes |= self.fields_at(axis, value)
        return replace(self, **changes)

    def up_to(self, **axes: int) -> Self:
        """Return this task with another largest size along each given axis: `task.up_to(length=3)`.

        As with `at`, encoding and normalisation stay the same.
        """
        lows = {
            low: min(getattr(self, low), size)
            for axis, size in axes.items()
            if hasattr(self, low := f"min_{axis}")
        }
        return replace(self.at(**axes), **lows)

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
            return f"{self.title(problem)}\n{pictures.fold(self.picture(problem, None))}"
        check_logits(logits, batch)
        outputs = logits.detach()[: len(problem.inputs), index : index + 1]
        wrong = int(wrong_bits(outputs, problem))
        verdict = mistakes(wrong, self.output_kind)
        return f"{self.title(problem)}, {verdict}\n{pictures.fold(self.picture(problem, outputs))}"

    def title(self, problem: Batch) -> str:
        """Return the heading of a picture of this problem, a batch of one."""
        return f"{self.name}: {int(problem.lengths)} steps, {int(problem.mask.sum())} scored"

    def picture(self, problem: Batch, logits: Tensor | None) -> list[Row]:
        """Return the rows of a picture of this problem, a batch of one."""
        inputs, targets = (t[:, 0].T.tolist() for t in (problem.inputs, problem.targets))
        answers = None if logits is None else logits[:, 0].T.tolist()
        scored = problem.mask[:, 0].tolist()
        rows = pictures.INPUTS[self.input_kind]("input", self.input_channels, inputs)
        draw_answers = pictures.ANSWERS[self.output_kind]
        return [*rows, *draw_answers(self.output_channels, targets, scored, answers)]

    def _require_axis(self, axis: str) -> None:
        if axis not in self.axes:
            known = f"it has {' and '.join(self.axes)}" if self.axes else "it has none"
            raise ValueError(f"The {self.name} task has no axis {axis!r}; {known}.")


def bit_names(count: int) -> tuple[str, ...]:
    """Return names for the channels of a binary vector: bit 1, bit 2, ..."""
    return tuple(f"bit {number}" for number in range(1, count + 1))


def cost_in_bits(logits: Tensor, batch: Batch) -> Tensor:
    """Return the cost per sequence in bits, (batch,): cross-entropy, summed over scored steps.

    logits: (time, batch, output_size). Logits at unscored steps are ignored, even NaN, and get no
        gradient.
    """
    check_logits(logits, batch)
    mask = batch.mask.unsqueeze(-1)
    scored = logits.masked_fill(mask == 0, 0.0)
    targets = batch.targets.to(logits.dtype)
    nats = OUTPUTS[batch.output_kind].nats(scored, targets) * mask
    return nats.sum(dim=(0, 2)) / math.log(2)


def wrong_bits(logits: Tensor, batch: Batch) -> Tensor:
    """Return the number of wrong bits or symbols at the scored steps of each sequence, (batch,).

    logits: (time, batch, output_size). NaN is always wrong.
        bits: a positive logit means one, any other means zero.
        symbols: the largest logit is the answer.
    """
    check_logits(logits, batch)
    right = OUTPUTS[batch.output_kind].right(logits, batch.targets)
    return (~right & (batch.mask > 0).unsqueeze(-1)).sum(dim=(0, 2))


def mistakes(wrong: int, kind: ChannelKind) -> str:
    """Return the number of mistakes in words, such as "no wrong bits"."""
    return f"{wrong or 'no'} wrong {OUTPUTS[kind].unit}{'' if wrong == 1 else 's'}"


def check_logits(logits: Tensor, batch: Batch) -> None:
    """Raise ValueError if logits and targets differ in shape; broadcasting might hide this."""
    if logits.shape != batch.targets.shape:
        raise ValueError(
            f"The logits have shape {tuple(logits.shape)} and the targets "
            f"{tuple(batch.targets.shape)}; give one logit per target, (time, batch, output_size)."
        )

"""Repeat copy (section 4.2): see a sequence and a number, output the sequence that many times."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor

from ntm.common.fields import check_order, setting
from ntm.tasks import sampling
from ntm.tasks.base import MAX_BITS, Batch, Task, bit_names
from ntm.tasks.problems import ProblemPart, Problems


@dataclass(frozen=True, kw_only=True)
class RepeatCopy(Task):
    """Repeat a sequence of random binary vectors a given number of times, then mark the end.

    Two vectors of three bits, three times; x is the normalised repeat number:

        input    bit 1      # . . . . . . . . .
                 bit 2      . # . . . . . . . .
                 bit 3      # # . . . . . . . .
                 delimiter  . . # . . . . . . .
                 repeats    . . x . . . . . . .

        target   bit 1            # . # . # . .
                 bit 2            . # . # . # .
                 bit 3            # # # # # # .
                 marker           . . . . . . #

    The repeat number is shifted and scaled to mean zero and variance one over the sampled repeats,
    or over `scale_min_repeats` to `scale_max_repeats` if these are given. A network must be
    evaluated with the same scale as in training. `task.at(repeats=20)` keeps the scale.

    With `delimiter="start"`, the flag comes on a separate step before the first vector, and only
    the repeat number marks the end of the sequence.
    """

    name: ClassVar[str] = "repeat-copy"
    axes: ClassVar[tuple[str, ...]] = ("length", "repeats")
    parts: ClassVar[tuple[ProblemPart, ...]] = (ProblemPart("vectors", ("length", "bits")),)

    bits: int = setting(6, "bits of one vector", at_least=1, at_most=MAX_BITS)
    min_length: int = setting(1, "vectors in the shortest sequence", at_least=1)
    max_length: int = setting(10, "vectors in the longest sequence", at_least=1)
    min_repeats: int = setting(1, "smallest number of repeats", at_least=1)
    max_repeats: int = setting(10, "largest number of repeats", at_least=1)
    scale_min_repeats: int | None = setting(
        None,
        "smallest number of repeats for the scale of the input (none: min_repeats)",
        at_least=1,
    )
    scale_max_repeats: int | None = setting(
        None,
        "largest number of repeats for the scale of the input (none: max_repeats)",
        at_least=1,
    )
    delimiter: str = setting(
        "end",
        "position of the delimiter: end (with the repeat number) or start (before the sequence)",
        choices=("end", "start"),
    )
    structured: float = sampling.structured_setting()

    def __post_init__(self) -> None:
        super().__post_init__()
        low, high = self.scale_range
        check_order("scale_min_repeats", low, "scale_max_repeats", high)
        if self.delimiter == "start" and (low + high) % 2 == 0:
            raise ValueError(
                f"delimiter is 'start' and repeats are normalised over {low} to {high}, so "
                f"{(low + high) // 2} repeats would be the number zero and the network could not "
                f"see where the sequence ends; give a range with an even count of repeats."
            )

    @property
    def scale_range(self) -> tuple[int, int]:
        """Smallest and largest repeat number of the range that sets the scale of repeat numbers."""
        low, high = self.scale_min_repeats, self.scale_max_repeats
        return (
            self.min_repeats if low is None else low,
            self.max_repeats if high is None else high,
        )

    @property
    def scale(self) -> tuple[float, float]:
        """Mean and standard deviation of the repeat number over `scale_range`."""
        low, high = self.scale_range
        # n successive integers have the variance (n^2 - 1) / 12. For n = 1, divide by 1, not 0.
        deviation = math.sqrt(((high - low + 1) ** 2 - 1) / 12) or 1.0
        return (low + high) / 2, deviation

    def normalised(self, repeats: Tensor) -> Tensor:
        """Return repeat numbers as the network sees them: mean 0, variance 1 over `scale_range`."""
        mean, deviation = self.scale
        return (repeats - mean) / deviation

    @property
    def input_channels(self) -> tuple[str, ...]:
        """The bits, the delimiter and the normalised repeat number."""
        return (*bit_names(self.bits), "delimiter", "repeats")

    @property
    def output_channels(self) -> tuple[str, ...]:
        """The bits and the end marker."""
        return (*bit_names(self.bits), "marker")

    @property
    def mean_scored_steps(self) -> float:
        """Mean length times mean repeats, which are independent, plus one step for the marker."""
        mean_length = (self.min_length + self.max_length) / 2
        mean_repeats = (self.min_repeats + self.max_repeats) / 2
        return mean_length * mean_repeats + 1

    def fields_at(self, axis: str, value: int) -> dict[str, Any]:
        """Return the settings as the base class does, with the same scale of the repeat number."""
        low, high = self.scale_range
        scale = {"scale_min_repeats": low, "scale_max_repeats": high}
        return super().fields_at(axis, value) | scale

    @property
    def longest(self) -> int:
        """Number of steps: delimiter, vectors, repeat number, answer, marker."""
        answer = self.max_length * self.max_repeats
        return int(self.delimiter == "start") + self.max_length + 1 + answer + 1

    def pose(self, batch_size: int, generator: torch.Generator) -> Problems:
        """Sample vectors and repeat numbers."""
        counts = sampling.random_integers(self.min_length, self.max_length, batch_size, generator)
        repeats = sampling.random_integers(
            self.min_repeats, self.max_repeats, batch_size, generator
        )
        vectors = sampling.random_sequences(counts, self.bits, generator, self.structured)
        return Problems({"length": counts, "repeats": repeats}, {"vectors": vectors})

    def encode(self, problems: Problems) -> Batch:
        """Return a batch: vectors, repeat number, answer, end marker."""
        counts, repeats = (problems.sizes[axis] for axis in self.axes)
        vectors = problems.parts["vectors"]
        first = int(self.delimiter == "start")
        number = first + counts
        answer = number + 1
        marker = answer + counts * repeats
        lengths = marker + 1
        time, batch_size = int(lengths.max()), len(counts)

        inputs = torch.zeros(time, batch_size, self.input_size)
        inputs[first : first + len(vectors), :, : self.bits] = vectors
        sampling.put(inputs, number if self.delimiter == "end" else 0, self.bits)
        sampling.put(inputs, number, self.bits + 1, self.normalised(repeats))

        # The parts of the answer: the vectors and, as a last step, the marker.
        said = torch.zeros(len(vectors) + 1, batch_size, self.output_size)
        said[:-1, :, : self.bits] = vectors
        said[-1, :, self.bits] = 1.0
        mask = sampling.between(answer, lengths)
        position = (sampling.time_steps(time) - answer).remainder_(counts)
        position[marker, torch.arange(batch_size)] = len(vectors)
        targets = sampling.take_steps(said, position.masked_fill_(mask == 0, -1))
        return Batch(inputs, targets, mask, lengths)

    def title(self, problem: Batch) -> str:
        """Return a heading with the number of repeats, which the picture shows only as a bar."""
        mean, deviation = self.scale
        number = float(problem.inputs[..., self.bits + 1].sum())
        repeats = round(number * deviation + mean)
        length = (int(problem.mask.sum()) - 1) // repeats
        return f"{self.name}: {length} vectors, {repeats} times"

"""Copy (section 4.1): see a sequence of random vectors, then output the sequence."""

from dataclasses import dataclass
from typing import ClassVar

import torch

from ntm.common.fields import setting
from ntm.tasks import sampling
from ntm.tasks.base import MAX_BITS, Batch, Task, bit_names
from ntm.tasks.problems import ProblemPart, Problems


@dataclass(frozen=True, kw_only=True)
class Copy(Task):
    """Repeat a sequence of random binary vectors after its end.

    Three vectors of four bits; time runs to the right, blank steps are not scored:

        input    bit 1   # . # . . . .
                 bit 2   . # # . . . .
                 bit 3   # # . . . . .
                 bit 4   . . # . . . .
                 end     . . . # . . .

        target   bit 1           # . #
                 bit 2           . # #
                 bit 3           # # .
                 bit 4           . . #

    `start_delimiter` adds a step before the first vector, with a flag on an additional channel.
    `end_marker` adds a step to the answer, on which an additional channel is one and the bits are
    zero. Both together give the 10 inputs and 9 outputs that the paper's parameter counts imply.
    Without them, the task is as the paper's text describes.
    """

    name: ClassVar[str] = "copy"
    axes: ClassVar[tuple[str, ...]] = ("length",)
    parts: ClassVar[tuple[ProblemPart, ...]] = (ProblemPart("vectors", ("length", "bits")),)

    bits: int = setting(8, "bits of one vector", at_least=1, at_most=MAX_BITS)
    min_length: int = setting(1, "vectors in the shortest sequence", at_least=1)
    max_length: int = setting(20, "vectors in the longest sequence", at_least=1)
    start_delimiter: bool = setting(False, "whether a flag marks the start of the sequence")
    end_marker: bool = setting(False, "whether the answer must end with a marker")
    structured: float = sampling.structured_setting()

    @property
    def input_channels(self) -> tuple[str, ...]:
        """The bits, the end delimiter and, if there is one, the start delimiter."""
        return (*bit_names(self.bits), "end", *(["start"] if self.start_delimiter else []))

    @property
    def output_channels(self) -> tuple[str, ...]:
        """The bits and, if there is one, the end marker."""
        return (*bit_names(self.bits), *(["marker"] if self.end_marker else []))

    @property
    def mean_scored_steps(self) -> float:
        """Mean length, plus one step for the marker."""
        return (self.min_length + self.max_length) / 2 + self.end_marker

    @property
    def longest(self) -> int:
        """Number of steps: delimiters, vectors, repeated vectors, marker."""
        return self.start_delimiter + 2 * self.max_length + 1 + self.end_marker

    def pose(self, batch_size: int, generator: torch.Generator) -> Problems:
        """Sample vectors."""
        counts = sampling.random_integers(self.min_length, self.max_length, batch_size, generator)
        vectors = sampling.random_sequences(counts, self.bits, generator, self.structured)
        return Problems({"length": counts}, {"vectors": vectors})

    def encode(self, problems: Problems) -> Batch:
        """Return a batch: start delimiter, vectors, end delimiter, answer."""
        counts, vectors = problems.sizes["length"], problems.parts["vectors"]
        first = int(self.start_delimiter)
        delimiter = first + counts
        answer = delimiter + 1
        lengths = answer + counts + int(self.end_marker)
        time, batch_size = int(lengths.max()), len(counts)

        inputs = torch.zeros(time, batch_size, self.input_size)
        inputs[first : first + len(vectors), :, : self.bits] = vectors
        sampling.put(inputs, delimiter, self.bits)
        if self.start_delimiter:
            sampling.put(inputs, 0, self.bits + 1)

        said = torch.zeros(len(vectors) + 1, batch_size, self.output_size)
        said[:-1, :, : self.bits] = vectors
        if self.end_marker:
            sampling.put(said, counts, self.bits)
        targets = sampling.take_steps(said, sampling.time_steps(time) - answer)
        return Batch(inputs, targets, sampling.between(answer, lengths), lengths)

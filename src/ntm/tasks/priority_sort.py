"""Priority sort (section 4.5): see vectors with priorities, output them, highest first."""

from dataclasses import dataclass
from typing import Any, ClassVar

import torch

from ntm.common.fields import setting
from ntm.tasks.base import MAX_BITS, Batch, Task, bit_names
from ntm.tasks.problems import ProblemPart, Problems
from ntm.tasks.sampling import random_bits, take_steps


@dataclass(frozen=True, kw_only=True)
class PrioritySort(Task):
    """Output the binary vectors with the highest priorities, highest first.

    Four vectors of three bits. The two vectors with the highest priorities are the answer:

        input    bit 1      #    .    #    .    .   .   .
                 bit 2      .    #    #    .    .   .   .
                 bit 3      .    #    .    #    .   .   .
                 priority   .3   -.8  .9   -.1  .   .   .
                 delimiter  .    .    .    .    #   .   .

        target   bit 1                              #   #
                 bit 2                              #   .
                 bit 3                              .   .

    Priorities are uniform between -1 and 1. Of two equal priorities, the earlier comes first. The
    bits of a vector stay together.
    """

    name: ClassVar[str] = "priority-sort"
    axes: ClassVar[tuple[str, ...]] = ("length",)
    parts: ClassVar[tuple[ProblemPart, ...]] = (
        ProblemPart("vectors", ("length", "bits")),
        ProblemPart("priorities", ("length",), "numbers"),
    )

    bits: int = setting(8, "bits of one vector", at_least=1, at_most=MAX_BITS)
    length: int = setting(20, "vectors in the input", at_least=1)
    answers: int = setting(16, "vectors in the answer, with the highest priorities", at_least=1)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.answers > self.length:
            raise ValueError(
                f"answers is {self.answers} and length is {self.length}; "
                f"give at most as many answers as there are vectors."
            )

    @property
    def input_channels(self) -> tuple[str, ...]:
        """The bits, the priority and the delimiter."""
        return (*bit_names(self.bits), "priority", "delimiter")

    @property
    def output_channels(self) -> tuple[str, ...]:
        """The bits."""
        return bit_names(self.bits)

    @property
    def mean_scored_steps(self) -> float:
        """Number of answers, one step each."""
        return self.answers

    def fields_at(self, axis: str, value: int) -> dict[str, Any]:
        """Return the settings: the number of answers grows with the length (16 of 20, 32 of 40)."""
        share = round(value * self.answers / self.length)
        return {axis: value, "answers": max(share, 1)}

    @property
    def longest(self) -> int:
        """Number of steps: vectors, delimiter, answers."""
        return self.length + 1 + self.answers

    def pose(self, batch_size: int, generator: torch.Generator) -> Problems:
        """Sample vectors and priorities."""
        vectors = random_bits(self.length, batch_size, self.bits, generator=generator)
        priorities = torch.rand(self.length, batch_size, generator=generator) * 2 - 1
        length = torch.full((batch_size,), self.length)
        return Problems({"length": length}, {"vectors": vectors, "priorities": priorities})

    def encode(self, problems: Problems) -> Batch:
        """Return a batch: vectors with their priorities, delimiter, answers."""
        vectors, priorities = problems.parts.values()
        order = priorities.argsort(dim=0, descending=True, stable=True)
        time, batch_size = self.longest, vectors.shape[1]

        inputs = torch.zeros(time, batch_size, self.input_size)
        inputs[: self.length, :, : self.bits] = vectors
        inputs[: self.length, :, self.bits] = priorities
        inputs[self.length, :, self.bits + 1] = 1.0

        targets = torch.zeros(time, batch_size, self.output_size)
        targets[-self.answers :] = take_steps(vectors, order[: self.answers])
        mask = torch.zeros(time, batch_size)
        mask[-self.answers :] = 1.0
        return Batch(inputs, targets, mask, torch.full((batch_size,), time))

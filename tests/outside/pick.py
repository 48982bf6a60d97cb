"""A task from outside the package, in one file, whose problems a person can draw."""

from dataclasses import dataclass
from typing import ClassVar

import torch

from ntm.tasks import (
    Batch,
    ProblemPart,
    Problems,
    Task,
    bit_names,
    random_bits,
    random_integers,
    register,
    setting,
)


@register
@dataclass(frozen=True, kw_only=True)
class Pick(Task):
    """See signals of some volume, the index of one of them, and say that one several times."""

    name: ClassVar[str] = "pick"
    axes: ClassVar[tuple[str, ...]] = ("depth", "echoes")
    parts: ClassVar[tuple[ProblemPart, ...]] = (
        ProblemPart("signals", ("depth", "width")),
        ProblemPart("volumes", ("depth",), "numbers"),
        ProblemPart("asked", ("depth",), "choice"),
    )

    width: int = setting(3, "bits of one signal", at_least=1)
    depth: int = setting(4, "signals", at_least=2)
    echoes: int = setting(2, "times the signal is said", at_least=1)

    @property
    def input_channels(self) -> tuple[str, ...]:
        return (*bit_names(self.width), "volume", "asked")

    @property
    def output_channels(self) -> tuple[str, ...]:
        return bit_names(self.width)

    @property
    def mean_scored_steps(self) -> float:
        return float(self.echoes)

    @property
    def longest(self) -> int:
        return self.depth + 1 + self.echoes

    def pose(self, batch_size: int, generator: torch.Generator) -> Problems:
        sizes = {axis: torch.full((batch_size,), getattr(self, axis)) for axis in self.axes}
        signals = random_bits(self.depth, batch_size, self.width, generator=generator)
        volumes = torch.rand(self.depth, batch_size, generator=generator)
        asked = random_integers(0, self.depth - 2, batch_size, generator)
        return Problems(sizes, {"signals": signals, "volumes": volumes, "asked": asked})

    def encode(self, problems: Problems) -> Batch:
        signals, volumes, asked = problems.parts.values()
        batch_size = len(asked)
        inputs = torch.zeros(self.longest, batch_size, self.input_size)
        inputs[: self.depth, :, : self.width] = signals
        inputs[: self.depth, :, self.width] = volumes
        inputs[self.depth, :, -1] = asked / self.depth
        targets = torch.zeros(self.longest, batch_size, self.width)
        targets[-self.echoes :] = signals[asked, torch.arange(batch_size)]
        mask = torch.zeros(self.longest, batch_size)
        mask[-self.echoes :] = 1
        return Batch(inputs, targets, mask, torch.full((batch_size,), self.longest))

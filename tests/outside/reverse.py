"""A task from outside the package, with an experiment of its own."""

from dataclasses import dataclass
from typing import ClassVar

import torch

from ntm.paper import Experiment, Plan, register_experiment
from ntm.tasks import Batch, Task, bit_names, random_bits, register, setting


@register
@dataclass(frozen=True, kw_only=True)
class Reverse(Task):
    """Say a sequence of random binary vectors backwards."""

    name: ClassVar[str] = "reverse"
    axes: ClassVar[tuple[str, ...]] = ("length",)

    bits: int = setting(2, "bits of one vector", at_least=1)
    length: int = setting(3, "vectors of a sequence", at_least=1)

    @property
    def input_channels(self) -> tuple[str, ...]:
        return (*bit_names(self.bits), "end")

    @property
    def output_channels(self) -> tuple[str, ...]:
        return bit_names(self.bits)

    @property
    def mean_scored_steps(self) -> float:
        return float(self.length)

    def draw(self, batch_size: int, generator: torch.Generator) -> Batch:
        heard = random_bits(self.length, batch_size, self.bits, generator=generator)
        steps = 2 * self.length + 1
        inputs = torch.zeros(steps, batch_size, self.input_size)
        targets = torch.zeros(steps, batch_size, self.bits)
        inputs[: self.length, :, : self.bits] = heard
        inputs[self.length, :, -1] = 1
        targets[-self.length :] = heard.flip(0)
        mask = torch.zeros(steps, batch_size)
        mask[-self.length :] = 1
        return Batch(inputs, targets, mask, torch.full((batch_size,), steps))


register_experiment(
    Experiment(
        task="reverse",
        title="Backwards",
        cases=({}, {"length": 5}),
        networks={
            "ntm-ff": Plan(
                {"controller_size": 6, "memory_locations": 8, "memory_width": 4},
                tuned={"training": {"sequences": 40, "report_every": 20, "validate_every": 20}},
                quick=40,
            )
        },
    )
)

"""Measured networks: training steps of the paper's ten NTMs, with our task encodings."""

from dataclasses import dataclass
from typing import NamedTuple, cast

import torch

from ntm.bench.flops import training_flops
from ntm.config import NTMConfig
from ntm.engine import EngineName
from ntm.layer import NTM
from ntm.models import family
from ntm.paper import paper_settings, paper_tables
from ntm.runs import Stream
from ntm.tasks import Batch
from ntm.training import GravesRMSprop, Step, TorchStep
from ntm.training.step import make_step

_SEED = 1


class PaperNTM(NamedTuple):
    """One of the paper's NTMs."""

    task: str
    model: str

    def __str__(self) -> str:
        return f"{self.task} {self.model}"

    @property
    def config(self) -> NTMConfig:
        """Sizes of the network."""
        return cast(NTMConfig, paper_settings(self.task, self.model).model)

    def block(self, batch_size: int) -> Batch:
        """Return the first block of training data: at least 256 sequences, in whole batches."""
        return Stream(paper_settings(self.task, self.model).task, _SEED, batch_size).block(0)


PAPER = tuple(
    PaperNTM(row.task, row.model) for row in paper_tables() if family(row.model).has_memory
)
COPY = tuple(network for network in PAPER if network.task == PAPER[0].task)
"""Networks of copy, the smallest task, with either controller."""


def native_step(config: NTMConfig) -> Step:
    """Return a training step as in `ntm train`: the native engine, without autograd."""
    net = fresh(config, "native")
    return make_step(net, optimiser_of(net))


def reference_step(config: NTMConfig) -> Step:
    """Return the same training step in plain PyTorch."""
    net = fresh(config, "reference")
    return TorchStep(net, optimiser_of(net))


def fresh(config: NTMConfig, engine: EngineName) -> NTM:
    """Return a network whose initial weights are the same for every engine."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(_SEED)
        return NTM.from_config(config, engine=engine)


def optimiser_of(net: NTM) -> GravesRMSprop:
    """Return the paper's optimiser with its state allocated."""
    optimiser = GravesRMSprop(net.parameters())
    optimiser.ensure_state()
    return optimiser


def random_batch(config: NTMConfig, lengths: tuple[int, ...]) -> Batch:
    """Return sequences of these lengths with random inputs and targets; every step is scored."""
    steps = max(lengths)
    generator = torch.Generator().manual_seed(_SEED)
    active = (torch.arange(steps).unsqueeze(1) < torch.tensor(lengths)).float()

    def bits(channels: int) -> torch.Tensor:
        drawn = torch.randint(2, (steps, len(lengths), channels), generator=generator)
        return drawn.float() * active.unsqueeze(2)

    return Batch(bits(config.input_size), bits(config.output_size), active, torch.tensor(lengths))


@dataclass(frozen=True)
class TimedTraining:
    """Timed work: in round k, train on the k-th portion of a block, batch by batch."""

    config: NTMConfig
    step: Step
    block: Batch
    batch_size: int
    portion: int = 1
    """Number of batches per round."""

    def __call__(self, number: int) -> None:
        """Train on the portion of this round."""
        for start in self._starts(number):
            self.step(self.block, start, start + self.batch_size)

    def flops(self, number: int) -> int:
        """Return the operations that the portion of this round needs."""
        parts = [self.block.narrow(at, at + self.batch_size) for at in self._starts(number)]
        return sum(training_flops(self.config, batch) for batch in parts)

    def _starts(self, number: int) -> list[int]:
        batches = self.block.batch_size // self.batch_size
        first = number * self.portion
        return [i % batches * self.batch_size for i in range(first, first + self.portion)]

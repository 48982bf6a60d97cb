"""Measured networks: training steps of the paper's ten NTMs, with our task encodings."""

from dataclasses import dataclass
from typing import NamedTuple, cast

import torch

from ntm.config import NTMConfig
from ntm.engine import EngineName
from ntm.layer import NTM
from ntm.models import family_of
from ntm.paper import paper_settings, paper_tables
from ntm.runs import Stream
from ntm.tasks import Batch
from ntm.training import GravesRMSprop, Step, TorchStep

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
    PaperNTM(row.task, row.model) for row in paper_tables() if isinstance(row.config, NTMConfig)
)
COPY = tuple(network for network in PAPER if network.task == PAPER[0].task)
"""Networks of copy, the smallest task, with either controller."""


def native_step(config: NTMConfig) -> Step:
    """Return a training step as in `ntm train`: the native engine, without autograd."""
    net = fresh(config, "native")
    return family_of(net).step(net, optimiser_of(net))


def reference_step(config: NTMConfig) -> Step:
    """Return a training step of the reference engine, the counterpart of `native_step`."""
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
    """Training to be timed. Round k trains on the k-th part of a block, batch by batch."""

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

    def batches(self, number: int) -> list[Batch]:
        """Return the batches of this round."""
        return [self.block.narrow(at, at + self.batch_size) for at in self._starts(number)]

    def _starts(self, number: int) -> list[int]:
        count = self.block.batch_size // self.batch_size
        first = number * self.portion
        return [i % count * self.batch_size for i in range(first, first + self.portion)]


Workload = tuple[PaperNTM, int]
"""A network and a batch size."""


@dataclass(frozen=True)
class BenchEffort:
    """Amount of measurement. With the defaults, a benchmark takes minutes."""

    rounds: int = 9
    slice_seconds: float = 0.02
    """Seconds per slice of a fast contestant. The reference engine takes longer."""
    portion: int = 4
    """Number of batches per round at batch size 1. A round with larger batches has one batch."""
    speedups: tuple[Workload, ...] = tuple((net, size) for net in PAPER for size in (1, 16, 64))
    threads: tuple[Workload, ...] = tuple((net, 16) for net in PAPER)
    layers: tuple[Workload, ...] = tuple((net, size) for net in COPY for size in (1, 16, 64, 256))
    layer_steps: tuple[int, ...] = (42, 400)
    """Lengths, in steps, of the sequences that go through the layer."""


QUICK = BenchEffort(
    rounds=5,
    slice_seconds=0.005,
    portion=1,
    speedups=(*((net, 1) for net in PAPER), (COPY[0], 16), (COPY[0], 64)),
    layer_steps=(42,),
)


@dataclass(frozen=True)
class NetworkRow:
    """Row about a training step of one network."""

    task: str
    model: str
    batch_size: int

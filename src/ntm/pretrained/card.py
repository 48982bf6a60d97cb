"""What a network can do: its costs within the range it was trained on and beyond it."""

from typing import Any, NamedTuple

from ntm.evaluation import enlarged, evaluate
from ntm.models import Model
from ntm.paper import experiment_of
from ntm.paper.experiment import AbilityCase
from ntm.tasks import Task

# The fresh sequences that a published cost is the mean of.
SEQUENCES, SEED = 1000, 1_000_003


class Ability(NamedTuple):
    """What a network does with some problems of its task."""

    at: dict[str, int]
    """Where the problems are fixed, such as {"length": 120}; nothing is the trained range."""
    memory_locations: int
    """The size of the memory, which may have grown since training."""
    sequences: int
    """How many problems were measured."""
    bits: float
    """Mean cost per sequence; above the optimum where that is known."""
    perfect: float
    """The share of them without a wrong bit."""


def measure(net: Model, task: Task) -> list[Ability]:
    """What a network can do, within and beyond the range of its task."""
    cases = (AbilityCase(sequences=SEQUENCES), *experiment_of(task.name).abilities)
    return [_ability(net, task, case) for case in cases]


def _ability(trained: Model, task: Task, case: AbilityCase) -> Ability:
    net: Any = enlarged(trained, case.memory_locations)
    found = evaluate(net, task.at(**case.at), case.sequences, SEED, batch_size=20)
    above = found.bits_above_optimal
    bits = found.mean_bits if above is None else above
    locations = net.config.memory_locations
    return Ability(dict(case.at), locations, case.sequences, bits, found.perfect)

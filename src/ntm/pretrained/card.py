"""What a network can do: its costs within the range it was trained on and beyond it."""

from typing import Any, NamedTuple

from ntm.evaluation import evaluate
from ntm.layer import NTM
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
    """Mean cost per sequence; for n-grams, above the optimum."""
    perfect: float
    """The share of them without a wrong bit."""


class _Case(NamedTuple):
    at: dict[str, int]
    memory_locations: int | None = None
    sequences: int = 200


CASES: dict[str, tuple[_Case, ...]] = {
    "copy": (_Case({"length": 120}), _Case({"length": 1000}, 1024, 20)),
    "repeat-copy": (
        _Case({"length": 20, "repeats": 10}),
        _Case({"length": 20, "repeats": 10}, 256),
    ),
    "associative-recall": (_Case({"items": 15}), _Case({"items": 20})),
    "ngrams": (_Case({}, 256),),
}
"""What is measured beside the trained range, for each task."""


def measure(net: NTM, task: Task) -> list[Ability]:
    """What a network can do, within and beyond the range of its task."""
    cases = (_Case({}, sequences=SEQUENCES), *CASES.get(task.name, ()))
    return [_ability(net, task, case) for case in cases]


def _ability(net: NTM, task: Task, case: _Case) -> Ability:
    locations = case.memory_locations or net.config.memory_locations
    larger = net if case.memory_locations is None else net.resized(locations)
    found = evaluate(larger, task.at(**case.at), case.sequences, SEED, batch_size=20)
    above = found.bits_above_optimal
    bits = found.mean_bits if above is None else above
    return Ability(dict(case.at), locations, case.sequences, bits, found.perfect)


def as_json(abilities: list[Ability]) -> list[dict[str, Any]]:
    """Abilities as plain data."""
    return [ability._asdict() for ability in abilities]

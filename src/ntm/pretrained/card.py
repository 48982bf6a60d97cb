"""What a network can do: its costs within the range it was trained on and beyond it."""

from typing import NamedTuple

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

"""Measured costs of a network, within the trained range and beyond it."""

from typing import NamedTuple

# Number and seed of the fresh sequences behind each published cost.
SEQUENCES, SEED = 1000, 1_000_003


class Ability(NamedTuple):
    """Measured results of a network on problems of one size."""

    at: dict[str, int]
    """Sizes of the problems, such as {"length": 120}; empty for the trained range."""
    memory_locations: int
    """Number of memory locations, which may be larger than in training."""
    sequences: int
    """Number of problems measured."""
    bits: float
    """Mean cost per sequence; if the optimum is known, the cost above the optimum."""
    perfect: float
    """Share of the problems without a wrong bit."""

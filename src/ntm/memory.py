"""Sections 3.1 and 3.2: reading from the memory and writing to the memory.

A memory is a tensor (batch, N, M): N locations of M values. A weighting (batch, heads, N) says how
much each head attends to each location; its N values are non-negative and sum to one (equation 1).
"""

from torch import Tensor


def read(memory: Tensor, weightings: Tensor) -> Tensor:
    """Equation 2: return each head's convex combination of the locations, (batch, heads, M)."""
    return weightings @ memory


def erase(memory: Tensor, weightings: Tensor, erase_vectors: Tensor) -> Tensor:
    """Equation 3: multiply each value by one minus the fraction that a head erases there.

    erase_vectors: (batch, heads, M), within (0, 1). The factors of the heads multiply, so the
    order of the heads does not matter.
    """
    for weighting, erase_vector in zip(weightings.unbind(1), erase_vectors.unbind(1), strict=True):
        memory = memory * (1 - weighting.unsqueeze(2) * erase_vector.unsqueeze(1))
    return memory


def add(memory: Tensor, weightings: Tensor, add_vectors: Tensor) -> Tensor:
    """Equation 4: add each head's vector (batch, heads, M), scaled by its weight per location."""
    return memory + weightings.transpose(1, 2) @ add_vectors


def write(memory: Tensor, weightings: Tensor, erase_vectors: Tensor, add_vectors: Tensor) -> Tensor:
    """Equations 3 and 4: let all heads erase, then let all heads add."""
    return add(erase(memory, weightings, erase_vectors), weightings, add_vectors)

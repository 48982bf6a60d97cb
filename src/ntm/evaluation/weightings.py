"""Properties of a weighting: the head's location, its focus and its mode of addressing."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ntm.description import HeadKind
from ntm.trace import Array, Trace

Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]

MODES = ("content", "content then shift", "shift")
"""Section 3.3.2: the three ways of combining content and location addressing."""

CONTENT, CONTENT_THEN_SHIFT, SHIFT = range(3)


@dataclass(frozen=True)
class Track:
    """Path of one head through a trace; arrays are (time, batch) unless stated."""

    trace: Trace
    kind: HeadKind
    head: int

    @cached_property
    def place(self) -> Integers:
        """Location of the largest weight."""
        place: Integers = self._weightings.argmax(axis=-1)
        return place

    @cached_property
    def focus(self) -> Array:
        """Largest weight."""
        focus: Array = self._weightings.max(axis=-1)
        return focus

    @cached_property
    def mode(self) -> Integers:
        """Mode of addressing, as an index into MODES."""
        return modes(self.trace, self.kind)[:, :, self.head]

    @cached_property
    def match(self) -> Integers:
        """Location that the key matches best."""
        match: Integers = _of(self.trace, self.kind, "content")[:, :, self.head].argmax(axis=-1)
        return match

    @property
    def key(self) -> Array:
        """Key of the head, (time, batch, M)."""
        return _of(self.trace, self.kind, "keys")[:, :, self.head]

    @property
    def vector(self) -> Array:
        """Vector that the head adds or reads, (time, batch, M)."""
        return self.trace.vectors(self.kind)[:, :, self.head]

    @property
    def _weightings(self) -> Array:
        return self.trace.weightings(self.kind)[:, :, self.head]


def tracks(trace: Trace, pair: tuple[int, int]) -> tuple[Track, Track]:
    """Return the tracks of a write head and a read head; `pair` has their numbers."""
    return Track(trace, "write", pair[0]), Track(trace, "read", pair[1])


def tells_modes(trace: Trace) -> bool:
    """Return whether a trace records how each head combines content and location addressing."""
    needed = ("content", "gated", "gates", "shifts")
    return all(f"{kind}_{name}" in trace.arrays for kind in ("read", "write") for name in needed)


def modes(trace: Trace, kind: HeadKind) -> Integers:
    """Return the mode of addressing of each head at each step, as an index into MODES.

    Before sharpening, the weight at a location is a sum over the shifts. Each term has a part from
    the content weighting and a part from the previous weighting. If the content parts are more than
    half of the sum, the mode is `content` or `content then shift`, depending on whether the largest
    content part came with a shift of zero. Otherwise the mode is `shift`. A head that stays at its
    location is also in the mode `shift`, with a shift of zero.

    Returns (time, batch, heads).
    """
    place = trace.weightings(kind).argmax(axis=-1)
    content, gates = _of(trace, kind, "content"), _of(trace, kind, "gates")
    shifts, shares = np.array(trace.shifts), _of(trace, kind, "shifts")
    origins = (place[..., None] - shifts) % content.shape[-1]
    by_content = gates[..., None] * np.take_along_axis(content, origins, axis=-1) * shares
    by_any = np.take_along_axis(_of(trace, kind, "gated"), origins, axis=-1) * shares
    shifted = shifts[by_content.argmax(axis=-1)] != 0
    mostly_content = by_content.sum(axis=-1) > by_any.sum(axis=-1) / 2
    return np.where(mostly_content, np.where(shifted, CONTENT_THEN_SHIFT, CONTENT), SHIFT)


def displacement(start: Array, end: Array, count: int) -> Array:
    """Return the shortest signed distance between locations on a ring of `count` locations."""
    return (end - start + count // 2) % count - count // 2


def at_steps(values: NDArray[Any], steps: Integers) -> Array:
    """Return `values[steps[i, b], b]`, with NaN where the step is negative.

    values: (time, batch, ...); steps: (count, batch); result: (count, batch, ...).
    """
    taken = values[np.maximum(steps, 0), np.arange(steps.shape[1])].astype(float)
    taken[steps < 0] = np.nan
    return taken


def known(*given: Array, then: Any) -> Array:
    """Return the array `then`, with NaN at the places where another array is NaN."""
    unknown = np.logical_or.reduce([np.isnan(values) for values in given])
    return np.where(unknown, np.nan, then)


def equal(first: Array, second: Array) -> Array:
    """Return 1.0 where two arrays agree, 0.0 where they differ, NaN where either is NaN."""
    return known(first, second, then=first == second)


def mean(values: NDArray[Any]) -> float:
    """Return the mean of the values that are not NaN, or zero if there are none."""
    counted = values[~np.isnan(values)]
    return float(counted.mean()) if counted.size else 0.0


def cosine(first: Array, second: Array) -> Array:
    """Return the cosine similarity along the last axis; zero for a vector of zeros."""
    norms = np.linalg.norm(first, axis=-1) * np.linalg.norm(second, axis=-1)
    similarity: Array = np.sum(first * second, axis=-1) / np.maximum(norms, 1e-12)
    return similarity


def _of(trace: Trace, kind: HeadKind, name: str) -> Array:
    values: Array = getattr(trace, f"{kind}_{name}")
    return values

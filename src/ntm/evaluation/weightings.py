"""Properties of a weighting: the head's location, its focus and its mode of addressing."""

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ntm.trace import Array, Trace

Kind = Literal["read", "write"]
Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]

MODES = ("content", "content then shift", "shift")
"""Section 3.3.2: the three ways of combining content and location addressing."""

CONTENT, CONTENT_THEN_SHIFT, SHIFT = range(3)


class Track(NamedTuple):
    """Path of one head; arrays are (time, batch) unless stated."""

    place: Integers  # location of the largest weight
    focus: Array  # largest weight
    mode: Integers  # index into MODES
    match: Integers  # location that the key matches best
    key: Array  # (time, batch, M)
    vector: Array  # vector added or read, (time, batch, M)


def track(trace: Trace, kind: Kind, head: int) -> Track:
    """Follow one head through a trace."""
    weightings = _of(trace, kind, "weightings")[:, :, head]
    vectors = trace.reads if kind == "read" else trace.adds
    return Track(
        weightings.argmax(axis=-1),
        weightings.max(axis=-1),
        modes(trace, kind)[:, :, head],
        _of(trace, kind, "content")[:, :, head].argmax(axis=-1),
        _of(trace, kind, "keys")[:, :, head],
        vectors[:, :, head],
    )


def tracks(trace: Trace, pair: tuple[int, int]) -> tuple[Track, Track]:
    """Follow a write head and a read head."""
    return track(trace, "write", pair[0]), track(trace, "read", pair[1])


def modes(trace: Trace, kind: Kind) -> Integers:
    """Return the mode of addressing that led to each head's location, as an index into MODES.

    Before sharpening, the weight at a location is a sum over the shifts. Each term has a part from
    the content weighting and a part from the previous weighting. If the content parts are more than
    half of the sum, the mode is `content` or `content then shift`, depending on whether the largest
    content part came with a shift of zero. Otherwise the mode is `shift`. A head that stays at its
    location is also in the mode `shift`, with a shift of zero.

    Returns (time, batch, heads).
    """
    place = _of(trace, kind, "weightings").argmax(axis=-1)
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
    """Return `then` as numbers, with NaN where any of the given arrays is NaN."""
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


def _of(trace: Trace, kind: Kind, name: str) -> Array:
    values: Array = getattr(trace, f"{kind}_{name}")
    return values

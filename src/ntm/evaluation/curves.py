"""Cost curves: over training, or over the size of the problems."""

import csv
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ntm.trace import Array


class CostCurve(NamedTuple):
    """Costs in bits per sequence, over thousands of training sequences or over problem size."""

    x: Array  # (points,)
    bits: Array  # (points,)


@lru_cache
def read_curves(file: Path | None) -> dict[str, CostCurve]:
    """Read curves by name from a CSV file with the columns series, x and bits; None gives {}."""
    if file is None:
        return {}
    points: dict[str, list[tuple[float, float]]] = {}
    for row in csv.DictReader(file.read_text().splitlines()):
        points.setdefault(row["series"].lower(), []).append((float(row["x"]), float(row["bits"])))
    return {name: CostCurve(*np.array(pairs).T) for name, pairs in points.items()}


def first_below(sequences: Array, bits: Array, threshold: float, window: int) -> int | None:
    """Return the number of sequences until a learning curve is first below a threshold, or None.

    bits: for each point of the curve, the mean cost since the point before.
    window: average the cost over the last `window` sequences before comparing.
    """
    x = np.insert(sequences, 0, 0.0)
    total = np.insert(np.cumsum(np.diff(x) * bits), 0, 0.0)
    means = (total[1:] - np.interp(sequences - window, x, total)) / window
    (below,) = np.nonzero((means < threshold) & (sequences >= window))
    return int(sequences[below[0]]) if len(below) else None

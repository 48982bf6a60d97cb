"""Learning curves on disk, read as they grow; and the paper's."""

import json
import math
import os
import threading
from array import array
from collections.abc import Iterable
from pathlib import Path
from statistics import median
from typing import Any

from ntm.evaluation.curves import CostCurve
from ntm.paper import experiment_of, published
from ntm.runs.metrics import merged

Point = tuple[int, float]

_LONGEST_READ = 250_000
_MOST_KEPT = 4000  # in 64 kB: there may be thousands of curves
_MOST_POINTS = 2000
_MOST_SEQUENCES = 2**53  # what a page can count


class Curve:
    """The points of one metrics.jsonl. What was read once is not read again.

    generation: grows whenever the file is replaced, as by a run that resumes; then the points
    start again. speed: sequences per second, as last reported. starts: how many initialisations
    were tried so far, 0 for a run without trials.
    """

    def __init__(self) -> None:
        self.points = []
        self.generation = 0
        self.speed: float | None = None
        self.starts = 0
        self._file: tuple[int, int] | None = None
        self._offset = 0
        self._lock = threading.Lock()

    @property
    def points(self) -> list[Point]:
        """Sequences, and the mean cost since the point before."""
        return list(zip(self._sequences, self._bits, strict=True))

    @points.setter
    def points(self, points: Iterable[Point]) -> None:
        self._sequences = array("q", (sequences for sequences, _ in points))
        self._bits = array("d", (bits for _, bits in points))

    @property
    def last(self) -> tuple[int, float | None]:
        """Where the curve ends."""
        sequences, bits = self._sequences[-1:], self._bits[-1:]
        return (sequences[0], bits[0]) if bits else (0, None)

    def update(self, path: Path) -> None:
        """Read what was added since; a last line that is not whole yet is left for later."""
        with self._lock, path.open("rb") as file:
            found = os.fstat(file.fileno())
            identity = (found.st_dev, found.st_ino)
            if identity != self._file or found.st_size < self._offset:
                self.points, self._offset, self._file = [], 0, identity
                self.speed, self.starts, self.generation = None, 0, self.generation + 1
            file.seek(self._offset)
            read = file.read(_LONGEST_READ)
            whole, newline, _ = read.rpartition(b"\n")
            if not newline and len(read) == _LONGEST_READ:
                whole = read  # no line is as long as that
            self._offset += len(whole) + len(newline)
            for line in whole.splitlines():
                self._add(line)

    def after(self, sequences: int, most: int = _MOST_POINTS) -> list[Point]:
        """The points beyond a number of sequences; of very many, means of neighbours."""
        return thinned([point for point in self.points if point[0] > sequences], sequences, most)

    def news(self, sequences: int, most: int = _MOST_POINTS) -> dict[str, Any]:
        """The same as an answer to the page, while no other thread reads the file."""
        with self._lock:
            return {"points": self.after(sequences, most), "generation": self.generation}

    def _add(self, line: bytes) -> None:
        """Add the point of a line of metrics; a line that has none, or goes back, adds nothing."""
        point, speed, start = _reported(line)
        if point is not None and point[0] > self.last[0]:
            self._sequences.append(point[0])
            self._bits.append(point[1])
            self.speed, self.starts = speed, max(self.starts, start)
            if len(self._bits) > _MOST_KEPT:
                self.points = thinned(self.points, 0, _MOST_KEPT // 2)


def thinned(points: list[Point], start: int, most: int = _MOST_POINTS) -> list[Point]:
    """At most so many points: neighbours become one, with their mean cost per sequence.

    start: the sequences before the first point. Each cost is the mean since the point before.
    """
    group = -(-len(points) // most)
    if group <= 1:
        return points
    last = len(points) - 1
    return merged(points, [min(n + group - 1, last) for n in range(0, len(points), group)], start)


def paper_curves(task: str) -> dict[str, list[Point]]:
    """The curves of the paper's figure for a task, by model, over sequences.

    They were read off a printed graphic: one reading is off by a little and now and then by more.
    So each is the median of itself and its neighbours, and what falls below what can be read at all
    stays there.
    """
    floor = readable_bits(task)
    return {
        model: smoothed(_points(curve), floor)
        for model, curve in published.paper_curves(task).items()
    }


def readable_bits(task: str) -> float:
    """The least cost that can be told from the lower edge of the paper's figure for a task."""
    low, high = experiment_of(task).frame or (0, 0)
    return _READABLE * (high - low)


def _points(curve: CostCurve) -> list[Point]:
    thousands, bits = curve.x.tolist(), curve.bits.tolist()
    return [(round(1000 * x), cost) for x, cost in zip(thousands, bits, strict=True)]


# Of the height of a frame: about half as thick as its lines are.
_READABLE = 0.005
_NEIGHBOURS = 2


def smoothed(points: list[Point], floor: float) -> list[Point]:
    """Every point at the median of itself and two on either side; none below the floor."""
    bits = [bits for _, bits in points]
    return [
        (x, max(floor, median(bits[max(0, i - reach) : i + reach + 1])))
        for i, (x, _) in enumerate(points)
        for reach in [min(_NEIGHBOURS, i, len(points) - 1 - i)]
    ]


def _reported(line: bytes) -> tuple[Point | None, float | None, int]:
    """The point of a line of metrics, the speed at that time, and the start that is trained."""
    try:
        values = json.loads(line)
        sequences, bits = int(values["sequences"]), float(values["bits"])
        speed, start = _speed(values.get("sequences_per_second")), int(values.get("start", 0))
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError):
        return None, None, 0
    usable = sequences <= _MOST_SEQUENCES and math.isfinite(bits)
    return ((sequences, bits) if usable else None), speed, start


def _speed(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and 0 < value < math.inf else None

"""Learning curves of runs, from files that are still growing, and of the paper."""

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
from ntm.runs.facts import merged

Point = tuple[int, float]

_LONGEST_READ = 250_000
_MOST_KEPT = 4000  # 64 kB per curve: there may be thousands of curves
_MOST_POINTS = 2000
_MOST_SEQUENCES = 2**53  # largest exact integer in JavaScript


class CurveReader:
    """Points of one metrics.jsonl. Each update reads only the new lines.

    generation: number that grows whenever the file is replaced, for example by a run that resumes;
    the points of the earlier file are dropped.
    speed: sequences per second in the last report.
    starts: number of sets of initial weights tried so far (0: a run without trials).
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
        """Number of sequences and mean cost since the previous point, for each point."""
        return list(zip(self._sequences, self._bits, strict=True))

    @points.setter
    def points(self, points: Iterable[Point]) -> None:
        self._sequences = array("q", (sequences for sequences, _ in points))
        self._bits = array("d", (bits for _, bits in points))

    @property
    def last(self) -> tuple[int, float | None]:
        """Last point of the curve; (0, None) if there is none."""
        sequences, bits = self._sequences[-1:], self._bits[-1:]
        return (sequences[0], bits[0]) if bits else (0, None)

    def update(self, path: Path) -> None:
        """Read the new lines; an incomplete last line is left for the next call."""
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
                whole = read  # no line of metrics is that long
            self._offset += len(whole) + len(newline)
            for line in whole.splitlines():
                self._add(line)

    def after(self, sequences: int, most: int = _MOST_POINTS) -> list[Point]:
        """Return the points beyond a number of sequences, reduced to at most `most` points."""
        return thinned([point for point in self.points if point[0] > sequences], sequences, most)

    def news(self, sequences: int, most: int = _MOST_POINTS) -> dict[str, Any]:
        """Return the points of `after` and the generation, while no other thread updates them."""
        with self._lock:
            return {"points": self.after(sequences, most), "generation": self.generation}

    def _add(self, line: bytes) -> None:
        """Add the point of a line of metrics, if it has one with more sequences than the last."""
        point, speed, start = _reported(line)
        if point is not None and point[0] > self.last[0]:
            self._sequences.append(point[0])
            self._bits.append(point[1])
            self.speed, self.starts = speed, max(self.starts, start)
            if len(self._bits) > _MOST_KEPT:
                self.points = thinned(self.points, 0, _MOST_KEPT // 2)


def thinned(points: list[Point], start: int, most: int = _MOST_POINTS) -> list[Point]:
    """Return at most `most` points: neighbours are merged, with their mean cost per sequence.

    points: number of sequences and mean cost since the previous point, for each point.
    start: number of sequences before the first point.
    """
    group = -(-len(points) // most)
    if group <= 1:
        return points
    last = len(points) - 1
    return merged(points, [min(n + group - 1, last) for n in range(0, len(points), group)], start)


def paper_curves(task: str) -> dict[str, list[Point]]:
    """Return the learning curves of the paper's figure for a task, by model.

    The curves were read off a printed graphic, so every value has a small error, and some values
    have a larger error. So each value is the median of a point and its neighbours, and at least
    the smallest value that can be read off the graphic.
    """
    floor = readable_bits(task)
    return {
        model: smoothed(_points(curve), floor)
        for model, curve in published.paper_curves(task).items()
    }


def readable_bits(task: str) -> float:
    """Return the smallest cost that can be read off the paper's figure for a task."""
    low, high = experiment_of(task).frame or (0, 0)
    return _READABLE * (high - low)


def _points(curve: CostCurve) -> list[Point]:
    thousands, bits = curve.x.tolist(), curve.bits.tolist()
    return [(round(1000 * x), cost) for x, cost in zip(thousands, bits, strict=True)]


# Fraction of the figure's height: about half the thickness of its lines.
_READABLE = 0.005
_NEIGHBOURS = 2


def smoothed(points: list[Point], floor: float) -> list[Point]:
    """Return the points with each cost as the median of five neighbours, at least `floor`."""
    bits = [bits for _, bits in points]
    return [
        (x, max(floor, median(bits[max(0, i - reach) : i + reach + 1])))
        for i, (x, _) in enumerate(points)
        for reach in [min(_NEIGHBOURS, i, len(points) - 1 - i)]
    ]


def _reported(line: bytes) -> tuple[Point | None, float | None, int]:
    """Return the point, the speed and the number of the start in a line of metrics.jsonl."""
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

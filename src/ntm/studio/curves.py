"""Learning curves on disk, read as they grow; and the paper's."""

import csv
import json
import math
import os
import threading
from importlib import resources
from pathlib import Path

from ntm.runs.metrics import merged

Point = tuple[int, float]

_LONGEST_READ = 32_000_000
_MOST_POINTS = 2000
_MOST_SEQUENCES = 2**53  # what a page can count


class Curve:
    """The points of one metrics.jsonl. What was read once is not read again.

    generation: grows whenever the file is replaced, as by a run that resumes; then the points
    begin anew.
    """

    def __init__(self) -> None:
        self.points: list[Point] = []
        self.generation = 0
        self._file: tuple[int, int] | None = None
        self._offset = 0
        self._lock = threading.Lock()

    def update(self, path: Path) -> None:
        """Read what was added since; a last line that is not whole yet is left for later."""
        with self._lock, path.open("rb") as file:
            found = os.fstat(file.fileno())
            identity = (found.st_dev, found.st_ino)
            if identity != self._file or found.st_size < self._offset:
                self.points, self._offset, self._file = [], 0, identity
                self.generation += 1
            file.seek(self._offset)
            whole, newline, _ = file.read(_LONGEST_READ).rpartition(b"\n")
            self._offset += len(whole) + len(newline)
            for line in whole.splitlines():
                self._add(line)

    def after(self, sequences: int) -> list[Point]:
        """The points beyond a number of sequences; of very many, means of neighbours."""
        return thinned([point for point in self.points if point[0] > sequences], sequences)

    def _add(self, line: bytes) -> None:
        """Add the point of a line of metrics; a line that has none, or goes back, adds nothing."""
        point = _point(line)
        if point is not None and point[0] > (self.points[-1][0] if self.points else 0):
            self.points.append(point)


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
    """The curves of the paper's figure for a task, by model, over sequences."""
    file = resources.files("ntm") / "paper" / "curves" / f"{task}.csv"
    curves: dict[str, list[Point]] = {}
    for row in csv.DictReader(file.read_text().splitlines()):
        point = (round(float(row["x"]) * 1000), float(row["bits"]))
        curves.setdefault(row["series"].lower(), []).append(point)
    return curves


def _point(line: bytes) -> Point | None:
    try:
        values = json.loads(line)
        sequences, bits = int(values["sequences"]), float(values["bits"])
    except (ArithmeticError, LookupError, RecursionError, TypeError, ValueError):
        return None
    return (sequences, bits) if sequences <= _MOST_SEQUENCES and math.isfinite(bits) else None

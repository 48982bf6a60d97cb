"""Results of a benchmark: the machine, the effort, and the rows of every section."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import torch

from ntm import engine
from ntm.bench import SECTIONS, sections
from ntm.bench.equivalence import require_equivalence
from ntm.bench.networks import PAPER
from ntm.bench.overhead import Overhead
from ntm.bench.sections import BenchEffort, Growth, Note, Share, Speedup, Threads
from ntm.common.text import unknown
from ntm.engine.machine import machine, threads
from ntm.runs import RunError

FORMAT = 1
Row = Speedup | Share | Growth | Threads | Overhead

_MEASURES: dict[str, Callable[[BenchEffort, Note], Sequence[Row]]] = {
    "speedup": sections.measure_speedup,
    "sgemm": sections.measure_sgemm,
    "growth": sections.measure_growth,
    "threads": sections.measure_threads,
    "overhead": sections.measure_overhead,
}


@dataclass(frozen=True)
class BenchResults:
    """All results of a benchmark."""

    machine: dict[str, str | int]
    effort: BenchEffort
    sections: dict[str, Sequence[Row]]

    def to_json(self) -> dict[str, Any]:
        """Return plain data; times are in seconds, rates in operations per second."""
        measured = {name: [asdict(row) for row in rows] for name, rows in self.sections.items()}
        effort = {"rounds": self.effort.rounds, "slice_seconds": self.effort.slice_seconds}
        return {"format": FORMAT, "machine": self.machine, "effort": effort, "sections": measured}


def run_bench(
    names: Sequence[str] = SECTIONS,
    effort: BenchEffort | None = None,
    note: Note = lambda _text: None,
) -> BenchResults:
    """Check that the engines agree, then measure the named sections, in the order of `SECTIONS`.

    Raises a RunError if there is no native engine, or if the engines disagree.

    effort: amount of measurement (None: a whole benchmark). `ntm.bench.sections.QUICK` is short.
    note: called with a description of each measurement as it starts.
    """
    effort = effort or BenchEffort()
    for name in names:
        if name not in SECTIONS:
            raise ValueError(unknown("section", name, SECTIONS))
    with threads(1):
        _require_native()
        for network in PAPER:
            note(f"do the engines agree? {network}")
            require_equivalence(network)
        measured = {name: _MEASURES[name](effort, note) for name in SECTIONS if name in names}
    return BenchResults(machine(), effort, measured)


def _require_native() -> None:
    try:
        engine.choose("native", torch.device("cpu"), torch.float32)
    except RuntimeError as error:
        raise RunError(f"There is nothing to compare. {error}") from error

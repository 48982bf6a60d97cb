"""Reproduce section 4 of the paper in one report."""

import argparse
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ntm.commands import base

if TYPE_CHECKING:
    from ntm.runs import Settings


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `ntm reproduce`."""
    add = parser.add_argument
    add("--out", type=Path, required=True, metavar="DIR", help="folder for runs and report")
    add("--quick", action="store_true", help="short runs: takes a few minutes")
    add("--seeds", type=int, default=1, metavar="K", help="number of runs per network (default: 1)")
    text = "use seeds S, S+1, ... (default: 0; the settings were tuned on seeds 0 to 19)"
    add("--first-seed", type=int, default=0, metavar="S", help=text)
    add(
        "--tasks",
        nargs="+",
        metavar="TASK",
        help="tasks to run (default: the paper's five, and your own experiments)",
    )
    add("--models", nargs="+", metavar="MODEL", help="models to run (default: all)")
    add("--workers", type=int, metavar="W", help="runs at a time (default: one per core)")
    add(
        "--runs",
        type=Path,
        nargs="+",
        default=[],
        metavar="DIR",
        help="folders with existing runs; networks that have runs there are not trained again",
    )


def run(options: argparse.Namespace) -> int:
    """Reproduce section 4; return 1 if a run failed."""
    base.with_matplotlib("matplotlib")
    from ntm.common.text import duration
    from ntm.report.measure import QUICK, Effort
    from ntm.report.pipeline import STAGES, reproduce
    from ntm.report.progress import Stages
    from ntm.terminal.progress import ProgressDisplay

    wanted = _wanted(options)
    started = time.monotonic()
    with _saying_how_to_resume(options.out), ProgressDisplay(sys.stdout, every=15) as display:
        results, failures = reproduce(
            wanted,
            options.out,
            taken=options.runs,
            effort=QUICK if options.quick else Effort(),
            workers=options.workers,
            progress=Stages(STAGES, display),
        )
    print(f"Done in {duration(time.monotonic() - started)}. The report: {results.report}")
    return 1 if failures else 0


@contextmanager
def _saying_how_to_resume(out: Path) -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt as stop:
        raise KeyboardInterrupt(
            f"Interrupted. Nothing in {out} is lost: the same command resumes from here."
        ) from stop


def _wanted(options: argparse.Namespace) -> list["Settings"]:
    """Return the settings of the runs that the options select."""
    from ntm.paper import full_runs, quick_runs, select

    base.require_at_least_one(seeds=options.seeds, workers=options.workers)
    with base.reading_arguments():
        networks = select(options.tasks, options.models)
        runs = quick_runs if options.quick else full_runs
        return runs(networks, options.seeds, options.first_seed)

"""Train a grid of runs, on this machine or on a Ray cluster."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ntm.commands import base

if TYPE_CHECKING:
    from ntm.scale.jobs import Job, Outcome


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `ntm sweep`."""
    add = parser.add_argument
    add("file", type=Path, metavar="FILE", help="TOML with lists of tasks, models, seeds, settings")
    add(
        "--out",
        type=Path,
        metavar="DIR",
        help="folder for the runs (default: runs/NAME for NAME.toml)",
    )
    place = parser.add_mutually_exclusive_group()
    place.add_argument(
        "--workers", type=int, metavar="N", help="processes on this machine (default: one per core)"
    )
    place.add_argument(
        "--ray", metavar="ADDRESS", help="address of a Ray cluster to train on, or auto"
    )
    add("--list", action="store_true", help="list the runs and exit")
    base.add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Train or resume the sweep; return 0 if every run finished, 1 if a run failed."""
    from ntm.scale.grid import read_grid

    base.require_at_least_one(workers=options.workers)
    with base.reading_arguments():
        folder = options.out or Path("runs") / options.file.stem
        jobs = read_grid(options.file, folder)
        if options.list:
            _print_jobs(jobs, options.json)
            return 0
    outcomes = _execute(jobs, options)
    _print_outcomes(outcomes, options.json)
    states = {outcome.state for outcome in outcomes}
    if "interrupted" in states:
        return base.INTERRUPTED
    if not options.json:
        print(f"The runs are in {folder}. Next: ntm figures {base.quoted(folder)} --out figures")
    return base.FAILED if "failed" in states else 0


def _print_jobs(jobs: Sequence["Job"], as_json: bool) -> None:
    if as_json:
        listed = [{"folder": str(job.folder), "settings": job.settings.to_json()} for job in jobs]
        base.print_json(listed)
        return
    base.print_table([(str(job.folder), f"{job.sequences:,} sequences") for job in jobs], texts=1)


def _execute(jobs: Sequence["Job"], options: argparse.Namespace) -> list["Outcome"]:
    from ntm.scale.execution import execute
    from ntm.scale.table import RunsView

    with RunsView(sys.stderr if options.json else sys.stdout) as view:
        return execute(jobs, options.workers, options.ray, view.show)


def _print_outcomes(outcomes: Sequence["Outcome"], as_json: bool) -> None:
    from ntm.scale.summary import print_summary, summarise

    summary = summarise(outcomes)
    if as_json:
        base.print_json(summary.to_json())
    else:
        print_summary(summary, sys.stdout)

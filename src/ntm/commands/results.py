"""Write tables and figures of your runs to a folder."""

import argparse
import sys
from pathlib import Path

from ntm.commands import base


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `ntm results`."""
    add = parser.add_argument
    add(
        "runs",
        type=Path,
        nargs="*",
        metavar="DIR",
        help="run folder, or folder of runs (default: rebuild from the results already in --out)",
    )
    add("--out", type=Path, required=True, metavar="DIR", help="folder for the results")
    add("--sequences", type=int, default=1000, help="fresh sequences per cost (default: 1000)")


def run(options: argparse.Namespace) -> None:
    """Measure runs, and write tables and figures of all results in the folder."""
    base.with_matplotlib("matplotlib")
    from ntm.report.measure import Effort
    from ntm.report.pipeline import MEASURING, collect
    from ntm.report.progress import Stages
    from ntm.runs import find_runs
    from ntm.terminal.progress import ProgressDisplay

    base.require_at_least_one(sequences=options.sequences)
    runs = find_runs(options.runs)
    effort = Effort(sequences=options.sequences)
    with ProgressDisplay(sys.stdout) as display:
        results = collect(runs, options.out, effort, Stages(MEASURING, display))
    print(f"{len(results.records())} runs in {results.readme}")

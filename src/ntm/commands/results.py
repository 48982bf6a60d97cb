"""ntm results: write tables and figures of your runs to a folder."""

import argparse
import sys
from pathlib import Path

from ntm.commands.base import require_at_least_one, with_matplotlib

HELP = "Write tables and figures of your runs to a folder"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `ntm results`."""
    add = parser.add_argument
    add(
        "runs",
        type=Path,
        nargs="*",
        metavar="DIR",
        help="run folder, or folder of runs; without any, use only the results already in --out",
    )
    add("--out", type=Path, required=True, metavar="DIR", help="folder for the results")
    add("--sequences", type=int, default=1000, help="fresh sequences per cost (default: 1000)")


def run(options: argparse.Namespace) -> int:
    """Measure runs, and write tables and figures of all results in the folder."""
    with_matplotlib("matplotlib")
    from ntm.report.collection import STAGES, collect
    from ntm.report.measure import Effort
    from ntm.report.progress import Stages
    from ntm.runs import find_runs
    from ntm.terminal.display import ProgressDisplay

    require_at_least_one(sequences=options.sequences)
    runs = find_runs(options.runs)
    effort = Effort(sequences=options.sequences)
    with ProgressDisplay(sys.stdout) as display:
        results = collect(runs, options.out, effort, Stages(STAGES, display))
    print(f"{len(results.records())} runs in {results.readme}")
    return 0

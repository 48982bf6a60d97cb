"""The commands `ntm reproduce` and `ntm results`: their options, and what they print."""

import argparse
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ntm.runs import Settings


def add_reproduce_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `ntm reproduce`."""
    add = parser.add_argument
    add("--out", type=Path, required=True, metavar="DIR", help="folder for runs and report")
    add("--quick", action="store_true", help="short runs: all of it in a few minutes")
    add("--seeds", type=int, default=1, metavar="K", help="runs per network, seeds 0 to K-1")
    add("--tasks", nargs="+", metavar="TASK", help="only these tasks (default: all five)")
    add("--models", nargs="+", metavar="MODEL", help="only these models (default: all three)")
    add("--workers", type=int, metavar="W", help="runs at a time (default: one per core)")
    add(
        "--runs",
        type=Path,
        nargs="+",
        default=[],
        metavar="DIR",
        help="take the runs in these folders; networks that have one are not trained",
    )


def add_results_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `ntm results`."""
    add = parser.add_argument
    add(
        "runs",
        type=Path,
        nargs="*",
        metavar="DIR",
        help="run folder, or a folder of them; without any, the page is made again from the data",
    )
    add("--out", type=Path, required=True, metavar="DIR", help="folder for the results")
    add("--sequences", type=int, default=1000, help="fresh sequences per cost (default: 1000)")


def run_reproduce(options: argparse.Namespace) -> int:
    """Reproduce section 4; 1 if a run failed."""
    _require_matplotlib()
    from ntm.common.text import duration
    from ntm.report.display import Display
    from ntm.report.measure import QUICK, Effort
    from ntm.report.pipeline import STAGES, reproduce
    from ntm.report.progress import Stages

    wanted = _wanted(options)
    started = time.monotonic()
    with Display(sys.stdout, every=15) as display:
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


def run_results(options: argparse.Namespace) -> int:
    """Measure runs, and make the tables and figures of all results in a folder."""
    _require_matplotlib()
    from ntm.report.collection import STAGES, collect
    from ntm.report.display import Display
    from ntm.report.measure import Effort
    from ntm.report.progress import Stages
    from ntm.runs import find_runs

    _require_positive(sequences=options.sequences)
    runs = find_runs(options.runs)
    with Display(sys.stdout) as display:
        effort = Effort(sequences=options.sequences)
        results = collect(runs, options.out, effort, Stages(STAGES, display))
    print(f"{len(results.records())} runs in {results.readme}")
    return 0


def _wanted(options: argparse.Namespace) -> list["Settings"]:
    """The settings of the runs that the options mean."""
    from ntm.paper import full_runs, quick_runs, select
    from ntm.runs import FolderError

    _require_positive(seeds=options.seeds, workers=options.workers)
    try:
        networks = select(options.tasks, options.models)
    except ValueError as error:
        raise FolderError(str(error)) from error
    return (quick_runs if options.quick else full_runs)(networks, options.seeds)


def _require_positive(**options: int | None) -> None:
    from ntm.runs import FolderError

    for name, value in options.items():
        if value is not None and value < 1:
            raise FolderError(f"--{name} must be at least 1; got {value}.")


def _require_matplotlib() -> None:
    from ntm.runs import RunError

    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise RunError(
            f"Figures need matplotlib ({error}): pip install 'neural-turing-machines[figures]'"
        ) from error

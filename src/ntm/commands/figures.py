"""Draw the paper's figures from your runs."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ntm.commands import base

if TYPE_CHECKING:
    from ntm.runs import Run


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `ntm figures`."""
    add = parser.add_argument
    add("runs", nargs="+", metavar="NET", help=f"folder of runs, {base.NET}")
    add("--out", type=Path, required=True, metavar="DIR", help="folder for the figures")
    add(
        "--format",
        action="append",
        choices=("png", "svg", "pdf"),
        help="may be repeated (default: png and svg)",
    )
    base.add_saved(parser)


def run(options: argparse.Namespace) -> None:
    """Draw all figures that the runs allow, and list the figures that need other runs."""
    gallery = base.with_matplotlib("ntm.paper.gallery")
    from ntm.runs.opening import open_runs

    with base.reading_arguments():
        task, family = base.saved_as(options)
    formats, outcomes = options.format or ["png", "svg"], []
    for outcome in gallery.draw_figures(
        options.runs, options.out, formats, task=task, family=family
    ):
        outcomes.append(outcome)
        if outcome.files:
            print(f"{_number(outcome)}  {outcome.figure.name:<28}  {outcome.files[0]}", flush=True)
    lacking = [
        (_number(outcome), "needs" if not outcome.files else "lacks", need)
        for outcome in outcomes
        for need in outcome.lacking
    ]
    _list("Missing:", lacking)
    print_failed(open_runs(options.runs, task, family))


def print_failed(runs: "list[Run]") -> None:
    """List the runs that missed their goal, because figures of a failed network look odd."""
    from ntm.paper.verdicts import missed_in_validation

    failed = [(run.path.name, text) for run in runs if (text := missed_in_validation(run))]
    _list("Goal missed, by the cost in validation:", failed)


def _list(title: str, rows: Sequence[tuple[str, ...]]) -> None:
    if rows:
        print(f"\n{title}")
        base.print_table(rows)


def _number(outcome: Any) -> str:
    number = outcome.figure.number
    return "         " if number is None else f"figure {number:>2}"

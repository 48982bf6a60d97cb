"""ntm figures: draw the paper's figures from your runs or packaged networks."""

import argparse
from pathlib import Path
from typing import Any

from ntm.commands.base import (
    NET,
    add_saved,
    print_table,
    reading_arguments,
    saved_as,
    with_matplotlib,
)

HELP = "Draw the paper's figures from your runs"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `ntm figures`."""
    add = parser.add_argument
    add("runs", nargs="+", metavar="NET", help=f"folder of runs, {NET}")
    add("--out", type=Path, required=True, metavar="DIR", help="folder for the figures")
    add("--format", action="append", choices=("png", "svg", "pdf"), help="default: png and svg")
    add_saved(parser)


def run(options: argparse.Namespace) -> int:
    """Draw all figures that the runs allow, and list what is missing."""
    gallery = with_matplotlib("ntm.paper.gallery")
    with reading_arguments():
        task, family = saved_as(options)
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
    if lacking:
        print("\nMissing:")
        print_table(lacking)
    return 0


def _number(outcome: Any) -> str:
    number = outcome.figure.number
    return "         " if number is None else f"figure {number:>2}"

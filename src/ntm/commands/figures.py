"""ntm figures: the paper's figures, from your runs or packaged networks."""

import argparse
from pathlib import Path
from typing import Any

from ntm.commands.base import print_table, with_matplotlib

HELP = "The paper's figures, from your runs"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `ntm figures`."""
    add = parser.add_argument
    text = "run folder, folder of runs, or pretrained network such as copy-ff"
    add("runs", nargs="+", metavar="NET", help=text)
    add("--out", type=Path, required=True, metavar="DIR", help="folder for the figures")
    add("--format", action="append", choices=("png", "svg", "pdf"), help="default: png and svg")


def run(options: argparse.Namespace) -> int:
    """Draw what can be drawn, and say what is missing."""
    gallery = with_matplotlib("ntm.paper.gallery")
    outcomes = []
    for outcome in gallery.draw_figures(
        options.runs, options.out, options.format or ["png", "svg"]
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

"""ntm demo: train for half a minute, at most two, and show how the network generalises."""

import argparse
from pathlib import Path

HELP = "Train for half a minute and show how the network generalises"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `ntm demo`."""
    parser.add_argument("--out", type=Path, default=Path("demo"), help="folder for the picture")


def run(options: argparse.Namespace) -> int:
    """Train and show the result."""
    from ntm.paper.demo import demonstrate

    return demonstrate(options.out)

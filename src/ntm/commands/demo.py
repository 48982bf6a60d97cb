"""Train a copy network for half a minute and test it on longer sequences."""

import argparse
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `ntm demo`."""
    parser.add_argument(
        "--out", type=Path, default=Path("demo"), help="folder for the picture (default: demo)"
    )


def run(options: argparse.Namespace) -> int:
    """Train and show the result."""
    from ntm.paper.demo import demonstrate

    return demonstrate(options.out)

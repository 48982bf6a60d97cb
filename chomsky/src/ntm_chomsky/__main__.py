"""Command line of the column: `python -m ntm_chomsky`."""

import argparse
import sys
from pathlib import Path

from ntm.runs import FolderError
from ntm_chomsky.column import column, write_scores
from ntm_chomsky.table import markdown


def main() -> int:
    """Train and score the networks that the arguments select, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m ntm_chomsky", description=__doc__)
    add = parser.add_argument
    add("--out", type=Path, default=Path("runs/chomsky"), help="folder (default: runs/chomsky)")
    add("--tasks", nargs="+", metavar="TASK", help="tasks (default: all)")
    add("--models", nargs="+", metavar="MODEL", help="models (default: all with a setting)")
    add("--seeds", type=int, default=5, help="number of runs per network (default: 5)")
    add("--first-seed", type=int, default=100, help="use seeds from here on (default: 100)")
    add("--quick", action="store_true", help="one task per level, trained for seconds")
    add("--workers", type=int, help="runs at a time (default: one per core)")
    options = vars(parser.parse_args())
    try:
        scores = column(**options)
    except (FolderError, RuntimeError, ValueError) as error:
        print(error, file=sys.stderr)
        return 1
    write_scores(scores, options["out"] / "scores.csv")
    table = markdown(scores)
    (options["out"] / "table.md").write_text(table, encoding="utf-8")
    print(table, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""ntm params: compare the paper's parameter counts with ours."""

import argparse
import json

from ntm.commands.base import add_json, print_table

HELP = "Compare the paper's parameter counts with ours"

add_arguments = add_json


def run(options: argparse.Namespace) -> int:
    """Print the parameter counts of all fifteen networks."""
    from ntm.paper.counts import NOTE, parameter_counts

    rows = parameter_counts()
    if options.json:
        print(json.dumps(rows, indent=2))
        return 0
    names = ("task", "model", "paper", "ours")
    cells = [(*(_text(row[name]) for name in names), f"{row['difference']:+,}") for row in rows]
    print_table([(*names, "difference"), *cells], texts=2)
    print(NOTE)
    return 0


def _text(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)

"""Compare the paper's parameter counts with ours."""

import argparse

from ntm.commands import base

add_arguments = base.add_json


def run(options: argparse.Namespace) -> None:
    """Print the parameter counts of all fifteen networks."""
    from ntm.paper.settings import ON_COUNTS, parameter_counts

    rows = parameter_counts()
    if options.json:
        base.print_json(rows)
        return
    names = ("task", "model", "paper", "ours")
    cells = [(*(_text(row[name]) for name in names), f"{row['difference']:+,}") for row in rows]
    base.print_table([(*names, "difference"), *cells], texts=2)
    print(ON_COUNTS)


def _text(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)

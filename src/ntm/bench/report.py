"""Tables of benchmark results: for a terminal, as plain text, and in Markdown."""

import sys
from collections.abc import Callable, Mapping
from typing import Any

from ntm.bench.results import BenchResults
from ntm.bench.timing import Quartiles
from ntm.terminal.table import Table


def tables(results: BenchResults) -> list[Table]:
    """Return one table per measured section."""
    return [
        Table(
            _TITLES[name],
            tuple(_COLUMNS[name]),
            [tuple(cell(row) for cell in _COLUMNS[name].values()) for row in rows],
        )
        for name, rows in results.sections.items()
    ]


def as_markdown(results: BenchResults) -> str:
    """Return the tables in Markdown."""
    shown = (table.as_markdown() for table in tables(results))
    return "\n\n".join([_introduction(results), *shown])


def print_tables(results: BenchResults) -> None:
    """Print the tables on the terminal."""
    print(_introduction(results))
    for table in tables(results):
        print()
        table.print(sys.stdout)


def _introduction(results: BenchResults) -> str:
    on = results.machine
    return (
        f"{on['processor']}, {on['cores']} cores, {on['instructions']} instructions, torch "
        f"{on['torch']}, ntm {on['ntm']}; medians of {results.effort.rounds} rounds, quartiles in "
        f"brackets."
    )


def _milliseconds(seconds: float) -> str:
    return f"{_three_digits(seconds * 1e3)}"


def _microseconds(seconds: float) -> str:
    return f"{seconds * 1e6:.1f}"


def _times(spread: Quartiles) -> str:
    middle, *quartiles = map(
        _three_digits, (spread.median, spread.lower_quartile, spread.upper_quartile)
    )
    return f"{middle} ({' to '.join(quartiles)})"


def _percent(spread: Quartiles) -> str:
    return f"{spread.median:.1%} ({spread.lower_quartile:.1%} to {spread.upper_quartile:.1%})"


def _three_digits(value: float) -> str:
    """Format a number with three significant digits and without an exponent."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


_TITLES = {
    "speedup": "Whole training steps, one thread: native against reference",
    "sgemm": "Share of one core's speed at float32 matrix products",
    "growth": "Growth of a training step, one thread: how many times more than at half the size",
    "threads": "Two threads against one",
    "overhead": "A sequence in ntm train, batch size 1",
}
_Cell = Callable[[Any], str]
_NETWORK: dict[str, _Cell] = {"network": lambda row: f"{row.task} {row.model}"}
_BATCH = _NETWORK | {"batch": lambda row: f"{row.batch_size}"}
_COLUMNS: Mapping[str, Mapping[str, _Cell]] = {
    "speedup": _BATCH
    | {
        "native, ms": lambda row: _milliseconds(row.native_seconds),
        "reference, ms": lambda row: _milliseconds(row.reference_seconds),
        "times faster": lambda row: _times(row.ratio),
    },
    "sgemm": _BATCH
    | {
        "step, Mflop": lambda row: f"{row.flops / 1e6:,.1f}",
        "native, Gflop/s": lambda row: f"{row.native_rate / 1e9:.1f}",
        "torch.mm, Gflop/s": lambda row: f"{row.product_rate / 1e9:.1f}",
        "share": lambda row: _percent(row.share),
    },
    "growth": {
        "axis": lambda row: str(row.axis),
        "size": lambda row: f"{row.size:,}",
        "native, ms": lambda row: _milliseconds(row.seconds),
        "time, doubled": lambda row: "" if row.times_longer is None else _times(row.times_longer),
        "operations, doubled": lambda row: (
            "" if row.times_flops is None else f"{row.times_flops:.2f}"
        ),
    },
    "threads": _BATCH
    | {
        "one, ms": lambda row: _milliseconds(row.one_seconds),
        "two, ms": lambda row: _milliseconds(row.two_seconds),
        "times faster": lambda row: _times(row.ratio),
        "two trainings at once": lambda row: _times(row.machine),
    },
    "overhead": _NETWORK
    | {
        "all, us": lambda row: _microseconds(row.seconds),
        "kernels, us": lambda row: _microseconds(row.kernel_seconds),
        "sampling, us": lambda row: _microseconds(row.sampling_seconds),
        "outside kernels": lambda row: _percent(row.share),
    },
}

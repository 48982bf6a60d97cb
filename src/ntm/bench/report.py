"""Results as tables: for a terminal, as plain text, and in Markdown."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ntm.bench.overhead import Overhead
from ntm.bench.results import Results
from ntm.bench.sections import Growth, Share, Speedup, Threads
from ntm.bench.timing import Spread


@dataclass(frozen=True)
class Table:
    """Cells of text, with a line above that says what they are."""

    title: str
    header: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    texts: int = 1
    """So many columns hold words, the others numbers."""


def tables(results: Results) -> list[Table]:
    """One table per section that was measured."""
    return [_TABLES[name](rows) for name, rows in results.sections.items()]


def as_text(results: Results) -> str:
    """Aligned columns, without any markup."""
    return "\n\n".join([_introduction(results), *map(_aligned, tables(results))])


def as_markdown(results: Results) -> str:
    """Tables for a document."""
    return "\n\n".join([_introduction(results), *map(_markdown, tables(results))])


def print_tables(results: Results) -> None:
    """Show the tables on a terminal."""
    from rich.box import SIMPLE
    from rich.console import Console
    from rich.table import Table as RichTable

    console = Console(highlight=False)
    console.print(_introduction(results))
    for table in tables(results):
        shown = RichTable(box=SIMPLE)
        for number, name in enumerate(table.header):
            heading = name.replace(", ", "\n")
            shown.add_column(heading, justify="left" if number < table.texts else "right")
        for row in table.rows:
            shown.add_row(*row)
        console.print(f"\n{table.title}", style="bold")
        console.print(shown)


def _introduction(results: Results) -> str:
    on = results.machine
    return (
        f"{on['processor']}, {on['cores']} cores, {on['instructions']} instructions, torch "
        f"{on['torch']}, ntm {on['ntm']}; medians of {results.effort.rounds} rounds, quartiles in "
        f"brackets."
    )


def _aligned(table: Table) -> str:
    rows = [table.header, *table.rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [table.title]
    for row in rows:
        cells = [
            cell.ljust(width) if number < table.texts else cell.rjust(width)
            for number, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def _markdown(table: Table) -> str:
    rule = ["---" if number < table.texts else "---:" for number in range(len(table.header))]
    lines = [f"| {' | '.join(row)} |" for row in (table.header, rule, *table.rows)]
    return "\n".join([f"**{table.title}**", "", *lines])


def _speedup(rows: Sequence[Speedup]) -> Table:
    cells = [
        (
            f"{row.task} {row.model}",
            f"{row.batch_size}",
            _milliseconds(row.native_seconds),
            _milliseconds(row.reference_seconds),
            _times(row.ratio),
        )
        for row in rows
    ]
    header = ("network", "batch", "native, ms", "reference, ms", "times faster")
    return Table("Whole training steps, one thread: native against reference", header, cells)


def _sgemm(rows: Sequence[Share]) -> Table:
    cells = [
        (
            f"{row.task} {row.model}",
            f"{row.batch_size}",
            f"{row.flops / 1e6:,.1f}",
            f"{row.native_rate / 1e9:.1f}",
            f"{row.product_rate / 1e9:.1f}",
            _percent(row.share),
        )
        for row in rows
    ]
    header = ("network", "batch", "step, Mflop", "native, Gflop/s", "torch.mm, Gflop/s", "share")
    return Table("Share of one core's speed at float32 matrix products", header, cells)


def _growth(rows: Sequence[Growth]) -> Table:
    cells = [
        (
            row.axis,
            f"{row.size:,}",
            _milliseconds(row.seconds),
            "" if row.times_longer is None else _times(row.times_longer),
            "" if row.times_flops is None else f"{row.times_flops:.2f}",
        )
        for row in rows
    ]
    header = ("axis", "size", "native, ms", "time, doubled", "operations, doubled")
    title = "Growth of a training step, one thread: how many times more than at half the size"
    return Table(title, header, cells)


def _threads(rows: Sequence[Threads]) -> Table:
    cells = [
        (
            f"{row.task} {row.model}",
            f"{row.batch_size}",
            _milliseconds(row.one_seconds),
            _milliseconds(row.two_seconds),
            _times(row.ratio),
            _times(row.machine),
        )
        for row in rows
    ]
    header = ("network", "batch", "one, ms", "two, ms", "times faster", "two trainings at once")
    return Table("Two threads against one", header, cells)


def _overhead(rows: Sequence[Overhead]) -> Table:
    cells = [
        (
            f"{row.task} {row.model}",
            _microseconds(row.seconds),
            _microseconds(row.kernel_seconds),
            _microseconds(row.sampling_seconds),
            _percent(row.share),
        )
        for row in rows
    ]
    header = ("network", "all, us", "kernels, us", "sampling, us", "outside kernels")
    return Table("A sequence in ntm train, batch size 1", header, cells)


_TABLES: dict[str, Callable[[Any], Table]] = {
    "speedup": _speedup,
    "sgemm": _sgemm,
    "growth": _growth,
    "threads": _threads,
    "overhead": _overhead,
}


def _milliseconds(seconds: float) -> str:
    return f"{_three_digits(seconds * 1e3)}"


def _microseconds(seconds: float) -> str:
    return f"{seconds * 1e6:.1f}"


def _times(spread: Spread) -> str:
    middle, *quartiles = map(
        _three_digits, (spread.median, spread.lower_quartile, spread.upper_quartile)
    )
    return f"{middle} ({' to '.join(quartiles)})"


def _percent(spread: Spread) -> str:
    return f"{spread.median:.1%} ({spread.lower_quartile:.1%} to {spread.upper_quartile:.1%})"


def _three_digits(value: float) -> str:
    """Three significant digits without an exponent."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"

"""Sections of a benchmark, and results as plain data and as tables (terminal, Markdown)."""

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ntm.bench.timing import Quartiles
from ntm.terminal.table import Table

FORMAT = 1
Note = Callable[[str], None]
"""Function that is called with a description of each measurement as it starts."""
Columns = Mapping[str, Callable[[Any], str]]
"""Text of every cell of a row, by the heading of its column."""


@dataclass(frozen=True)
class Section:
    """One table of a benchmark."""

    title: str
    columns: Columns
    measure: Callable[[Any, Note], Sequence[Any]]
    """Function that returns the rows, each a dataclass, from the effort and a Note."""


@dataclass(frozen=True)
class BenchResults:
    """All results of a benchmark."""

    machine: dict[str, str | int]
    effort: Any
    sections: Mapping[str, Section]
    rows: dict[str, Sequence[Any]]
    """Rows of every measured section."""

    def to_json(self) -> dict[str, Any]:
        """Return plain data; times are in seconds, rates in operations per second."""
        measured = {name: [asdict(row) for row in rows] for name, rows in self.rows.items()}
        effort = {"rounds": self.effort.rounds, "slice_seconds": self.effort.slice_seconds}
        return {"format": FORMAT, "machine": self.machine, "effort": effort, "sections": measured}

    def tables(self) -> list[Table]:
        """Return one table per measured section."""
        return [_table(self.sections[name], rows) for name, rows in self.rows.items()]

    def as_markdown(self) -> str:
        """Return the tables in Markdown."""
        return "\n\n".join([self._introduction(), *(t.as_markdown() for t in self.tables())])

    def print(self) -> None:
        """Print the tables on the terminal."""
        print(self._introduction())
        for table in self.tables():
            print()
            table.print(sys.stdout)

    def _introduction(self) -> str:
        on = self.machine
        return (
            f"{on['processor']}, {on['cores']} cores, {on['instructions']} instructions, torch "
            f"{on['torch']}, ntm {on['ntm']}; medians of {self.effort.rounds} rounds, quartiles in "
            f"brackets."
        )


def _table(section: Section, rows: Sequence[Any]) -> Table:
    cells = [tuple(cell(row) for cell in section.columns.values()) for row in rows]
    return Table(section.title, tuple(section.columns), cells)


def milliseconds(seconds: float) -> str:
    """Format a time in milliseconds."""
    return _three_digits(seconds * 1e3)


def times(spread: Quartiles) -> str:
    """Format a ratio with its quartiles."""
    middle, *quartiles = map(
        _three_digits, (spread.median, spread.lower_quartile, spread.upper_quartile)
    )
    return f"{middle} ({' to '.join(quartiles)})"


def _three_digits(value: float) -> str:
    """Format a number with three significant digits and without an exponent."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


NETWORK: Columns = {"network": lambda row: f"{row.task} {row.model}"}
"""Column of the network."""
BATCH: Columns = {**NETWORK, "batch": lambda row: f"{row.batch_size}"}
"""Columns of the network and the batch size."""

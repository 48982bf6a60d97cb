"""Tables of text: aligned columns, terminal output and Markdown.

In cells for Markdown, `code` stands between backticks.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TextIO


@dataclass(frozen=True)
class Table:
    """Cells of text, with a title above and a note below."""

    title: str
    header: tuple[str, ...]
    """Headings of the columns; may be empty, except for Markdown."""
    rows: Sequence[tuple[str, ...]]
    texts: int = 1
    """Number of columns of words, on the left; the other columns are right-aligned numbers."""
    note: str = ""

    @classmethod
    def of(cls, rows: Sequence[Mapping[str, str]], **options: Any) -> "Table":
        """Return a table of rows, each a mapping from heading to cell.

        options: further fields of the table.
        """
        header = tuple(rows[0]) if rows else ()
        options = {"title": "", **options}
        return cls(header=header, rows=[tuple(row.values()) for row in rows], **options)

    def as_text(self) -> str:
        """Return aligned columns without markup."""
        rows = [self.header, *self.rows] if self.header else list(self.rows)
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        columns = range(len(widths))
        lines = ["  ".join(map(self._padded, columns, row, widths)).rstrip() for row in rows]
        return "\n".join(part for part in (self.title, *lines, self.note) if part)

    def print(self, stream: TextIO) -> None:
        """Print the table: on a terminal, fitted to the width; elsewhere, with full lines."""
        if not stream.isatty():
            print(self.as_text(), file=stream)
            return
        from rich.console import Console

        Console(file=stream, highlight=False, markup=False).print(self._as_rich())

    def _as_rich(self) -> Any:
        """Return the table for rich, with headings that break after a comma."""
        from rich.box import SIMPLE
        from rich.table import Table as RichTable

        look = {"title_justify": "left", "title_style": "bold"}
        table = RichTable(box=SIMPLE, title=self.title or None, **look)  # type: ignore[arg-type]
        for number, name in enumerate(self.header):
            heading = name.replace(", ", "\n")
            table.add_column(heading, justify="left" if self.is_text(number) else "right")
        for row in self.rows:
            table.add_row(*row)
        return table

    def as_markdown(self) -> str:
        """Return the table as Markdown for GitHub."""
        marks = ("---" if self.is_text(number) else "---:" for number in range(len(self.header)))
        lines = [self.header, tuple(marks), *self.rows]
        table = "\n".join(f"| {' | '.join(map(_escaped, line))} |" for line in lines)
        title = f"**{self.title}**" if self.title else ""
        return "\n\n".join(part for part in (title, table, self.note) if part)

    def _padded(self, number: int, cell: str, width: int) -> str:
        return cell.ljust(width) if self.is_text(number) else cell.rjust(width)

    def is_text(self, number: int) -> bool:
        """Return whether a column is aligned as text."""
        return number < self.texts or self.header[number : number + 1] == (COMMAND,)


COMMAND = "command"
"""Heading of a column of commands, which is aligned as text."""


def _escaped(cell: str) -> str:
    return cell.replace("|", "\\|")

"""A table of text, as Markdown and as HTML. In a cell, `code` stands between backticks."""

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Table:
    """Cells of text, with a line above that says what they are and a note below."""

    title: str
    header: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    texts: int = 1
    """So many columns at the left hold words; numbers follow, aligned at the right."""
    note: str = ""

    def as_markdown(self) -> str:
        """For a document on GitHub."""
        marks = ("---" if self._is_text(number) else "---:" for number in range(len(self.header)))
        lines = [self.header, tuple(marks), *self.rows]
        table = "\n".join(f"| {' | '.join(map(_escaped, line))} |" for line in lines)
        return "\n\n".join(part for part in (self.title, table, self.note) if part)

    def as_html(self) -> str:
        """A figure element of HTML."""
        head = "".join(self._cell("th", cell, number) for number, cell in enumerate(self.header))
        body = "\n".join(
            f"<tr>{''.join(self._cell('td', cell, n) for n, cell in enumerate(row))}</tr>"
            for row in self.rows
        )
        title = f"<figcaption>{as_html(self.title)}</figcaption>" if self.title else ""
        note = f'<p class="note">{as_html(self.note)}</p>' if self.note else ""
        return (
            f'<figure class="table">{title}<div class="scroll"><table>\n<thead><tr>{head}</tr>'
            f"</thead>\n<tbody>\n{body}\n</tbody></table></div>{note}</figure>"
        )

    def _cell(self, tag: str, text: str, number: int) -> str:
        kind = "" if self._is_text(number) else ' class="number"'
        return f"<{tag}{kind}>{as_html(text)}</{tag}>"

    def _is_text(self, number: int) -> bool:
        return number < self.texts or self.header[number] == COMMAND


COMMAND = "command"
"""The heading of a column of commands, which are text wherever it stands."""


def as_html(text: str) -> str:
    """Text with `code` between backticks, safe to put into a page; a range gets its own line."""
    coded = re.sub(r"`([^`]*)`", r"<code>\1</code>", html.escape(text))
    return re.sub(r" (\([^()]* to [^()]*\))", r' <span class="range">\1</span>', coded)


def _escaped(cell: str) -> str:
    return cell.replace("|", "\\|")

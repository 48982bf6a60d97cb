"""Text pictures of problems: time runs to the right, one row per channel.

A full block is a one, and a dot is a zero. Real numbers are bars: the larger, the taller. A blank
is a step that is not scored. A wrong bit of an answer is a digit, 0 or 1, with a caret below.
Symbols fill one row: the name of the symbol at every step, and a dot at a step without a symbol.
"""

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

ONE = "\N{FULL BLOCK}"
ZERO = "\N{MIDDLE DOT}"
BARS = "".join(chr(0x2581 + eighths) for eighths in range(8))
BLANK = " "


class Row(NamedTuple):
    """One line of a picture: a section, a channel name, and one text per time step."""

    section: str
    label: str
    cells: Sequence[str]


def bar(value: float, low: float, high: float) -> str:
    """Return a character: a bar whose height shows the value on a scale from low to high."""
    if math.isnan(value):
        return "?"
    height = int((value - low) / (high - low) * len(BARS))
    return BARS[min(max(height, 0), len(BARS) - 1)]


def values(channel: Sequence[float]) -> str:
    """Draw a channel of the input: blocks and dots for binary values, bars for other values."""
    if set(channel) <= {0.0, 1.0}:
        return "".join(ONE if value else ZERO for value in channel)
    reach = max(abs(value) for value in channel)
    return "".join(bar(value, -reach, reach) if value else ZERO for value in channel)


def target(channel: Sequence[float], scored: Sequence[float]) -> str:
    """Draw a channel of the target; steps that are not scored are blank."""
    cells = zip(channel, scored, strict=True)
    return "".join((ONE if bit else ZERO) if counts else BLANK for bit, counts in cells)


def answer(logits: Sequence[float], channel: Sequence[float], scored: Sequence[float]) -> str:
    """Draw a channel of an answer; wrong bits are digits, steps that are not scored are blank."""
    cells = zip(logits, channel, scored, strict=True)
    return "".join(_answer_bit(logit, bit) if counts else BLANK for logit, bit, counts in cells)


def carets(answers: Iterable[Sequence[str]]) -> str:
    """Draw a caret under every step at which the answer of some channel is wrong."""
    return "".join("^" if set(step) & set("01?") else BLANK for step in zip(*answers, strict=True))


def channels(section: str, names: Sequence[str], inputs: Sequence[Sequence[float]]) -> list[Row]:
    """Return a row for every channel of the input.

    inputs: the values of each channel over time.
    """
    named = zip(names, inputs, strict=True)
    return [Row(section, name, values(channel)) for name, channel in named]


def answers(
    names: Sequence[str],
    targets: Sequence[Sequence[float]],
    scored: Sequence[float],
    logits: Sequence[Sequence[float]] | None,
) -> list[Row]:
    """Return the rows of the target and, given logits, of the answer, with its mistakes marked."""
    rows = [Row("target", n, target(bits, scored)) for n, bits in zip(names, targets, strict=True)]
    if logits is None:
        return rows
    said = [
        Row("answer", name, answer(channel, bits, scored))
        for name, channel, bits in zip(names, logits, targets, strict=True)
    ]
    return [*rows, *said, *_wrong(carets(row.cells for row in said))]


def symbols(section: str, names: Sequence[str], inputs: Sequence[Sequence[float]]) -> list[Row]:
    """Return a row with the symbol of every step; the arguments are as for `channels`."""
    steps = zip(*inputs, strict=True)
    return [Row(section, "symbol", [_symbol(names, step) if any(step) else ZERO for step in steps])]


def symbol_answers(
    names: Sequence[str],
    targets: Sequence[Sequence[float]],
    scored: Sequence[float],
    logits: Sequence[Sequence[float]] | None,
) -> list[Row]:
    """Return a row for the target and, given logits, the answer; carets mark its mistakes."""

    def row(section: str, values: Sequence[Sequence[float]]) -> Row:
        steps = zip(zip(*values, strict=True), scored, strict=True)
        return Row(
            section, "symbol", [_symbol(names, s) if counts else BLANK for s, counts in steps]
        )

    asked = row("target", targets)
    if logits is None:
        return [asked]
    said = row("answer", logits)
    pairs = zip(asked.cells, said.cells, strict=True)
    return [asked, said, *_wrong("".join(BLANK if a == b else "^" for a, b in pairs))]


INPUTS = {"bits": channels, "symbols": symbols}
"""Functions that draw inputs of each kind."""
ANSWERS = {"bits": answers, "symbols": symbol_answers}
"""Functions that draw targets and answers of each kind."""


def fold(rows: Sequence[Row], columns: int = 100) -> str:
    """Return the rows as aligned text; time steps beyond `columns` follow in panels below."""
    longest = max((len(cell) for row in rows for cell in row.cells), default=1)
    width = longest + (longest > 1)
    columns = max(columns // width, 1)
    section = max(len(row.section) for row in rows)
    label = max(len(row.label) for row in rows)
    panels = []
    for start in range(0, len(rows[0].cells), columns):
        lines, named = [], ""
        for row in rows:
            heading = row.section if row.section != named else ""
            named = row.section
            cells = "".join(f"{cell:<{width}}" for cell in row.cells[start : start + columns])
            lines.append(f"{heading:<{section}}  {row.label:<{label}}  {cells}".rstrip())
        panels.append("\n".join(lines))
    return "\n\n".join(panels)


def _wrong(marks: str) -> list[Row]:
    return [Row("", "wrong", marks)] if marks.strip() else []


def _symbol(names: Sequence[str], step: Sequence[float]) -> str:
    """Return the name of the largest channel, with visible spaces."""
    if any(map(math.isnan, step)):
        return "?"
    return names[max(range(len(names)), key=step.__getitem__)].replace(" ", "\N{OPEN BOX}")


def _answer_bit(logit: float, bit: float) -> str:
    if math.isnan(logit):
        return "?"
    said = logit > 0
    if said == bool(bit):
        return ONE if said else ZERO
    return "1" if said else "0"

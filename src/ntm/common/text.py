"""What errors, tables and progress displays say, each in one place."""

import difflib
import statistics
from collections.abc import Callable, Iterable, Sequence
from typing import Any


def unknown(what: str, name: str, known: Iterable[str]) -> str:
    """The sentence for a name that is not among the known ones, with the likeliest of them."""
    known = list(known)
    close = difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean {close[0]!r}? " if close else ""
    return f"There is no {what} called {name!r}; {hint}Known: {', '.join(known)}."


def duration(seconds: float) -> str:
    """A time as people say it: 45 s, 3 min 20 s, 2 h 05 min."""
    if seconds == float("inf"):
        return "?"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02} min"


def plain(value: Any) -> str:
    """A setting as one would type it: 1,2,3 for a tuple, true, none."""
    if isinstance(value, list | tuple):
        return ",".join(map(plain, value))
    return str(value).lower() if isinstance(value, bool) or value is None else str(value)


def bits_text(bits: float) -> str:
    """A cost with about as many digits as it deserves."""
    return f"{bits:.{1 if bits >= 100 else 2 if bits >= 1 else 4}f}"


def percent(share: float) -> str:
    """A share as a percentage, never rounded up to all: 99.97 % is not 100 %."""
    return f"{int(1000 * share + 1e-9) / 10:g} %"


def spread(values: Sequence[float], text: Callable[[float], str]) -> str:
    """The median and the range of some values; if they look the same, just that."""
    middle, low, high = map(text, (statistics.median(values), min(values), max(values)))
    return middle if low == high else f"{middle} ({low} to {high})"

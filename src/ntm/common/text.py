"""What errors, tables and progress displays say, each in one place."""

import difflib
from collections.abc import Iterable


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

"""Wording shared by errors, tables and progress displays.

`ntm --help` imports this module, so slow modules are imported where they are needed.
"""

import math
from collections.abc import Callable, Iterable, Sequence

_SYNONYMS = {
    "batch": "batch_size",
    "cuda": "device",
    "epochs": "sequences",
    "gpu": "device",
    "hidden_size": "controller_size",
    "iterations": "sequences",
    "lr": "learning_rate",
    "steps": "sequences",
}
"""Names of our settings in other programs."""


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the likeliest known name: `--seed` for `--sed`, optimiser.learning_rate for `lr`."""
    import difflib

    by_word = {_word(option): option for option in reversed(list(known))}
    word = _word(name)
    meant = word if word in by_word else _SYNONYMS.get(word, word)
    close = difflib.get_close_matches(meant, by_word, n=1)
    return by_word[close[0]] if close else None


def _word(name: str) -> str:
    """Return the bare name: batch_size for --batch-size and for training.batch_size."""
    return name.lstrip("-").rpartition(".")[2].replace("-", "_")


def unknown(what: str, name: str, known: Iterable[str]) -> str:
    """Return the error message for an unknown name, with the likeliest known name as a hint."""
    known = list(known)
    close = nearest(name, known)
    hint = f"; did you mean {close!r}?" if close else "."
    return f"There is no {what} called {name!r}{hint} Known: {', '.join(known)}."


def first_line(error: Exception) -> str:
    """Return the first line of an error message, without a full stop."""
    return str(error).strip().partition("\n")[0].rstrip(".")


def duration(seconds: float) -> str:
    """Format a duration: 45 s, 3 min 20 s, 2 h 05 min."""
    if seconds == float("inf"):
        return "?"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02} min"


def bits_text(bits: float) -> str:
    """Format a cost with a sensible number of digits."""
    return f"{bits:.{1 if bits >= 100 else 2 if bits >= 1 else 4}f}"


def percent(share: float) -> str:
    """Format a share as a percentage, rounded down: 99.97 % is not 100 %."""
    return f"{int(1000 * share + 1e-9) / 10:g} %"


def sure(reached: int, count: int) -> str:
    """Format a count of successes with Wilson's 95 % interval: 9 of 10 (60 to 98 %)."""
    low, high = (round(100 * bound) for bound in wilson_interval(reached, count))
    return f"{reached} of {count} ({low} to {high} %)"


def wilson_interval(reached: int, count: int) -> tuple[float, float]:
    """Return Wilson's score interval for a share: with 95 % confidence, the true share is inside.

    The interval of Wilson (1927) stays within 0 and 1 and is useful for small counts.
    """
    import statistics

    z = statistics.NormalDist().inv_cdf(0.975)
    share, weight = reached / count, z * z / count
    middle = share + weight / 2
    half = math.sqrt(weight * (share * (1 - share) + weight / 4))
    return max(0.0, (middle - half) / (1 + weight)), min(1.0, (middle + half) / (1 + weight))


def spread(values: Sequence[float], text: Callable[[float], str]) -> str:
    """Format the median and the range of values; only the median if smallest and largest agree."""
    import statistics

    middle, low, high = map(text, (statistics.median(values), min(values), max(values)))
    return middle if low == high else f"{middle} ({low} to {high})"

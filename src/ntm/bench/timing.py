"""Timing of contestants that take turns in small slices; results are ratios with their spread.

A busy or hot machine slows all programs at that moment. If contestants take turns, all of them
become slower, so the ratio within one round stays the same. On one thread, processor time is
measured, so that other programs do not count.
"""

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

Work = Callable[[int], object]
"""Function to time; its argument is the number of the round."""
Timer = Callable[[], float]


@dataclass(frozen=True)
class Quartiles:
    """Median, quartiles and range over several rounds."""

    median: float
    lower_quartile: float
    upper_quartile: float
    lowest: float
    highest: float
    rounds: int

    @classmethod
    def of(cls, values: Sequence[float]) -> Self:
        """Return the quartiles of the values; there must be at least one value."""
        if not values:
            raise ValueError("values is empty; a spread needs at least one round.")
        lower, upper = values[0], values[0]
        if len(values) > 1:
            lower, _, upper = statistics.quantiles(values, n=4, method="inclusive")
        middle = statistics.median(values)
        return cls(middle, lower, upper, min(values), max(values), len(values))


def spread_of_ratios(over: Sequence[float], under: Sequence[float]) -> Quartiles:
    """Return the spread of the ratios of two contestants, round by round."""
    return Quartiles.of([a / b for a, b in zip(over, under, strict=True)])


def alternate(
    contestants: Mapping[str, Work],
    rounds: int,
    slice_seconds: float,
    clock: Timer = time.process_time,
) -> dict[str, list[float]]:
    """Return the seconds that each contestant takes to do its work once, for every round.

    A fast contestant repeats its work until its slice lasts about `slice_seconds`. Each round
    starts with another contestant. A warm-up round finds the number of repeats.

    clock: processor time by default; use `time.perf_counter` for work on several threads.
    """
    repeats = {name: _repeats(work, slice_seconds, clock) for name, work in contestants.items()}
    seconds: dict[str, list[float]] = {name: [] for name in contestants}
    names = list(contestants)
    for number in range(rounds):
        first = number % len(names)
        for name in names[first:] + names[:first]:
            taken = _seconds(contestants[name], number, repeats[name], clock)
            seconds[name].append(taken / repeats[name])
    return seconds


def _repeats(work: Work, slice_seconds: float, clock: Timer) -> int:
    once = _seconds(work, 0, 1, clock)
    if once < slice_seconds:  # with cold caches, a short measurement is unreliable
        once = _seconds(work, 0, 1, clock)
    return max(1, round(slice_seconds / max(once, 1e-9)))


def _seconds(work: Work, number: int, repeats: int, clock: Timer) -> float:
    start = clock()
    for _ in range(repeats):
        work(number)
    return clock() - start

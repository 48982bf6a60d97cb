"""What a person sees while a run goes on: a bar on a terminal, a line now and then elsewhere."""

import sys
from typing import Any, NamedTuple, Protocol, TextIO

from ntm.common.text import duration
from ntm.training.parallel import leads


class Status(NamedTuple):
    """Where a run stands."""

    sequences: int
    total: int
    bits: float | None
    """Mean cost per sequence lately; None before there is any."""
    speed: float
    """Sequences per second, lately."""


class Progress(Protocol):
    """Somewhere to show progress."""

    interval: float
    """Seconds between two updates; the loop calls no more often."""
    pictures: bool
    """Whether `picture` shows anything."""

    def note(self, text: str) -> None:
        """Say one thing."""

    def update(self, status: Status) -> None:
        """Show where the run stands."""

    def picture(self, text: str) -> None:
        """Show an example."""

    def close(self) -> None:
        """Leave the terminal as it was."""


class Silent:
    """Shows nothing."""

    interval, pictures = 3600.0, False

    def note(self, text: str) -> None:
        """Say nothing."""

    def update(self, status: Status) -> None:
        """Show nothing."""

    def picture(self, text: str) -> None:
        """Show nothing."""

    def close(self) -> None:
        """Nothing to leave behind."""


class Lines:
    """A plain line every few seconds, for logs and pipes."""

    interval, pictures = 5.0, False

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def note(self, text: str) -> None:
        """Print one line."""
        print(text, file=self._stream, flush=True)

    def update(self, status: Status) -> None:
        """Print where the run stands."""
        self.note(
            f"{status.sequences:,} of {status.total:,} sequences, {_cost(status)}, "
            f"{status.speed:,.0f} sequences/s, {duration(_seconds_left(status))} left"
        )

    def picture(self, text: str) -> None:
        """Print the picture."""
        self.note(text)

    def close(self) -> None:
        """Nothing to leave behind."""


class Bar:
    """A progress bar that stays at the foot of a terminal."""

    interval, pictures = 0.2, True

    def __init__(self, stream: TextIO) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn

        columns = (
            TextColumn("{task.percentage:>3.0f}%"),
            BarColumn(),
            TextColumn("{task.fields[cost]}, {task.fields[speed]}, {task.fields[left]} left"),
        )
        console = Console(file=stream, highlight=False, markup=False)
        self._progress: Any = Progress(*columns, console=console, auto_refresh=False)
        self._bar = self._progress.add_task("", total=None, cost="starting", speed="", left="?")
        self._progress.start()

    def note(self, text: str) -> None:
        """Print one line above the bar."""
        self._progress.console.print(text)

    def update(self, status: Status) -> None:
        """Move the bar."""
        self._progress.update(
            self._bar,
            completed=status.sequences,
            total=status.total,
            cost=_cost(status),
            speed=f"{status.speed:,.0f} sequences/s",
            left=duration(_seconds_left(status)),
            refresh=True,
        )

    def picture(self, text: str) -> None:
        """Print the picture above the bar."""
        self._progress.console.print(text, soft_wrap=True)

    def close(self) -> None:
        """Stop drawing and leave the last state of the bar."""
        self._progress.stop()


def make_progress(stream: TextIO | None = None) -> Progress:
    """A bar on a terminal, plain lines elsewhere; of several ranks of a run, only one shows any."""
    if not leads():
        return Silent()
    stream = sys.stdout if stream is None else stream
    return Bar(stream) if stream.isatty() else Lines(stream)


def _seconds_left(status: Status) -> float:
    left = max(status.total - status.sequences, 0)
    if left == 0:
        return 0.0
    return left / status.speed if status.speed > 0 else float("inf")


def _cost(status: Status) -> str:
    return "no cost yet" if status.bits is None else f"{status.bits:.3f} bits per sequence"

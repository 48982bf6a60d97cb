"""Progress of a run: a bar on a terminal, a line every few seconds elsewhere."""

import sys
from typing import Any, NamedTuple, TextIO

from ntm.common.text import duration
from ntm.terminal.display import ProgressDisplay
from ntm.training.parallel import leads


class Status(NamedTuple):
    """Progress of a run at one moment."""

    sequences: int
    total: int
    bits: float | None
    """Recent mean cost per sequence; None at the start."""
    speed: float
    """Recent sequences per second."""
    start: int = 0
    """Number of the start on trial, from 1, with `total` the end of its trial; 0: no trials."""


class Progress:
    """Display for the progress of a run; this base class shows nothing."""

    interval = 3600.0
    """Seconds between two updates."""
    pictures = False
    """Whether `picture` shows anything."""

    def note(self, text: str) -> None:
        """Print a permanent line."""

    def update(self, status: Status) -> None:
        """Show the progress of the run."""

    def picture(self, text: str) -> None:
        """Show an example."""

    def close(self) -> None:
        """Restore the terminal."""


class Shown(Progress):
    """Progress as a bar at the bottom of a terminal, or as lines every few seconds in a log."""

    def __init__(self, display: ProgressDisplay) -> None:
        self.pictures = display.is_terminal
        self.interval = 0.2 if display.is_terminal else 5.0
        self._display = display

    def note(self, text: str) -> None:
        """Print a permanent line."""
        self._display.note(text)

    picture = note

    def update(self, status: Status) -> None:
        """Move the bar, or print a line."""
        self._display.show(
            lambda: f"{_place(status)}{_count(status)}, {_in_words(status)}",
            lambda: _bar(status),
        )

    def close(self) -> None:
        """Stop drawing; the last state of the bar stays."""
        self._display.close()


def make_progress(stream: TextIO | None = None) -> Progress:
    """Return a bar on a terminal, or plain lines elsewhere; only one rank of a run shows any."""
    return Shown(ProgressDisplay(stream or sys.stdout)) if leads() else Progress()


def _bar(status: Status) -> Any:
    from rich.progress_bar import ProgressBar
    from rich.table import Table

    row = Table.grid(padding=(0, 1), expand=True)
    row.add_column(no_wrap=True)
    row.add_column(ratio=1)  # the rest of the line
    row.add_column(no_wrap=True)
    share = status.sequences / status.total
    row.add_row(f"{_place(status)}{share:4.0%}", ProgressBar(1, share), _in_words(status))
    return row


def _place(status: Status) -> str:
    return f"start {status.start}: " if status.start else ""


def _count(status: Status) -> str:
    return f"{status.sequences:,} of {status.total:,} sequences"


def _in_words(status: Status) -> str:
    left = duration(_seconds_left(status))
    return f"{_cost(status)}, {status.speed:,.0f} sequences/s, {left} left"


def _seconds_left(status: Status) -> float:
    left = max(status.total - status.sequences, 0)
    if left == 0:
        return 0.0
    return left / status.speed if status.speed > 0 else float("inf")


def _cost(status: Status) -> str:
    return "no cost yet" if status.bits is None else f"{status.bits:.3f} bits per sequence"

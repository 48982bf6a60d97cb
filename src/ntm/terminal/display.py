"""Progress of a command: a live picture on a terminal, occasional lines in a log."""

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, TextIO


class ProgressDisplay(AbstractContextManager["ProgressDisplay"]):
    """Display for progress of any kind.

    stream: where to print.
    every: least number of seconds between two lines of a log (0).
    delay: seconds before the first line of a log (0).
    keep: leave the last picture on the terminal (True).
    """

    def __init__(
        self, stream: TextIO, every: float = 0.0, delay: float = 0.0, *, keep: bool = True
    ) -> None:
        self._stream, self._every, self._due = stream, every, time.monotonic() + delay
        self._live = _on_terminal(stream, keep) if stream.isatty() else None

    @property
    def is_terminal(self) -> bool:
        """Whether the display draws pictures instead of lines."""
        return self._live is not None

    @property
    def height(self) -> int:
        """Number of lines of the terminal; 0 for a log."""
        return self._live.console.height if self._live else 0

    def note(self, text: str) -> None:
        """Print a permanent line."""
        if self._live:
            self._live.console.print(text, soft_wrap=True)
        else:
            print(text, file=self._stream, flush=True)

    def show(self, line: Callable[[], str], picture: Callable[[], Any], now: bool = False) -> None:
        """Draw the picture on a terminal; in a log, print the line if it is due or `now` is set."""
        if self._live:
            self._live.update(picture(), refresh=True)
        elif now or time.monotonic() >= self._due:
            self._due = time.monotonic() + self._every
            self.note(line())

    def close(self) -> None:
        """Stop drawing."""
        if self._live:
            self._live.stop()

    def __exit__(self, *error: object) -> None:
        self.close()


def _on_terminal(stream: TextIO, keep: bool) -> Any:
    from rich.console import Console
    from rich.live import Live

    console = Console(file=stream, highlight=False, markup=False)
    live = Live(console=console, auto_refresh=False, transient=not keep)
    live.start()
    return live

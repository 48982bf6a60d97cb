"""Progress of a command: bars on a terminal, occasional lines in a log."""

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, TextIO

Bar = tuple[str, float, str]
"""Name of a bar, the share that is done, and text after the bar."""


class ProgressDisplay(AbstractContextManager["ProgressDisplay"]):
    """Display for progress of any kind.

    stream: stream to print to, a terminal or a log.
    every: smallest number of seconds between two lines of a log (0).
    delay: seconds before the first line of a log (0).
    keep: whether the last bars stay on the terminal (True).
    """

    def __init__(
        self, stream: TextIO, every: float = 0.0, delay: float = 0.0, *, keep: bool = True
    ) -> None:
        self._stream, self._every, self._due = stream, every, time.monotonic() + delay
        self._bars = _on_terminal(stream, keep) if stream.isatty() else None

    @property
    def is_terminal(self) -> bool:
        """Whether the display draws bars instead of lines."""
        return self._bars is not None

    @property
    def height(self) -> int:
        """Number of lines of the terminal; 0 for a log."""
        return self._bars.console.height if self._bars else 0

    def note(self, text: str) -> None:
        """Print a permanent line."""
        if self._bars:
            self._bars.console.print(text, soft_wrap=True)
        else:
            print(text, file=self._stream, flush=True)

    def show(
        self,
        line: str,
        bars: Sequence[Bar] = (),
        below: Callable[[], Sequence[Any]] = tuple,
        now: bool = False,
    ) -> None:
        """Draw bars, and rich objects below them; in a log, print the line when it is due."""
        if self._bars:
            self._bars.draw(bars, below())
        elif now or time.monotonic() >= self._due:
            self._due = time.monotonic() + self._every
            self.note(line)

    def close(self) -> None:
        """Stop drawing."""
        if self._bars:
            self._bars.stop()

    def __exit__(self, *error: object) -> None:
        self.close()


def _on_terminal(stream: TextIO, keep: bool) -> Any:
    """Start bars and return them; rich is imported here because only a terminal needs it."""
    from rich import progress
    from rich.console import Console

    class Bars(progress.Progress):
        below: Sequence[Any] = ()

        def draw(self, bars: Sequence[Bar], below: Sequence[Any]) -> None:
            self.below = below
            for number, (name, share, text) in enumerate(bars):
                if number == len(self.tasks):
                    self.add_task("", total=1.0, text="")
                task = self.task_ids[number]
                self.update(task, description=name, completed=share, text=text)
            self.refresh()

        def get_renderables(self) -> Any:
            yield from (*super().get_renderables(), *self.below)

    texts = ("{task.description}", "{task.percentage:>3.0f}%", "{task.fields[text]}")
    name, percent, text = (progress.TextColumn(shown, markup=False) for shown in texts)
    console = Console(file=stream, highlight=False, markup=False)
    look: dict[str, Any] = {"auto_refresh": False, "transient": not keep, "expand": True}
    bars = Bars(name, percent, progress.BarColumn(None), text, console=console, **look)
    bars.start()
    return bars

"""The calls of an observer, and when they are made."""

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ntm.training.loop import Trainer

Line = dict[str, Any]


class Observer:
    """Watches a run. A subclass overrides the calls it needs; `run` is the run in progress.

    `run.settings`, `run.model`, `run.folder` (None without one), `run.sequences` (trained so far)
    and `run.planned` (at the end) are what an observer usually asks for.
    """

    interval: float = math.inf
    """Seconds between two calls of `tick`."""
    first: float | None = None
    """Seconds before the first of them; None: an interval."""
    together: bool = False
    """Whether it ticks at the same step in all processes of a run; then all of them have it."""

    def started(self, run: "Trainer") -> None:
        """Training starts or resumes."""

    def block(self, run: "Trainer", sequences: int) -> None:
        """A block of data begins, after so many sequences of this start."""

    def reporting(self, run: "Trainer", line: Line) -> None:
        """A report is being made; add to it what it should hold."""

    def reported(self, run: "Trainer", line: Line) -> None:
        """A report was made."""

    def decided(self, run: "Trainer", verdict: str) -> None:
        """All trials are over; the verdict says which start continues."""

    def tick(self, run: "Trainer") -> None:
        """The interval has passed."""

    def saving(self, run: "Trainer") -> None:
        """A checkpoint is about to be written; what it promises must be on the disk."""

    def ended(self, run: "Trainer") -> None:
        """Training ends, for whatever reason but an error."""

    def close(self) -> None:
        """The last call, errors included."""

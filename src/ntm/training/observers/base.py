"""Base class for observers of a run."""

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ntm.training.loop import Trainer

Line = dict[str, Any]


class Observer:
    """Observer of a run. Subclasses override the calls they need; `run` is the run in progress.

    Useful attributes are `run.settings`, `run.model`, `run.folder` (None without a folder),
    `run.sequences` (sequences so far) and `run.planned` (sequences at the end).
    """

    interval: float = math.inf
    """Seconds between two calls of `tick`."""
    first: float | None = None
    """Seconds before the first call of `tick`; None for one interval."""
    together: bool = False
    """Whether `tick` is called at the same step in all processes; all must have the observer."""

    def started(self, run: "Trainer") -> None:
        """Called when training starts or resumes."""

    def block(self, run: "Trainer", sequences: int) -> None:
        """Called before a block of data, after `sequences` sequences of this start."""

    def reporting(self, run: "Trainer", line: Line) -> None:
        """Called before a report; add facts to its `line`."""

    def reported(self, run: "Trainer", line: Line) -> None:
        """Called after a report."""

    def decided(self, run: "Trainer", verdict: str) -> None:
        """Called after all trials; the verdict says which start continues."""

    def tick(self, run: "Trainer") -> None:
        """Called every `interval` seconds."""

    def saving(self, run: "Trainer") -> None:
        """Called before a checkpoint is written; write pending data to disk."""

    def ended(self, run: "Trainer") -> None:
        """Called when training ends without an error."""

    def close(self) -> None:
        """Called last, also after an error."""

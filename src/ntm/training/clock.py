"""The clock of the training loop: intervals of observers, time limit and signals."""

import math
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ntm.training.observers import Observer
from ntm.training.parallel import Ranks

if TYPE_CHECKING:
    from ntm.training.loop import Trainer


class Clock:
    """Clock that decides when the loop pauses for observers, the time limit or a signal.

    observers: observers of the run.
    ranks: processes of the run.
    seconds_before: training time in earlier processes of the run.
    limit: seconds after which the run stops; None for no limit.
    """

    def __init__(
        self,
        observers: Sequence[Observer],
        ranks: Ranks,
        seconds_before: float,
        limit: float | None,
    ) -> None:
        now = time.perf_counter()
        self._observers, self._ranks = observers, ranks
        self._started = now - seconds_before
        self._deadline = math.inf if limit is None else now + limit
        self._dues = [now + (o.interval if o.first is None else o.first) for o in observers]
        self._next = min(self._deadline, *self._dues)
        self._received: int | None = None
        self.signal: int | None = None
        """Signal that ends the run, once all ranks know about it."""
        self.late = False
        """Whether the time limit has passed."""

    @property
    def seconds(self) -> float:
        """Training time, over all processes of the run."""
        return time.perf_counter() - self._started

    def interrupt(self, number: int) -> None:
        """Stop all ranks together after the current step."""
        self._received = self._received or number

    @property
    def last_signal(self) -> int | None:
        """Signal that ended the run or, with a single rank, arrived while the run was saved."""
        return self.signal or (self._received if self._ranks.size == 1 else None)

    def is_due(self) -> bool:
        """Return whether this process has a reason to pause the loop."""
        return time.perf_counter() >= self._next or self._received is not None

    def attend(self, run: "Trainer") -> None:
        """Call the observers that are due. All ranks save and stop together."""
        now = time.perf_counter()
        due = [now >= due for due in self._dues]
        together = [number for number, o in enumerate(self._observers) if o.together]
        signal, late, *shared = self._ranks.largest(
            self._received or 0, now >= self._deadline, *(due[number] for number in together)
        )
        self.signal, self.late = int(signal) or None, bool(late)
        for number, flag in zip(together, shared, strict=True):
            due[number] = bool(flag)
        for number, observer in enumerate(self._observers):
            if due[number]:
                observer.tick(run)
                self._dues[number] = time.perf_counter() + observer.interval
        self._next = min(self._deadline, *self._dues)

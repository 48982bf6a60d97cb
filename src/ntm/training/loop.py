"""The training loop for any task, model and engine; it stops and resumes bit for bit.

`Step` makes one update, `Stream` provides the data, and `State` is the content of a checkpoint.
Observers do the rest: schedule, validation, logs, checkpoints, pictures and display.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ntm.models import Model
from ntm.runs import Run, RunError, Settings, Stream, full_size
from ntm.tasks import Batch
from ntm.tasks.base import check_targets
from ntm.training.clock import Clock
from ntm.training.observers import Observer
from ntm.training.parallel import Ranks, SharedStep, part_of
from ntm.training.state import State
from ntm.training.step import Step
from ntm.training.trials import end_trial

Ending = Literal["finished", "solved", "out of time", "interrupted"]


@dataclass(frozen=True)
class Result:
    """Result of a run."""

    model: Model
    ending: Ending
    sequences: int
    seconds: float
    bits: float | None
    """Mean cost per sequence in the last report."""
    best_bits: float | None
    """Lowest validation cost."""
    signal: int | None = None
    """Signal that interrupted the run."""
    resumed_at: int = 0
    """Sequences trained on before the run was resumed."""


class Trainer:
    """A run in progress, usually made by `train`."""

    def __init__(
        self,
        settings: Settings,
        state: State,
        folder: Run | None,
        ranks: Ranks,
        observers: Sequence[Observer],
    ) -> None:
        chosen = settings.training
        self.settings, self.part = settings, part_of(settings, ranks)
        self.state, self.folder, self.ranks, self.observers = state, folder, ranks, observers
        self.clock = Clock(observers, ranks, state.counters.seconds, chosen.stop_after_seconds)
        self._step, self._called = self._make_step()
        device = str(next(state.model.parameters()).device)
        self._stream = Stream(
            settings.task, chosen.seed, chosen.batch_size, device=device, bucketed=chosen.bucketed
        )
        self._block: tuple[int, Batch] | None = None
        self.has_trained = False
        """Whether this process has made an update, or diverged in one."""

    @property
    def model(self) -> Model:
        """The network in training, which may have fewer memory locations than the saved one."""
        return self.state.model

    @property
    def sequences(self) -> int:
        """Sequences trained on so far, over all starts."""
        return self.state.starts.others + self.state.counters.sequences

    @property
    def goal(self) -> int:
        """Sequences to train the current start on: a trial, or the whole run."""
        starts = self.state.starts
        return starts.length if starts.deciding else self.settings.training.sequences

    @property
    def planned(self) -> int:
        """Sequences at the end of the run if every start is tried."""
        return self.state.starts.planned_others + self.settings.training.sequences

    def run(self) -> Result:
        """Train until the run ends."""
        self.tell("started")
        resumed_at = self.sequences
        while (ending := self.ending()) is None:
            until = min(self._next_report(), self.goal)
            self._train_until(until)
            if self.state.counters.sequences >= until:
                self._report()
            if self.state.starts.deciding and self.state.counters.sequences >= self.goal:
                self._end_trial()
            if self._called():
                self.clock.attend(self)
        self.tell("ended")
        counters = self.state.counters
        costs = (counters.last_bits, counters.best_bits)
        reached = (ending, self.sequences, counters.seconds, *costs)
        network, stop = full_size(self.model, self.settings), self.clock.last_signal
        return Result(network, *reached, stop, resumed_at)

    def tell(self, event: str, *facts: Any) -> None:
        """Call the method `event` of every observer."""
        for observer in self.observers:
            getattr(observer, event)(self, *facts)

    def diverged(self, reason: str, beyond: int = 0) -> RunError:
        """Return the error for a run that diverged `beyond` sequences after its current count."""
        kept = f" {self.folder.path} keeps its last checkpoint." if self.folder else ""
        return RunError(
            f"Training stopped at sequence {self.sequences + beyond:,}: {reason}{kept} "
            f"Try a smaller optimiser.learning_rate or another training.seed."
        )

    def _make_step(self) -> tuple[Step, Callable[[], bool]]:
        """Return a function for one update, and a function that tells whether something is due."""
        step = self.settings.family.step(self.model, self.state.optimiser)
        if self.ranks.size == 1:
            return step, self.clock.is_due
        shared = SharedStep(step, self.ranks, self.clock.is_due)
        return shared, shared.called

    def ending(self) -> Ending | None:
        """Return why the run has ended; None if it has not."""
        chosen, counters = self.settings.training, self.state.counters
        if not self.state.starts.deciding:
            if counters.sequences >= chosen.sequences:
                return "finished"
            if chosen.stop_when_solved and counters.solved_for >= chosen.solved_window:
                return "solved"
        if self.clock.signal is not None:
            return "interrupted"
        return "out of time" if self.clock.late else None

    def _next_report(self) -> int:
        every = self.settings.training.report_every
        return (self.state.counters.reported // every + 1) * every

    def _train_until(self, goal: int) -> None:
        """Train up to a number of sequences, the end of the block, or until something is due."""
        counters, step, called = self.state.counters, self._step, self._called
        number, first = divmod(counters.sequences, self._stream.block_size)
        block = self._block_at(number)
        last = min(self._stream.block_size, first + goal - counters.sequences)
        batch_size = self.settings.training.batch_size
        bits, stop = counters.bits, first
        try:
            for start in range(first, last, batch_size):
                stop = start + batch_size
                bits += step(block, start, stop)
                if called():
                    break
        except FloatingPointError as error:
            self.has_trained = True
            raise self.diverged(str(error), stop - first) from error
        self.has_trained = True
        counters.bits = bits
        counters.sequences += stop - first

    def _block_at(self, number: int) -> Batch:
        if self._block is None or self._block[0] != number:
            self._block = number, self._checked(self._stream.block(number))
            self.tell("block", number * self._stream.block_size)
        return self._block[1]

    def _checked(self, block: Batch) -> Batch:
        try:
            check_targets(self.settings.task, block)
        except ValueError as error:
            raise RunError(str(error)) from error
        return block

    def _report(self) -> None:
        counters, chosen = self.state.counters, self.settings.training
        counted = counters.sequences - counters.reported
        mean = counters.bits / counted
        counters.solved_for = counters.solved_for + counted if mean < chosen.solved_bits else 0
        line: dict[str, Any] = {"sequences": self.sequences, "bits": mean}
        if self.state.starts.count > 1:
            line["start"] = self.state.starts.number + 1
        self.tell("reporting", line)
        seconds = self.clock.seconds
        speed = counted / max(seconds - counters.reported_seconds, 1e-9)
        line |= {"seconds": seconds, "sequences_per_second": speed}
        counters.reported, counters.reported_seconds = counters.sequences, seconds
        counters.bits, counters.last_bits = 0.0, mean
        self.tell("reported", line)

    def _end_trial(self) -> None:
        verdict = end_trial(self)
        self._block = None  # the schedule of the next block differs
        if verdict is not None:
            self.tell("decided", verdict)

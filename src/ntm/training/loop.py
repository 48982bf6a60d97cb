"""The training loop for any task, model and engine. A resumed run is equal, bit for bit.

`Step` makes one update, `Stream` provides the data, and `TrainingState` goes into checkpoints.
Observers do the rest: schedule, validation, logs, checkpoints, pictures and display.
"""

import copy
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from ntm.models import Model
from ntm.models.step import Step
from ntm.runs import Run, RunError, Settings, Stream, build_model, checkpoints, full_size
from ntm.tasks import Batch
from ntm.tasks.checks import check_targets
from ntm.tasks.mixture import mixture_of
from ntm.training.observing import Observer
from ntm.training.parallel import Ranks, SharedStep, part_of
from ntm.training.state import Counters, TrainingState

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
    """Number of sequences before the run was resumed."""


class Clock:
    """Clock that decides when the loop pauses for observers, the time limit or a signal.

    observers: observers of the run.
    ranks: processes of the run, which train together.
    seconds_before: training time before the run was resumed.
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
        """Training time in seconds, with the time before the run was resumed."""
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


class Trainer:
    """A run in progress, usually made by `train`."""

    def __init__(
        self,
        settings: Settings,
        state: TrainingState,
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
            settings.task,
            chosen.seed,
            chosen.batch_size,
            device=device,
            bucketed=chosen.bucketed,
            mixture=mixture_of(settings.task, chosen.mixture),
        )
        self._block: tuple[int, Batch] | None = None
        self.has_trained = False
        """Whether this process has made an update, or diverged in one."""

    @property
    def model(self) -> Model:
        """The network in training, which may have fewer memory locations than the saved network."""
        return self.state.model

    @property
    def sequences(self) -> int:
        """Number of sequences so far, over all starts."""
        return self.state.starts.others + self.state.counters.sequences

    @property
    def goal(self) -> int:
        """Number of sequences to train the current start on: a trial, or the whole run."""
        starts = self.state.starts
        return starts.length if starts.deciding else self.settings.training.sequences

    @property
    def planned(self) -> int:
        """Number of sequences at the end of the run, over all starts, if every start is tried."""
        return self.state.starts.planned_others + self.settings.training.sequences

    def run(self) -> Result:
        """Train until the run ends; return the result."""
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
        """Return the error for a run that diverged at sequence `self.sequences + beyond`."""
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
        """Return the reason why the run has ended; None if it continues."""
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
        block, smaller = self._block_at(number), self._stream.smaller(number)
        last = min(self._stream.block_size, first + goal - counters.sequences)
        batch_size = self.settings.training.batch_size
        bits, passed, stop = counters.bits, counters.smaller, first
        try:
            for start in range(first, last, batch_size):
                stop = start + batch_size
                cost = step(block, start, stop)
                if start in smaller:
                    passed += batch_size
                else:
                    bits += cost
                if called():
                    break
        except FloatingPointError as error:
            self.has_trained = True
            raise self.diverged(str(error), stop - first) from error
        self.has_trained = True
        counters.bits, counters.smaller = bits, passed
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
        counted, mean = counters.sequences - counters.reported, counters.mean_bits
        counters.solved_for = counters.solved_for + counted if mean < chosen.solved_bits else 0
        line: dict[str, Any] = {"sequences": self.sequences, "bits": mean}
        if self.state.starts.count > 1:
            line["start"] = self.state.starts.number + 1
        self.tell("reporting", line)
        seconds = self.clock.seconds
        speed = counted / max(seconds - counters.reported_seconds, 1e-9)
        line |= {"seconds": seconds, "sequences_per_second": speed}
        counters.reported, counters.reported_seconds = counters.sequences, seconds
        counters.bits, counters.smaller, counters.last_bits = 0.0, 0, mean
        self.tell("reported", line)

    def _end_trial(self) -> None:
        """End the current trial; start the next one or, after the last, continue the best start."""
        state, starts, seconds = self.state, self.state.starts, self.clock.seconds
        bits = self.ranks.from_leader(state.counters.best_bits)
        starts.end_trial(bits, asdict(state.counters), state.own_tensors())
        if starts.deciding:
            state.begin(build_model(self.part, starts.number).state_dict())
        else:
            self._continue_with_the_best()
        state.counters.seconds = state.counters.reported_seconds = seconds
        self._block = None  # the schedule of the next block differs
        if not starts.deciding:
            self.tell("decided", starts.verdict())

    def _continue_with_the_best(self) -> None:
        kept, tensors = self.state.starts.release()
        self.state.restore_own(tensors)
        self.state.counters = Counters(**kept["counters"])
        if self.settings.training.validate_every and self.state.counters.sequences < self.goal:
            self.state.counters.best_bits = None  # only later validations choose the best weights
        if self.folder is not None:
            best = copy.deepcopy(self.model)
            best.load_state_dict(checkpoints.under("best/", tensors))
            trained = kept["facts"]["sequences"] + self.state.starts.others
            self.folder.save_weights("best", best, kept["facts"] | {"sequences": trained})

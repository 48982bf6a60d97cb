"""The training loop: any task, model and engine; stops and goes on without changing a bit.

    settings = paper_settings("copy", "ntm-ff")
    result = train(settings, run="runs/copy", progress=make_progress())
    logits, _ = result.model(x)

`Step` says what one update is, `Stream` where the data come from, `checkpoints` what is kept.
"""

import copy
import math
import time
from collections.abc import Mapping
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import torch

from ntm import engine
from ntm.layer import NTM
from ntm.tasks import Batch, Task, cost_in_bits
from ntm.training import checkpoints
from ntm.training.average import Average
from ntm.training.files import RunError
from ntm.training.logs import Metrics, TensorBoard
from ntm.training.optimiser import GravesRMSprop
from ntm.training.parallel import Ranks, SharedStep, agreed, joined, part_of
from ntm.training.progress import Progress, Silent, Status
from ntm.training.run import Model, Run, build_model, open_run
from ntm.training.settings import Settings, beyond_task
from ntm.training.signals import calling_on_signals
from ntm.training.starts import Starts
from ntm.training.step import Step, make_step
from ntm.training.stream import Stream, block_generator

Ending = Literal["finished", "solved", "out of time", "interrupted"]


@dataclass
class Counters:
    """All that a run remembers besides tensors."""

    sequences: int = 0
    """Sequences trained on."""
    reported: int = 0
    """Sequences at the last report."""
    bits: float = 0.0
    """Summed cost of the sequences since then."""
    seconds: float = 0.0
    """Time spent training, over all processes that had a part in the run."""
    reported_seconds: float = 0.0
    """That time at the last report."""
    solved_for: int = 0
    """Sequences for which every report has been below the threshold."""
    last_bits: float | None = None
    """The last report's mean cost."""
    best_bits: float | None = None
    """The lowest validation cost so far."""


@dataclass(frozen=True)
class Result:
    """What a run came to."""

    model: Model
    ending: Ending
    sequences: int
    seconds: float
    bits: float | None
    """Mean cost per sequence in the last report."""
    best_bits: float | None
    """The lowest validation cost."""
    signal: int | None = None
    """The signal that interrupted the run."""


def train(
    settings: Settings,
    run: str | Path | None = None,
    *,
    resume: bool = False,
    progress: Progress | None = None,
) -> Result:
    """Train a model from start to end, or from where an earlier call stopped.

    run: a folder for config, metrics, weights and checkpoints; None keeps nothing on disk.
    resume: go on from the folder's checkpoint, if there is one; else the folder must be new.
    progress: where to show progress; nothing is shown by default.

    SIGINT and SIGTERM end the run with a checkpoint. A loss or gradient that is not finite ends it
    with a RunError, the last checkpoint as it was.

    In processes that torchrun started, all of which call this, they train together; one of them
    keeps the folder and shows progress.
    """
    progress = progress or Silent()
    with ExitStack() as stack:
        stack.callback(progress.close)
        ranks = stack.enter_context(joined(settings.training.device))
        settings = agreed(settings, ranks)
        # Before the folder: a model that cannot be had must not leave one behind.
        model = build_model(part_of(settings, ranks))
        folder = None
        if run is not None and ranks.leads:
            folder = open_run(run, settings, resume)
            stack.enter_context(folder.locked())
            folder.change_settings(settings)
        trainer = stack.enter_context(closing(Trainer(settings, model, folder, progress, ranks)))
        stack.enter_context(calling_on_signals(trainer.interrupt, patient=ranks.size > 1))
        result = trainer.run()
        # Who leaves while another is still writing makes torchrun end that one.
        ranks.meet()
        return result


class Trainer:
    """A run in progress. `train` is the usual way to have one."""

    def __init__(
        self,
        settings: Settings,
        model: Model,
        folder: Run | None,
        progress: Progress,
        ranks: Ranks,
    ) -> None:
        self.settings, self.model, self.folder, self.ranks = settings, model, folder, ranks
        self.progress = progress if ranks.leads else Silent()
        chosen = settings.training
        if chosen.threads:
            torch.set_num_threads(chosen.threads)
        self.optimiser = _make_optimiser(settings, model)
        self.average = Average(model, chosen.average_share) if chosen.average_share else None
        self.counters, self.starts = Counters(), Starts.of(chosen)
        self._logs: list[Metrics | TensorBoard] = []
        if folder is not None:
            self._restore(folder)
            self._open_logs(folder)
        self._start_as_the_leader()
        self._make_step()
        device = next(model.parameters()).device
        self.stream = Stream(
            settings.task,
            chosen.seed,
            chosen.batch_size,
            device=str(device),
            bucketed=chosen.bucketed,
        )
        self.signal: int | None = None
        self._received: int | None = None
        self._late = False
        self._first = self._total
        self._validation = _validation_batch(settings, settings.task).to(device)
        beyond = beyond_task(settings.task, chosen.validate_beyond)
        self._beyond = _validation_batch(settings, beyond).to(device) if beyond else None
        self._block: tuple[int, Batch] | None = None
        self._start_clocks()

    def run(self) -> Result:
        """Train until the run ends, for whatever reason."""
        self.progress.note(self._introduction())
        while (ending := self._ending()) is None:
            self._train_until(min(self._next_report(), self._goal))
            if self.counters.sequences >= min(self._next_report(), self._goal):
                self._report()
            if self.starts.deciding and self.counters.sequences >= self._goal:
                self._end_trial()
            if self._called():
                self._attend()
        self._save()
        self._show(time.perf_counter())
        counters = self.counters
        return Result(
            self.model,
            ending,
            self._total,
            counters.seconds,
            counters.last_bits,
            counters.best_bits,
            self.signal,
        )

    def interrupt(self, number: int) -> None:
        """Stop, all ranks together, after the step that is under way."""
        self._received = self._received or number

    def close(self) -> None:
        """Close the logs; the state on disk stays as it is."""
        for log in self._logs:
            log.close()

    def _introduction(self) -> str:
        settings, chosen = self.settings, self.settings.training
        parameters = sum(parameter.numel() for parameter in self.model.parameters())
        start = f"from sequence {self._first:,}" if self._first else "from the start"
        return (
            f"Training {settings.model_name} on {settings.task.name}: {parameters:,} parameters, "
            f"{_engine(self.model)}, batch size {chosen.batch_size}, seed {chosen.seed}, "
            f"{start} to {self._planned:,}" + (f", in {self.folder.path}." if self.folder else ".")
        )

    def _restore(self, folder: Run) -> None:
        checkpoint, problems = checkpoints.load_newest(folder.checkpoints)
        for problem in problems:
            self.progress.note(f"{problem} Going on from the checkpoint before.")
        if checkpoint is None:
            return
        try:
            checkpoints.restore(checkpoint.tensors, *self._state())
            self._take_values(checkpoint.values)
            self.starts.tensors = checkpoints.under("starts/", checkpoint.tensors)
        except (KeyError, RuntimeError, TypeError) as error:
            raise RunError(
                f"The checkpoint in {folder.checkpoints} is not of this model: {error}"
            ) from error

    def _start_as_the_leader(self) -> None:
        """Give every rank the state that the leader made or read."""
        self.ranks.copy_from_leader(checkpoints.state_tensors(*self._state()).values())
        self._take_values(self.ranks.from_leader(self._values()))
        self.starts.tensors = self.ranks.tensors_from_leader(self.starts.tensors)

    def _values(self) -> dict[str, Any]:
        """All that the run remembers besides tensors, as JSON."""
        trials = {"starts": self.starts.values()} if self.starts.count > 1 else {}
        return asdict(self.counters) | trials

    def _take_values(self, values: Mapping[str, Any]) -> None:
        self.counters = Counters(**{k: v for k, v in values.items() if k != "starts"})
        for name, value in values.get("starts", {}).items():
            setattr(self.starts, name, value)

    def _make_step(self) -> None:
        step = make_step(self.model, self.optimiser)
        self.step: Step = step
        self._called = self._is_due
        if self.ranks.size > 1:
            shared = SharedStep(step, self.ranks, self._is_due)
            self.step, self._called = shared, shared.called

    def _open_logs(self, folder: Run) -> None:
        sequences = self._total
        self._logs = [
            Metrics(folder.metrics, sequences),
            TensorBoard(folder.tensorboard, sequences),
        ]

    def _start_clocks(self) -> None:
        now = time.perf_counter()
        chosen = self.settings.training
        self._started = now - self.counters.seconds
        self._deadline = now + chosen.stop_after_seconds if chosen.stop_after_seconds else math.inf
        self._checkpoint_due = now + chosen.checkpoint_seconds
        shows = self.progress.pictures and chosen.picture_seconds > 0
        self._picture_due = now + chosen.picture_seconds if shows else math.inf
        self._shown, self._speed = (now, self._total), 0.0
        self._show_due = now + min(1.0, self.progress.interval)
        self._set_due()

    def _set_due(self) -> None:
        """When the loop has to look up from its work."""
        dues = (self._deadline, self._checkpoint_due, self._picture_due, self._show_due)
        self._due = min(dues)

    def _is_due(self) -> bool:
        """Whether this process has a reason to look up."""
        return time.perf_counter() >= self._due or self._received is not None

    @property
    def _goal(self) -> int:
        """Sequences that the present start is trained on: a trial, or all."""
        return self.starts.length if self.starts.deciding else self.settings.training.sequences

    @property
    def _total(self) -> int:
        """Sequences so far, over all starts."""
        return self.starts.others + self.counters.sequences

    @property
    def _planned(self) -> int:
        """Sequences at the end of the run, if every start that may be tried is."""
        starts = self.starts
        others = starts.length * (starts.count - 1) if starts.deciding else starts.others
        return others + self.settings.training.sequences

    def _ending(self) -> Ending | None:
        chosen = self.settings.training
        if not self.starts.deciding:
            if self.counters.sequences >= chosen.sequences:
                return "finished"
            if chosen.stop_when_solved and self.counters.solved_for >= chosen.solved_window:
                return "solved"
        if self.signal is not None:
            return "interrupted"
        if self._late:
            return "out of time"
        return None

    def _next_report(self) -> int:
        every = self.settings.training.report_every
        return (self.counters.reported // every + 1) * every

    def _train_until(self, goal: int) -> None:
        """Train up to a number of sequences, the end of the block, or until something is due."""
        counters, step, called = self.counters, self.step, self._called
        number, first = divmod(counters.sequences, self.stream.block_size)
        block = self._block_number(number)
        last = min(self.stream.block_size, first + goal - counters.sequences)
        batch_size = self.settings.training.batch_size
        bits, stop = counters.bits, first
        try:
            for start in range(first, last, batch_size):
                stop = start + batch_size
                bits += step(block, start, stop)
                if called():
                    break
        except FloatingPointError as error:
            raise self._diverged(error, self._total + stop - first) from error
        counters.bits = bits
        counters.sequences += stop - first

    def _block_number(self, number: int) -> Batch:
        if self._block is None or self._block[0] != number:
            self._block = number, self.stream.block(number)
            self._follow_schedule(number * self.stream.block_size)
        return self._block[1]

    def _follow_schedule(self, sequences: int) -> None:
        """Set what changes in the course of a run.

        Once per block and not per step, so that it costs nothing; where the run was interrupted
        makes no difference.
        """
        chosen = self.settings.optimiser
        self.optimiser.param_groups[0]["lr"] = chosen.rate_after(sequences)
        if isinstance(self.model, NTM) and not chosen.clips_backward(sequences):
            self.model.backward_clip = math.inf

    def _end_trial(self) -> None:
        """Judge the start that was trained; go on with the next or, in the end, with the best."""
        starts, counters = self.starts, self.counters
        bits = self.ranks.from_leader(counters.best_bits)
        starts.end_trial(bits, asdict(counters), checkpoints.state_tensors(*self._state()))
        seconds = self._seconds()
        fresh = build_model(part_of(self.settings, self.ranks), starts.number)
        if starts.deciding:
            self._begin(fresh)
        else:
            self._go_on_with_the_best()
            self.progress.note(starts.verdict())
        self.counters.seconds = self.counters.reported_seconds = seconds
        if isinstance(self.model, NTM) and isinstance(fresh, NTM):
            self.model.backward_clip = fresh.backward_clip
        self._block = None

    def _begin(self, fresh: Model) -> None:
        """Give the run the initial weights of another start."""
        model, optimiser, average = self._state()
        for network in (model, *([average] if average else [])):
            network.load_state_dict(fresh.state_dict())
        for state in optimiser.state.values():
            torch._foreach_zero_(list(state.values()))
        self.counters = Counters()

    def _go_on_with_the_best(self) -> None:
        kept, tensors = self.starts.release()
        checkpoints.restore(tensors, *self._state())
        self.counters = Counters(**kept["counters"])
        if self.folder is not None:
            best = copy.deepcopy(self.model)
            best.load_state_dict(checkpoints.under("best/", tensors))
            trained = kept["facts"]["sequences"] + self.starts.others
            self.folder.save_weights("best", best, kept["facts"] | {"sequences": trained})

    def _diverged(self, error: FloatingPointError, sequence: int) -> RunError:
        kept = f" {self.folder.path} is as its last checkpoint left it." if self.folder else ""
        return RunError(
            f"Training stopped at sequence {sequence:,}: {error}{kept} "
            f"Try a smaller optimiser.learning_rate or another training.seed."
        )

    def _report(self) -> None:
        counters, chosen = self.counters, self.settings.training
        counted = counters.sequences - counters.reported
        mean = counters.bits / counted
        counters.solved_for = counters.solved_for + counted if mean < chosen.solved_bits else 0
        line: dict[str, Any] = {"sequences": self._total, "bits": mean}
        if self.starts.count > 1:
            line["start"] = self.starts.number + 1
        if self.average is not None:
            self.average.take(self.model, counters.reported, counters.sequences)
        if self._validation_due():
            line |= self._validate()
        seconds = self._seconds()
        speed = counted / max(seconds - counters.reported_seconds, 1e-9)
        line |= {"seconds": seconds, "sequences_per_second": speed}
        counters.reported, counters.reported_seconds = counters.sequences, seconds
        counters.bits, counters.last_bits = 0.0, mean
        for log in self._logs:
            log.write(line)

    def _validation_due(self) -> bool:
        """Whether a multiple of `validate_every`, or the end, was reached since the last report."""
        every, now = self.settings.training.validate_every, self.counters.sequences
        if every == 0:
            return self.starts.deciding and now >= self._goal
        return now // every > self.counters.reported // every or now >= self._goal

    def _validate(self) -> dict[str, float]:
        """Measure the weights, or their average, and keep them if they are the best so far."""
        model = self.average.model if self.average else self.model
        costs = {"validation_bits": _mean_bits(model, self._validation)}
        if self._beyond is not None:
            costs["beyond_bits"] = _mean_bits(model, self._beyond)
        bits = sum(costs.values())
        if not math.isfinite(bits):
            cause = FloatingPointError(f"The validation cost is {bits}.")
            raise self._diverged(cause, self._total)
        if self.counters.best_bits is None or bits < self.counters.best_bits:
            self.counters.best_bits = bits
            self._keep_best(model, costs)
        return costs

    def _keep_best(self, model: Model, costs: Mapping[str, float]) -> None:
        facts = {"sequences": self._total, **costs}
        if self.starts.deciding:
            self.starts.keep_best(
                model.state_dict(), facts | {"sequences": self.counters.sequences}
            )
        elif self.folder is not None:
            self.folder.save_weights("best", model, facts)

    def _attend(self) -> None:
        """Do what is due: end, checkpoint, picture, progress. Ranks save and end together."""
        now = time.perf_counter()
        signal, late, saving = self.ranks.largest(
            self._received or 0, now >= self._deadline, now >= self._checkpoint_due
        )
        self.signal, self._late = int(signal) or None, bool(late)
        if saving:
            self._save()
            self._checkpoint_due = time.perf_counter() + self.settings.training.checkpoint_seconds
        if now >= self._picture_due:
            self._show_picture()
            self._picture_due = time.perf_counter() + self.settings.training.picture_seconds
        if now >= self._show_due:
            self._show(now)
            self._show_due = now + self.progress.interval
        self._set_due()

    def _show(self, now: float) -> None:
        counters = self.counters
        since, sequences = self._shown
        if self._total > sequences:
            self._speed = (self._total - sequences) / (now - since)
        pending = counters.sequences - counters.reported
        bits = (
            counters.bits / pending
            if counters.last_bits is None and pending
            else counters.last_bits
        )
        self.progress.update(Status(self._total, self._planned, bits, self._speed))
        self._shown = now, self._total

    @torch.no_grad()
    def _show_picture(self) -> None:
        example = self._validation.narrow(0, 1)
        logits, _ = self.model(example.inputs)
        self.progress.picture(self.settings.task.render(example.to("cpu"), 0, logits.cpu()))

    def _save(self) -> None:
        self.counters.seconds = self._seconds()
        if self._total == self._first:
            return
        self._require_finite_weights()
        if self.folder is None:
            return
        # The checkpoint comes last: whatever it promises is on the disk by then.
        for log in self._logs:
            log.sync()
        facts = {"sequences": self._total}
        if self.starts.count > 1 and not self.starts.deciding:
            facts["of_this_start"] = self.counters.sequences
        self.folder.save_weights("latest", self.model, facts)
        tensors = checkpoints.state_tensors(*self._state())
        tensors |= {f"starts/{name}": t for name, t in self.starts.tensors.items()}
        checkpoints.save(self.folder.checkpoints, tensors, self._values())

    def _state(self) -> tuple[Model, GravesRMSprop, Model | None]:
        """Where all tensors of the run are."""
        return self.model, self.optimiser, self.average.model if self.average else None

    def _require_finite_weights(self) -> None:
        """No good checkpoint may give way to weights that the last step blew up."""
        for name, parameter in self.model.named_parameters():
            if not parameter.isfinite().all():
                cause = FloatingPointError(f"{name} is not finite.")
                raise self._diverged(cause, self._total)

    def _seconds(self) -> float:
        return time.perf_counter() - self._started


def _engine(model: Model) -> str:
    if not isinstance(model, NTM):
        return "torch.nn.LSTM"
    choice = engine.choose(model.engine, model.start.memory.device, model.start.memory.dtype)
    return f"{choice.name} engine ({choice.reason.rstrip('.')})"


def _make_optimiser(settings: Settings, model: torch.nn.Module) -> GravesRMSprop:
    chosen = settings.optimiser
    optimiser = GravesRMSprop(
        model.parameters(),
        lr=chosen.learning_rate,
        decay=chosen.decay,
        momentum=chosen.momentum,
        epsilon=chosen.epsilon,
        clip=chosen.clip,
    )
    optimiser.ensure_state()
    return optimiser


def _validation_batch(settings: Settings, task: Task) -> Batch:
    generator = block_generator("validation", settings.training.seed)
    return task.sample(settings.training.validation_sequences, generator)


@torch.no_grad()
def _mean_bits(model: torch.nn.Module, batch: Batch) -> float:
    logits, _ = model(batch.inputs, lengths=batch.lengths)
    return cost_in_bits(logits, batch).mean().item()

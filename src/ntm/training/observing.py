"""Observers of a run: objects whose methods the training loop calls at events.

class Print(Observer):
    def reported(self, run, line):
        print(line["sequences"], line["bits"])

train(settings, observers=[Print()])
"""

import importlib.util
import json
import math
import os
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from ntm.common.files import write_atomically
from ntm.models.family import Model
from ntm.runs import Settings, block_generator, checkpoints, full_size
from ntm.runs.building import bound_backward
from ntm.runs.facts import Facts, read_metrics
from ntm.runs.sections import beyond_task
from ntm.tasks import Batch, Task, cost_in_bits

if TYPE_CHECKING:
    from ntm.training.loop import Trainer


class Observer:
    """Observer of a run. Subclasses override the methods they need; `run` is the run in progress.

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

    def reporting(self, run: "Trainer", line: Facts) -> None:
        """Called before a report; add facts to its `line`."""

    def reported(self, run: "Trainer", line: Facts) -> None:
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


class Schedule(Observer):
    """Observer that sets the learning rate and the backward clip before each block of data.

    They depend only on the position of the block in the run, so a resumed run has the same values.
    """

    def block(self, run: "Trainer", sequences: int) -> None:
        """Set the learning rate and the backward clip for the block."""
        rate = run.settings.optimiser.rate_after(sequences)
        run.state.optimiser.param_groups[0]["lr"] = rate
        bound_backward(run.model, run.part, sequences)


class Validation(Observer):
    """Observer that validates the weights and their running mean, and keeps the best weights.

    The mean is usually better than the newest weights. But after a network has changed its way of
    solving the task, the mean can be worse. So each validation takes the better of the two.
    """

    together = True

    def __init__(self, settings: Settings, device: torch.device) -> None:
        beyond = beyond_task(settings.task, settings.training.validate_beyond)
        tasks = {"validation_bits": settings.task.for_validation, "beyond_bits": beyond}
        self.batches = {
            name: _batch(settings, task).to(device) for name, task in tasks.items() if task
        }

    def reporting(self, run: "Trainer", line: Facts) -> None:
        """Add the weights to their running mean; validate if a validation is due."""
        state = run.state
        if state.average is not None:
            state.average.take(run.model, state.counters.reported, state.counters.sequences)
        if self._due(run):
            line |= self._validate(run)

    def _due(self, run: "Trainer") -> bool:
        """Return whether to validate: at the end, and at each multiple of `validate_every`.

        If `validate_every` is 0, validate only at the end of a trial.
        """
        every, counters = run.settings.training.validate_every, run.state.counters
        at_end = counters.sequences >= run.goal
        if every == 0:
            return run.state.starts.deciding and at_end
        return at_end or counters.sequences // every > counters.reported // every

    def _validate(self, run: "Trainer") -> dict[str, float]:
        state = run.state
        candidates = [run.model, *([state.average.model] if state.average else [])]
        measured = [(self._costs(run, model), model) for model in candidates]
        costs, model = min(measured, key=lambda pair: sum(pair[0].values()))
        bits = sum(costs.values())
        if state.counters.best_bits is None or bits < state.counters.best_bits:
            state.counters.best_bits = bits
            self._keep(run, model, costs)
        return costs

    def _costs(self, run: "Trainer", model: Model) -> dict[str, float]:
        whole = full_size(model, run.settings)
        costs = {name: _mean_bits(whole, batch) for name, batch in self.batches.items()}
        bits = sum(costs.values())
        if not math.isfinite(bits):
            raise run.diverged(f"The validation cost is {bits}.")
        return costs

    def _keep(self, run: "Trainer", model: Model, costs: Mapping[str, float]) -> None:
        if run.state.starts.deciding:
            facts = {"sequences": run.state.counters.sequences, **costs}
            run.state.starts.keep_best(model.state_dict(), facts)
        elif run.folder is not None:
            run.folder.save_weights("best", model, {"sequences": run.sequences, **costs})


def _batch(settings: Settings, task: Task) -> Batch:
    count = settings.training.validation_sequences
    if task.problems is not None:
        return task.take(range(min(count, task.problems)))
    return task.sample(count, block_generator("validation", settings.training.seed))


@torch.no_grad()
def _mean_bits(model: Model, batch: Batch) -> float:
    logits, _ = model(batch.inputs, lengths=batch.lengths)
    return cost_in_bits(logits, batch).mean().item()


class MetricsLog(Observer):
    """Observer that appends a line to metrics.jsonl per report.

    sequences: number of sequences at which the run resumes; later lines are removed.
    """

    def __init__(self, path: Path, sequences: int) -> None:
        kept = [line for line in read_metrics(path) if line["sequences"] <= sequences]
        write_atomically(path, b"".join(map(_encoded, kept)))
        self._file = path.open("ab", buffering=0)

    def reported(self, run: "Trainer", line: Facts) -> None:
        """Append the line, in several writes if necessary, as on a nearly full disk."""
        rest = memoryview(_encoded(line))
        while rest:
            rest = rest[self._file.write(rest) :]

    def saving(self, run: "Trainer") -> None:
        """Write all lines to disk: a checkpoint must not be newer than its learning curve."""
        os.fsync(self._file.fileno())

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def _encoded(line: Facts) -> bytes:
    return json.dumps(line).encode() + b"\n"


class TensorBoardLog(Observer):
    """Observer that writes scalars for TensorBoard, if TensorBoard is installed.

    sequences: number of sequences at which the run resumes; TensorBoard drops older records beyond
        this number.
    """

    def __init__(self, folder: Path, sequences: int) -> None:
        self._folder, self._sequences = folder, sequences
        self._installed = importlib.util.find_spec("tensorboard") is not None
        self._writer: Any = None
        self._print_error = threading.excepthook

    def reported(self, run: "Trainer", line: Facts) -> None:
        """Record every number of the line, with the number of sequences as the step."""
        if not self._installed:
            return
        if self._writer is None:
            # Imported at the first report because the import is slow.
            from torch.utils.tensorboard.writer import SummaryWriter

            threading.excepthook = self._not_of_tensorboard
            self._writer = SummaryWriter(str(self._folder), purge_step=self._sequences + 1)
        for name, value in line.items():
            if name != "sequences":
                self._writer.add_scalar(name, value, line["sequences"])

    def saving(self, run: "Trainer") -> None:
        """Flush all events to the file."""
        if self._writer is not None:
            self._writer.flush()

    def close(self) -> None:
        """Flush and close the event file."""
        if self._writer is not None:
            self._writer.close()
            threading.excepthook = self._print_error

    def _not_of_tensorboard(self, error: threading.ExceptHookArgs) -> None:
        """Do not print errors of TensorBoard's thread: its next call raises them again."""
        if type(error.thread).__name__ != "_AsyncWriterThread":
            self._print_error(error)


class Checkpoints(Observer):
    """Observer that saves the state of a run to the run's folder, if there is one."""

    together = True

    def __init__(self, seconds: float) -> None:
        self.interval = seconds

    def started(self, run: "Trainer") -> None:
        """Store the number of sequences at the start: without progress there is nothing to save."""
        self._first = run.sequences

    def tick(self, run: "Trainer") -> None:
        """Save the state, after logs and other files are on disk."""
        run.state.counters.seconds = run.clock.seconds
        if run.sequences == self._first:
            return
        self._require_finite_weights(run)
        if run.folder is None:
            return
        run.tell("saving")
        facts = {"sequences": run.sequences}
        starts = run.state.starts
        if starts.count > 1 and not starts.deciding:
            facts["of_this_start"] = run.state.counters.sequences
        run.folder.save_weights("latest", run.model, facts)
        checkpoints.save(run.folder.checkpoints, run.state.tensors(), run.state.values())

    ended = tick

    def _require_finite_weights(self, run: "Trainer") -> None:
        """Raise RunError for NaN or infinite weights, which must not replace a good checkpoint."""
        for name, parameter in run.model.named_parameters():
            if not parameter.isfinite().all():
                raise run.diverged(f"{name} is not finite.")

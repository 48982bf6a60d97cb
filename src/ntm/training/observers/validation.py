"""Validation on a fixed set of fresh sequences, which decides the best weights."""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import torch

from ntm.models.family import Model
from ntm.runs import Settings, block_generator, full_size
from ntm.runs.metrics import Line
from ntm.runs.sections import beyond_task
from ntm.tasks import Batch, Task, cost_in_bits
from ntm.training.observers.base import Observer

if TYPE_CHECKING:
    from ntm.training.loop import Trainer


class Validation(Observer):
    """Observer that validates the weights and their running mean, and keeps the best.

    The mean is usually better than the newest weights. But after a network has changed its way of
    solving the task, the mean can be worse. So the better of the two counts.
    """

    together = True

    def __init__(self, settings: Settings, device: torch.device) -> None:
        beyond = beyond_task(settings.task, settings.training.validate_beyond)
        tasks = {"validation_bits": settings.task, "beyond_bits": beyond}
        self.batches = {
            name: _batch(settings, task).to(device) for name, task in tasks.items() if task
        }

    def reporting(self, run: "Trainer", line: Line) -> None:
        """Add the weights to their running mean; validate if a validation is due."""
        state = run.state
        if state.average is not None:
            state.average.take(run.model, state.counters.reported, state.counters.sequences)
        if self._due(run):
            line |= self._validate(run)

    def _due(self, run: "Trainer") -> bool:
        """Return whether training passed a multiple of `validate_every`, or reached the end."""
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
    generator = block_generator("validation", settings.training.seed)
    return task.sample(settings.training.validation_sequences, generator)


@torch.no_grad()
def _mean_bits(model: Model, batch: Batch) -> float:
    logits, _ = model(batch.inputs, lengths=batch.lengths)
    return cost_in_bits(logits, batch).mean().item()

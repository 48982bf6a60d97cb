"""Recordings: problems of a task and a network's trace on them."""

from typing import Any, NamedTuple, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray

from ntm.common.fields import check_value
from ntm.models import family_of
from ntm.runs import block_generator
from ntm.tasks import Batch, Task
from ntm.trace import Trace

Kind = TypeVar("Kind", bound=Task)


class Recording(NamedTuple):
    """Problems of a task and a network's trace on them."""

    task: Task
    batch: Batch
    trace: Trace

    def task_as(self, kind: type[Kind]) -> Kind:
        """Return the task, or raise TypeError if it is not of this kind."""
        if not isinstance(self.task, kind):
            raise TypeError(f"The task is {self.task.name}; it must be {kind.name}.")
        return self.task

    @property
    def sequences(self) -> int:
        """Number of problems."""
        return len(self.trace.lengths)

    @property
    def scored(self) -> NDArray[np.bool_]:
        """Whether a step is scored, (time, batch)."""
        return self.batch.mask.numpy() > 0

    @property
    def inside(self) -> NDArray[np.bool_]:
        """Whether a step lies before the end of its sequence, (time, batch)."""
        return np.arange(len(self.trace.inputs))[:, None] < self.trace.lengths

    @property
    def answer_start(self) -> NDArray[np.int64]:
        """First scored step of every sequence, (batch,)."""
        start: NDArray[np.int64] = self.scored.argmax(axis=0)
        return start

    def channel(self, name: str) -> NDArray[Any]:
        """Return the input channel of this name, (time, batch)."""
        return self.trace.inputs[:, :, self.task.input_channels.index(name)]

    def part(self, start: int, stop: int) -> "Recording":
        """Return the sequences from `start` to `stop - 1`, with time up to the longest of them."""
        batch = self.batch.narrow(start, stop)
        return Recording(self.task, batch, self.trace.narrow(start, stop))


def record(model: torch.nn.Module, task: Task, sequences: int = 200, seed: int = 1) -> Recording:
    """Record a network's heads on fresh problems.

    seed: selects the problems, from a random stream that training does not use.
    """
    check_value("sequences", sequences, int, {"at_least": 1})
    batch = task.for_validation.sample(sequences, block_generator("recording", seed))
    there = batch.to(next(model.parameters()).device)
    family = family_of(model)
    trace = family.trace(model, there.inputs, there.lengths)
    if not all(trace.weightings(kind).shape[2] for kind in ("read", "write")):
        raise ValueError(f"{family.title} has no heads to watch; give an NTM.")
    return Recording(task, batch, trace)

"""Problems, and what every head did while a network solved them."""

from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from ntm.layer import NTM
from ntm.tasks import Batch, Task
from ntm.trace import Trace
from ntm.training.stream import block_generator


class Recording(NamedTuple):
    """Some problems of a task and the trace of a network that was given them."""

    task: Task
    batch: Batch
    trace: Trace

    @property
    def sequences(self) -> int:
        """How many problems there are."""
        return len(self.trace.lengths)

    @property
    def scored(self) -> NDArray[np.bool_]:
        """Where the outputs count, (time, batch)."""
        return self.batch.mask.numpy() > 0

    @property
    def inside(self) -> NDArray[np.bool_]:
        """The steps before each sequence's end, (time, batch)."""
        return np.arange(len(self.trace.inputs))[:, None] < self.trace.lengths

    @property
    def answer_start(self) -> NDArray[np.int64]:
        """The first scored step of every sequence, (batch,)."""
        start: NDArray[np.int64] = self.scored.argmax(axis=0)
        return start

    def channel(self, name: str) -> NDArray[Any]:
        """One input channel by its name, (time, batch)."""
        return self.trace.inputs[:, :, self.task.input_channels.index(name)]

    def part(self, start: int, stop: int) -> "Recording":
        """Sequences start to stop - 1, with the time cut to the longest of them."""
        batch = self.batch.narrow(start, stop)
        return Recording(self.task, batch, self.trace.narrow(start, stop))


def record(model: torch.nn.Module, task: Task, sequences: int = 200, seed: int = 1) -> Recording:
    """Give a network fresh problems and write down all that its heads do.

    seed: decides the problems; they are not those of training.
    """
    if not isinstance(model, NTM):
        raise ValueError("An LSTM has no heads to watch; give an NTM.")
    if sequences < 1:
        raise ValueError(f"sequences must be at least 1; got {sequences}.")
    batch = task.sample(sequences, block_generator("recording", seed))
    there = batch.to(next(model.parameters()).device)
    return Recording(task, batch, model.trace(there.inputs, lengths=there.lengths))

"""The schedule of a run: its learning rate and the bound on the backward pass."""

from typing import TYPE_CHECKING

from ntm.runs.building import bound_backward
from ntm.training.observers.base import Observer

if TYPE_CHECKING:
    from ntm.training.loop import Trainer


class Schedule(Observer):
    """Observer that applies the schedule once per block, so interruptions have no effect."""

    def block(self, run: "Trainer", sequences: int) -> None:
        """Set the learning rate and the bound for the block."""
        rate = run.settings.optimiser.rate_after(sequences)
        run.state.optimiser.param_groups[0]["lr"] = rate
        bound_backward(run.model, run.part, sequences)

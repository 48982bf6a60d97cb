"""What changes during a run: the learning rate and the bound on the backward pass."""

from typing import TYPE_CHECKING

from ntm.runs.building import bound_backward
from ntm.training.observers.base import Observer

if TYPE_CHECKING:
    from ntm.training.loop import Trainer


class Schedule(Observer):
    """Follows the settings once per block, so interruptions change nothing."""

    def block(self, run: "Trainer", sequences: int) -> None:
        """Set what holds for the block."""
        rate = run.settings.optimiser.rate_after(sequences)
        run.state.optimiser.param_groups[0]["lr"] = rate
        bound_backward(run.model, run.part, sequences)

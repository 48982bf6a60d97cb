"""Checkpoints and the newest weights, every few seconds and at the end."""

from typing import TYPE_CHECKING

from ntm.runs import checkpoints
from ntm.training.observers.base import Observer

if TYPE_CHECKING:
    from ntm.training.loop import Trainer


class Checkpoints(Observer):
    """Observer that saves the state of a run to its folder, if any."""

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
        """Refuse to replace a good checkpoint with weights that are NaN or infinite."""
        for name, parameter in run.model.named_parameters():
            if not parameter.isfinite().all():
                raise run.diverged(f"{name} is not finite.")

"""Everything that a run needs to go on bit for bit: weights, optimiser, counters, trials."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import torch
from torch import Tensor

from ntm.common.fields import check_fields
from ntm.models.family import Model
from ntm.runs import OptimiserSettings, Run, RunError, Settings, checkpoints
from ntm.training.average import Average
from ntm.training.optimiser import GravesRMSprop
from ntm.training.parallel import Ranks
from ntm.training.starts import Starts


@dataclass
class Counters:
    """What one start remembers besides tensors."""

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


class State:
    """The state of a run. Tensors stay where they are: they are only ever written to."""

    def __init__(self, settings: Settings, model: Model) -> None:
        self.model = model
        self.optimiser = _make_optimiser(settings.optimiser, model)
        share = settings.training.average_share
        self.average = Average(model, share) if share else None
        self.counters, self.starts = Counters(), Starts.of(settings.training)

    def tensors(self) -> dict[str, Tensor]:
        """All tensors by name: those of the present start, and starts/... of those on trial."""
        kept = {f"starts/{name}": tensor for name, tensor in self.starts.tensors.items()}
        return self.own_tensors() | kept

    def own_tensors(self) -> dict[str, Tensor]:
        """The tensors of the present start."""
        return checkpoints.state_tensors(*self._owners)

    def values(self) -> dict[str, Any]:
        """All that is remembered besides tensors, as JSON."""
        trials = {"starts": self.starts.values()} if self.starts.count > 1 else {}
        return asdict(self.counters) | trials

    def restore(self, run: Run) -> list[str]:
        """Take the newest checkpoint, if there is one; returns what was wrong with newer ones."""
        checkpoint, problems = checkpoints.load_newest(run.checkpoints)
        if checkpoint is None:
            return problems
        try:
            self.restore_own(checkpoint.tensors)
            self._take_values(checkpoint.values)
            self.starts.tensors = checkpoints.under("starts/", checkpoint.tensors)
        except (KeyError, RuntimeError, TypeError, ValueError) as error:
            raise RunError(
                f"The checkpoint in {run.checkpoints} is not of this model: {error}."
            ) from error
        return problems

    def restore_own(self, tensors: Mapping[str, Tensor]) -> None:
        """Put back what `own_tensors` gave."""
        checkpoints.restore(tensors, *self._owners)

    def copy_from_leader(self, ranks: Ranks) -> None:
        """Give every rank the state that the leader made or read."""
        ranks.copy_from_leader(self.own_tensors().values())
        self._take_values(ranks.from_leader(self.values()))
        self.starts.tensors = ranks.tensors_from_leader(self.starts.tensors)

    def begin(self, weights: Mapping[str, Tensor]) -> None:
        """Begin again with other initial weights."""
        for network in (self.model, *([self.average.model] if self.average else [])):
            network.load_state_dict(weights)
        for state in self.optimiser.state.values():
            torch._foreach_zero_(list(state.values()))
        self.counters = Counters()

    def _take_values(self, values: Mapping[str, Any]) -> None:
        counters = Counters(**{k: v for k, v in values.items() if k != "starts"})
        # A run that began without trials has none now that it is made longer than one.
        starts = replace(self.starts, **values.get("starts", {"count": 1}))
        check_fields(counters)
        check_fields(starts)
        self.counters, self.starts = counters, starts

    @property
    def _owners(self) -> tuple[Model, GravesRMSprop, Model | None]:
        return self.model, self.optimiser, self.average.model if self.average else None


def _make_optimiser(chosen: OptimiserSettings, model: Model) -> GravesRMSprop:
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

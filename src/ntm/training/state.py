"""State that a run needs to resume bit for bit: weights, optimiser, counters, trials."""

import copy
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import torch
from torch import Tensor

from ntm.common.fields import check_fields
from ntm.models import optimiser
from ntm.models.family import Model
from ntm.models.optimiser import GravesRMSprop
from ntm.runs import OptimiserSettings, Run, RunError, Settings, checkpoints
from ntm.training.parallel import Ranks
from ntm.training.starts import Starts


@dataclass
class Counters:
    """Counters and costs of one start."""

    sequences: int = 0
    """Number of sequences trained on."""
    reported: int = 0
    """Number of sequences at the last report."""
    bits: float = 0.0
    """Total cost since the last report; sequences with smaller problems do not count."""
    smaller: int = 0
    """Number of sequences since the last report with smaller problems; see training.mixture."""
    seconds: float = 0.0
    """Training time of the run, with the time before it was resumed."""
    reported_seconds: float = 0.0
    """Training time at the last report."""
    solved_for: int = 0
    """Number of latest sequences for which every report was below training.solved_bits."""
    last_bits: float | None = None
    """Mean cost in the last report."""
    best_bits: float | None = None
    """Lowest validation cost so far."""

    @property
    def mean_bits(self) -> float:
        """Mean cost on the full range since the last report; if there was none, the last cost."""
        counted = self.sequences - self.reported - self.smaller
        if counted == 0 and self.last_bits is not None:
            return self.last_bits
        return self.bits / counted


class Average:
    """A network whose weights are the running mean of the weights passed to `take`.

    At a constant learning rate the weights fluctuate around an optimum, and their mean has a lower
    cost than the weights (Polyak and Juditsky, 1992). Early weights are far from the final ones, so
    the mean covers only the last part of the run so far; `share` sets how much.

    share: share of the training so far that the mean covers. After t sequences, the weights of s
        sequences ago count about exp(-s / (share t)) times as much as the newest weights.
    """

    def __init__(self, model: Model, share: float) -> None:
        self.model = copy.deepcopy(model).requires_grad_(False)
        self.share = share

    @torch.no_grad()
    def take(self, model: Model, before: int, now: int) -> None:
        """Add a model's weights to the mean.

        before, now: number of training sequences at the previous call and at this call.
        """
        weight = 1 - (before / now) ** (1 / self.share)
        for mean, newest in zip(self.model.parameters(), model.parameters(), strict=True):
            mean.lerp_(newest, weight)


class TrainingState:
    """State of a run. Its tensors are only written in place, never replaced."""

    def __init__(self, settings: Settings, model: Model) -> None:
        self.model = model
        self.optimiser = _make_optimiser(settings.optimiser, model)
        share = settings.training.average_share
        self.average = Average(model, share) if share else None
        self.counters, self.starts = Counters(), Starts.of(settings.training)

    def tensors(self) -> dict[str, Tensor]:
        """Return all tensors by name: of the current start and, as starts/..., of the trials."""
        kept = {f"starts/{name}": tensor for name, tensor in self.starts.tensors.items()}
        return self.own_tensors() | kept

    def own_tensors(self) -> dict[str, Tensor]:
        """Return the tensors of the current start."""
        return checkpoints.state_tensors(*self._owners)

    def values(self) -> dict[str, Any]:
        """Return the state without the tensors, as a dict for JSON."""
        trials = {"starts": self.starts.values()} if self.starts.count > 1 else {}
        return asdict(self.counters) | trials

    def restore(self, run: Run) -> list[str]:
        """Restore the newest intact checkpoint, if any; return the problems of newer ones."""
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
        """Restore the tensors of `own_tensors`."""
        checkpoints.restore(tensors, *self._owners)

    def copy_from_leader(self, ranks: Ranks) -> None:
        """Copy the leader's state to every rank."""
        ranks.copy_from_leader(self.own_tensors().values())
        self._take_values(ranks.from_leader(self.values()))
        self.starts.tensors = ranks.tensors_from_leader(self.starts.tensors)

    def begin(self, weights: Mapping[str, Tensor]) -> None:
        """Start again with other initial weights."""
        for network in (self.model, *([self.average.model] if self.average else [])):
            network.load_state_dict(weights)
        for state in self.optimiser.state.values():
            torch._foreach_zero_(list(state.values()))
        self.counters = Counters()

    def _take_values(self, values: Mapping[str, Any]) -> None:
        counters = Counters(**{k: v for k, v in values.items() if k != "starts"})
        # A run that started without trials stays without, even if it is made longer than a trial.
        starts = replace(self.starts, **values.get("starts", {"count": 1}))
        check_fields(counters)
        check_fields(starts)
        self.counters, self.starts = counters, starts

    @property
    def _owners(self) -> tuple[Model, GravesRMSprop, Model | None]:
        return self.model, self.optimiser, self.average.model if self.average else None


def _make_optimiser(chosen: OptimiserSettings, model: Model) -> GravesRMSprop:
    settings = {name: getattr(chosen, name) for name in optimiser.SETTINGS}
    made = GravesRMSprop(model.parameters(), chosen.learning_rate, **settings)
    made.ensure_state()
    return made

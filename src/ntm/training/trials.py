"""The end of a trial: the next start begins or, after the last trial, the best continues."""

import copy
from dataclasses import asdict
from typing import TYPE_CHECKING

from ntm.runs import build_model, checkpoints
from ntm.training.state import Counters

if TYPE_CHECKING:
    from ntm.training.loop import Trainer


def end_trial(run: "Trainer") -> str | None:
    """End the trial of the current start; return the verdict after the last trial, else None."""
    state, starts, seconds = run.state, run.state.starts, run.clock.seconds
    bits = run.ranks.from_leader(state.counters.best_bits)
    starts.end_trial(bits, asdict(state.counters), state.own_tensors())
    if starts.deciding:
        state.begin(build_model(run.part, starts.number).state_dict())
    else:
        _go_on_with_the_best(run)
    state.counters.seconds = state.counters.reported_seconds = seconds
    return None if starts.deciding else starts.verdict()


def _go_on_with_the_best(run: "Trainer") -> None:
    kept, tensors = run.state.starts.release()
    run.state.restore_own(tensors)
    run.state.counters = Counters(**kept["counters"])
    if run.settings.training.validate_every and run.state.counters.sequences < run.goal:
        run.state.counters.best_bits = None  # only later validations choose the best weights
    if run.folder is not None:
        best = copy.deepcopy(run.model)
        best.load_state_dict(checkpoints.under("best/", tensors))
        trained = kept["facts"]["sequences"] + run.state.starts.others
        run.folder.save_weights("best", best, kept["facts"] | {"sequences": trained})

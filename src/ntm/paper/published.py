"""Results of the paper, read off its published figures: costs in bits per sequence."""

from typing import NamedTuple

import numpy as np

from ntm.common.text import bits_text
from ntm.evaluation.curves import CostCurve, first_below
from ntm.paper.registry import experiment_of
from ntm.tasks.cases import Case

OPTIMAL = "optimal"
"""Name of the curve of the best possible predictions."""


class Reading(NamedTuple):
    """Cost read off a figure."""

    bits: float
    beyond: bool = False
    """Whether the curve is above the figure's frame, so that the cost is higher than `bits`."""

    def __str__(self) -> str:
        text = f"{self.bits:.3f}" if self.bits < 1 else bits_text(self.bits)
        return f"above {text}" if self.beyond else text


def paper_curves(task: str) -> dict[str, CostCurve]:
    """Return the paper's learning curves for a task, by model; empty if there are none.

    A task with a known optimum also has the curve "optimal". Each point is a mean over
    about 10,000 sequences; points above the figure's frame are missing.
    """
    return experiment_of(task).paper_curves


def paper_costs(task: str) -> dict[str, CostCurve]:
    """Return the paper's costs along the task's axis, by model; empty if the paper has none."""
    return experiment_of(task).paper_costs


def final_cost(task: str, model: str) -> Reading | None:
    """Return the mean cost over the last tenth of a curve, minus the optimum if it is known."""
    curve = _above_optimum(task, model)
    return curve and Reading(float(curve.bits[curve.x > 0.9 * curve.x[-1]].mean()))


def cost_at(task: str, model: str, sequences: int) -> Reading | None:
    """Return the cost after this many sequences; if the optimum is known, the cost above it."""
    curve, frame = _above_optimum(task, model), experiment_of(task).frame
    if curve is None:
        return None
    frame_top = frame[1] - _optimum(task) if frame else np.inf
    begins_above = curve.bits[0] > frame_top - 0.01
    if begins_above and sequences / 1000 < curve.x[0]:
        return Reading(frame_top, beyond=True)
    return Reading(float(np.interp(sequences / 1000, curve.x, curve.bits)))


def sequences_needed(task: str, model: str, bits: float, window: int) -> int | None:
    """Return how many sequences bring a curve below a cost, rounded to 1,000, or None."""
    curve = _above_optimum(task, model)
    found = curve and first_below(1000 * curve.x, curve.bits, bits, window)
    return None if found is None else 1000 * round(found / 1000)


def cost_of_case(task: str, model: str, case: Case) -> Reading | None:
    """Return the paper's cost at a size beyond the trained range; None if it is not given."""
    curve = paper_costs(task).get(model)
    if curve is None:
        return None
    (there,) = np.nonzero(curve.x == case.get(experiment_of(task).axis))
    return Reading(float(curve.bits[there[0]])) if len(there) else None


def _above_optimum(task: str, model: str) -> CostCurve | None:
    curve = paper_curves(task).get(model)
    return curve and CostCurve(curve.x, curve.bits - _optimum(task))


def _optimum(task: str) -> float:
    """Return the optimum in the paper's figure, or zero if the figure shows none."""
    optimal = paper_curves(task).get(OPTIMAL)
    return 0.0 if optimal is None else float(optimal.bits.mean())

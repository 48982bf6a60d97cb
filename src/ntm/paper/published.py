"""What the paper reports, read off its published figures: costs in bits per sequence."""

from typing import NamedTuple

import numpy as np

from ntm.common.text import bits_text
from ntm.evaluation.curves import CostCurve, first_below
from ntm.paper.registry import experiment_of
from ntm.tasks.cases import Case

OPTIMAL = "optimal"
"""The name of the curve of the best possible predictions."""


class Reading(NamedTuple):
    """A cost read off a figure."""

    bits: float
    beyond: bool = False
    """The curve is above the figure's frame there: the cost is higher, by an unknown amount."""

    def __str__(self) -> str:
        text = f"{self.bits:.3f}" if self.bits < 1 else bits_text(self.bits)
        return f"above {text}" if self.beyond else text


def paper_curves(task: str) -> dict[str, CostCurve]:
    """The learning curves of the paper's figure for a task, by model; empty if it has none.

    For a task with a known optimum there is also the curve "optimal". Each point is a mean over
    about 10,000 sequences; points above the figure's frame are missing.
    """
    return experiment_of(task).paper_curves


def paper_costs(task: str) -> dict[str, CostCurve]:
    """The paper's costs along an axis of a task, by model; empty if it has none."""
    return experiment_of(task).paper_costs


def final_cost(task: str, model: str) -> Reading | None:
    """The mean over the last tenth of a learning curve, above the optimum if there is one."""
    curve = _above_optimum(task, model)
    return curve and Reading(float(curve.bits[curve.x > 0.9 * curve.x[-1]].mean()))


def cost_at(task: str, model: str, sequences: int) -> Reading | None:
    """The learning curve after that many sequences, above the optimum if there is one."""
    curve, frame = _above_optimum(task, model), experiment_of(task).frame
    if curve is None:
        return None
    frame_top = frame[1] - _optimum(task) if frame else np.inf
    begins_above = curve.bits[0] > frame_top - 0.01
    if begins_above and sequences / 1000 < curve.x[0]:
        return Reading(frame_top, beyond=True)
    return Reading(float(np.interp(sequences / 1000, curve.x, curve.bits)))


def sequences_needed(task: str, model: str, bits: float, window: int) -> int | None:
    """Where the learning curve first is below a cost, to the thousand; None if nowhere."""
    curve = _above_optimum(task, model)
    found = curve and first_below(1000 * curve.x, curve.bits, bits, window)
    return None if found is None else 1000 * round(found / 1000)


def cost_of_case(task: str, model: str, case: Case) -> Reading | None:
    """The cost at a size beyond the trained range, where the paper gives it."""
    curve = paper_costs(task).get(model)
    if curve is None:
        return None
    (there,) = np.nonzero(curve.x == case.get(experiment_of(task).axis))
    return Reading(float(curve.bits[there[0]])) if len(there) else None


def _above_optimum(task: str, model: str) -> CostCurve | None:
    curve = paper_curves(task).get(model)
    return curve and CostCurve(curve.x, curve.bits - _optimum(task))


def _optimum(task: str) -> float:
    """What the figure's line of the optimum says; zero where there is none."""
    optimal = paper_curves(task).get(OPTIMAL)
    return 0.0 if optimal is None else float(optimal.bits.mean())

"""What the paper reports, read off its published figures: costs in bits per sequence."""

from typing import NamedTuple

import numpy as np

from ntm.figures.curves import FRAMES, Array, Curve, paper_curves


class Reading(NamedTuple):
    """A cost read off a figure."""

    bits: float
    beyond: bool = False
    """The curve is above the figure's frame there: all that is known is that it is more."""

    def __str__(self) -> str:
        text = f"{self.bits:.3f}" if self.bits < 1 else bits_text(self.bits)
        return f"above {text}" if self.beyond else text


def final_cost(task: str, model: str) -> Reading:
    """The mean over the last tenth of a learning curve; for n-grams, above the optimum."""
    curve = _curve(task, model)
    return Reading(float(curve.bits[curve.x > 0.9 * curve.x[-1]].mean()))


def cost_at(task: str, model: str, sequences: int) -> Reading:
    """The learning curve after that many sequences; for n-grams, above the optimum.

    Each point of the published curves is a mean over about 10,000 sequences.
    """
    curve, frame_top = _curve(task, model), FRAMES[task].bits[1] - _optimum(task)
    begins_above = curve.bits[0] > frame_top - 0.01
    if begins_above and sequences / 1000 < curve.x[0]:
        return Reading(frame_top, beyond=True)
    return Reading(float(np.interp(sequences / 1000, curve.x, curve.bits)))


def paper_needed(task: str, model: str, bits: float, window: int) -> int | None:
    """Where the learning curve first is below a cost, to the thousand; None if nowhere."""
    curve = _curve(task, model)
    found = first_below(1000 * curve.x, curve.bits, bits, window)
    return None if found is None else 1000 * round(found / 1000)


def recall_cost(model: str, items: int) -> Reading | None:
    """Figure 11: the cost of associative recall by the number of items, where it is given."""
    curve = paper_curves("associative-recall-generalisation")[model]
    (there,) = np.nonzero(curve.x == items)
    return Reading(float(curve.bits[there[0]])) if len(there) else None


def first_below(sequences: Array, bits: Array, threshold: float, window: int) -> int | None:
    """The first point of a learning curve below a threshold; None if there is none.

    bits: the mean cost since the point before. Where points are closer than `window` sequences,
    the mean over the last so many of them counts.
    """
    x = np.insert(sequences, 0, 0.0)
    total = np.insert(np.cumsum(np.diff(x) * bits), 0, 0.0)
    means = (total[1:] - np.interp(sequences - window, x, total)) / window
    (below,) = np.nonzero((means < threshold) & (sequences >= window))
    return int(sequences[below[0]]) if len(below) else None


def bits_text(bits: float) -> str:
    """A cost with about as many digits as it deserves."""
    return f"{bits:.{1 if bits >= 100 else 2 if bits >= 1 else 4}f}"


def _curve(task: str, model: str) -> Curve:
    curve = paper_curves(task)[model]
    return Curve(curve.x, curve.bits - _optimum(task))


def _optimum(task: str) -> float:
    """What the figure's line of the optimum says; zero where there is none."""
    optimal = paper_curves(task).get("optimal")
    return 0.0 if optimal is None else float(optimal.bits.mean())

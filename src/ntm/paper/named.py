"""Figures by the name of a task: they look up its experiment and hand it to `ntm.figures`."""

from matplotlib.figure import Figure

from ntm.figures.curves import Curves, draw_costs_along, draw_learning_curves
from ntm.paper.registry import experiment_of


def learning_curves(task: str, curves: Curves, optimum: float | None = None) -> Figure:
    """Draw how the cost falls with training: ours over the paper's, which are dotted.

    task: its name. The rest is as in `ntm.figures.curves.draw_learning_curves`.
    """
    return draw_learning_curves(experiment_of(task), curves, optimum)


def costs_along(task: str, curves: Curves, trained: int) -> Figure:
    """Draw the cost along an axis of a task beyond the trained range, ours and the paper's.

    task: its name. The rest is as in `ntm.figures.curves.draw_costs_along`.
    """
    return draw_costs_along(experiment_of(task), curves, trained)

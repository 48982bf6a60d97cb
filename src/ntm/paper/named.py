"""Figures by name of a task: each function looks up the experiment and calls `ntm.figures`."""

from matplotlib.figure import Figure

from ntm.figures.curves import Curves, draw_costs_along, draw_learning_curves
from ntm.paper.registry import experiment_of


def learning_curves(task: str, curves: Curves, optimum: float | None = None) -> Figure:
    """Draw the cost during training: our curves over the paper's dotted curves.

    task: name of the task. Other arguments: see `ntm.figures.curves.draw_learning_curves`.
    """
    return draw_learning_curves(experiment_of(task), curves, optimum)


def costs_along(task: str, curves: Curves, trained: int) -> Figure:
    """Draw our costs and the paper's beyond the trained range, along one axis.

    task: name of the task. Other arguments: see `ntm.figures.curves.draw_costs_along`.
    """
    return draw_costs_along(experiment_of(task), curves, trained)

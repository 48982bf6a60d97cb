"""Figures that fit any task or none, drawn from an experiment and its runs."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from matplotlib.figure import Figure

from ntm.common.lazy import later
from ntm.config import NTMConfig
from ntm.figures import diagrams
from ntm.figures.answers import draw_answers
from ntm.figures.curves import draw_costs_along, draw_learning_curves
from ntm.figures.memory_use import task_memory_use
from ntm.figures.runs import ANSWERS, RunFolders
from ntm.tasks.cases import TRAINED_RANGE, Case, case_name

if TYPE_CHECKING:
    from ntm.paper.experiment import Experiment

MIDDLE = f"answer of median cost of {ANSWERS}"


def architecture(_experiment: "Experiment", _runs: RunFolders) -> Figure:
    """Draw figure 1, with the sizes of copy."""
    return diagrams.architecture(NTMConfig(9, 8))


def addressing_flow(_experiment: "Experiment", _runs: RunFolders) -> Figure:
    """Draw figure 2."""
    return diagrams.addressing_flow()


def learning(experiment: "Experiment", runs: RunFolders) -> Figure:
    """Draw the learning curves, the paper's curves and, if known, the optimum."""
    curves = runs.learning_curves(experiment.task)
    return draw_learning_curves(experiment, curves, runs.task(experiment.task).optimum)


def answers(experiment: "Experiment", runs: RunFolders, models: Sequence[str]) -> Figure:
    """Draw one answer of a network per size, smallest first: the answer with the median cost."""
    network = runs.best(experiment.task, *models)
    *shorter, longest = (network.answer(case_name(case), case) for case in experiment.beyond)
    title = f"{network.title}: {experiment.title.lower()}, {MIDDLE}"
    return draw_answers(title, [shorter, [longest]] if shorter else [[longest]])


def answers_beside(
    experiment: "Experiment", runs: RunFolders, models: Sequence[str], wanted: Sequence[str]
) -> Figure:
    """Draw median answers of two networks, at each size beyond training."""
    networks = [runs.best(experiment.task, *models), *runs.wanted(experiment.task, *wanted)]
    lines = [
        [network.answer(f"{network.title}: {case_name(case)}", case)]
        for network in networks
        for case in experiment.beyond
    ]
    return draw_answers(f"{experiment.title}, {MIDDLE}", lines)


def costs(experiment: "Experiment", runs: RunFolders) -> Figure:
    """Draw our costs and the paper's along the axis for which the paper reports costs."""
    task, axis = experiment.task, experiment.axis
    curves = runs.costs(task, axis, [case[axis] for case in experiment.beyond])
    return draw_costs_along(experiment, curves, trained=runs.task(task).trained_range(axis)[1])


def memory(
    experiment: "Experiment",
    runs: RunFolders,
    models: Sequence[str] = (),
    at: Case = TRAINED_RANGE,
    picture: str = "",
) -> Figure:
    """Draw one write head and one read head at work on one problem.

    models: models in order of preference; if they have no run, any machine with heads is used.
    picture: function that draws a recording, given the numbers of the two heads (empty:
        `task_memory_use`).
    """
    network = runs.best(experiment.task, *models, *runs.with_heads(experiment.task))
    example = network.example(experiment.analyse, at)
    if not picture:
        machine = network.title.partition(",")[0]
        return task_memory_use(*example, task_title=experiment.title, machine=machine)
    figure: Figure = later(picture)(*example)
    return figure

"""The kinds of figure that fit any task, from an experiment and the runs there are."""

from collections.abc import Sequence

from matplotlib.figure import Figure

from ntm.figures.answers import draw_answers
from ntm.figures.curves import costs_along, learning_curves
from ntm.figures.runs import RunFolders
from ntm.models import MODELS
from ntm.paper.experiment import TRAINED_RANGE, Case, Experiment, case_name, later


def learning(experiment: Experiment, runs: RunFolders) -> Figure:
    """How the cost falls with training, over the paper's curves and the optimum if it is known."""
    curves = runs.learning_curves(experiment.task)
    return learning_curves(experiment.task, curves, runs.task(experiment.task).optimum)


def answers(experiment: Experiment, runs: RunFolders, models: Sequence[str]) -> Figure:
    """Targets above outputs of one network, from the smallest size to the largest."""
    network = runs.best(experiment.task, *models)
    *shorter, longest = (network.answer(case_name(case), case) for case in experiment.beyond)
    title = f"{network.title}: generalisation on the {experiment.title.lower()} task"
    return draw_answers(title, [shorter, [longest]] if shorter else [[longest]])


def answers_beside(
    experiment: Experiment, runs: RunFolders, models: Sequence[str], wanted: Sequence[str]
) -> Figure:
    """Targets above outputs at each size beyond training, of one network and of another."""
    networks = [runs.best(experiment.task, *models), *runs.wanted(experiment.task, *wanted)]
    lines = [
        [network.answer(f"{network.title}: {case_name(case)}", case)]
        for network in networks
        for case in experiment.beyond
    ]
    return draw_answers(f"Generalisation on the {experiment.title.lower()} task", lines)


def costs(experiment: Experiment, runs: RunFolders) -> Figure:
    """The cost along the axis for which the paper has costs, ours and the paper's."""
    task, axis = experiment.task, experiment.axis
    curves = runs.costs(task, axis, [case[axis] for case in experiment.beyond])
    return costs_along(task, curves, trained=runs.task(task).trained_range(axis)[1])


def memory(
    experiment: Experiment,
    runs: RunFolders,
    models: Sequence[str] = (),
    at: Case = TRAINED_RANGE,
    picture: str = "ntm.figures.memory_use:task_memory_use",
) -> Figure:
    """What one write head and one read head do with one problem.

    picture: the function that draws it, from a recording and the numbers of the two heads.
    """
    with_memory = [name for name, kind in MODELS.items() if kind.has_memory]
    network = runs.best(experiment.task, *(models or with_memory))
    figure: Figure = later(picture)(*network.example(at))
    return figure

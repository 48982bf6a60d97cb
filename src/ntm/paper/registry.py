"""The experiments there are: the files beside this one, and those that others register."""

from pathlib import Path

from ntm.paper.experiment import Experiment
from ntm.paper.reading import read_experiment
from ntm.tasks import TASKS

_files = map(read_experiment, Path(__file__).parent.glob("*.toml"))
MACHINE, *_paper = sorted(_files, key=lambda experiment: experiment.figures[0].number or 0)
"""Section 3, which has figures and no task."""
_EXPERIMENTS = {experiment.task: experiment for experiment in _paper}


def register_experiment(experiment: Experiment) -> Experiment:
    """Make an experiment known, in place of an earlier one for the same task."""
    _EXPERIMENTS[experiment.task] = experiment
    return experiment


def experiments() -> tuple[Experiment, ...]:
    """All experiments, the paper's first and in its order."""
    len(TASKS)  # which imports the tasks of other packages, and with them their experiments
    return tuple(_EXPERIMENTS.values())


def experiment_of(task: str) -> Experiment:
    """The experiment of a task; if none is registered, one with defaults."""
    return _EXPERIMENTS.get(task) or Experiment(task=task)

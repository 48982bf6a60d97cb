"""Registry of experiments: the TOML files in this folder, and experiments registered by others."""

from pathlib import Path

from ntm.paper.experiment import Experiment
from ntm.paper.reading import read_experiment
from ntm.tasks import TASKS

_files = map(read_experiment, Path(__file__).parent.glob("*.toml"))
MACHINE, *_paper = sorted(_files, key=lambda experiment: experiment.figures[0].number or 0)
"""Section 3 of the paper: figures without a task."""
_EXPERIMENTS = {experiment.task: experiment for experiment in _paper}


def register_experiment(experiment: Experiment) -> Experiment:
    """Register an experiment. It replaces an earlier one for the same task."""
    _EXPERIMENTS[experiment.task] = experiment
    return experiment


def experiments() -> tuple[Experiment, ...]:
    """Return all experiments: the paper's first, in the paper's order."""
    len(TASKS)  # imports the tasks of other packages, which register their experiments
    return tuple(_EXPERIMENTS.values())


def experiment_of(task: str) -> Experiment:
    """Return the experiment of a task; if none is registered, one with defaults."""
    return _EXPERIMENTS.get(task) or Experiment(task=task)

"""The experiments there are: the paper's, and those that others register."""

from ntm.paper import associative_recall, copy, ngrams, priority_sort, repeat_copy
from ntm.paper.experiment import Experiment

_EXPERIMENTS: dict[str, Experiment] = {}


def register_experiment(experiment: Experiment) -> Experiment:
    """Make an experiment known, in place of an earlier one for the same task."""
    _EXPERIMENTS[experiment.task] = experiment
    return experiment


def experiments() -> tuple[Experiment, ...]:
    """All experiments, the paper's first and in its order."""
    return tuple(_EXPERIMENTS.values())


def experiment_of(task: str) -> Experiment:
    """The experiment of a task; one that says no more than its name if nobody registered any."""
    return _EXPERIMENTS.get(task) or Experiment(task=task)


for _module in (copy, repeat_copy, associative_recall, ngrams, priority_sort):
    register_experiment(_module.EXPERIMENT)

"""Registry of experiments: the files */experiment.toml, and experiments registered by others.

An experiment file has the fields of `Experiment` as TOML. Functions are named
"package.module:function". File names are relative to the experiment's file. `beside`
lists the tables of results beside a figure, each as [kind, model, ...]. docs/tasks.md has an
example.
"""

import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ntm.common.lazy import later
from ntm.paper.experiment import AbilityCase, Beside, Experiment, FigureSpec, Goal, Plan, Widths
from ntm.tasks import TASKS


def read_experiment(file: str | Path) -> Experiment:
    """Read the experiment that a file describes."""
    file = Path(file)
    try:
        values = tomllib.loads(file.read_text(encoding="utf-8"))
        parts = {name: read(values[name]) for name, read in _PARTS.items() if name in values}
        files = {name: file.parent / values[name] for name in _FILES if name in values}
        return Experiment(**{**values, **parts, **files})
    except (TypeError, ValueError) as error:
        raise ValueError(f"{file} does not describe an experiment: {error}") from error


def _figure(values: Mapping[str, Any]) -> FigureSpec:
    values = dict(values)
    draw = later(values.pop("draw"), **values.pop("options", {}))
    beside = tuple(Beside(kind, tuple(models)) for kind, *models in values.pop("beside", ()))
    return FigureSpec(draw=draw, beside=beside, **values)


_FILES = ("curves", "costs")
_PARTS: Mapping[str, Callable[[Any], Any]] = {
    "widths": lambda values: Widths(**values),
    "networks": lambda values: {model: Plan(**plan) for model, plan in values.items()},
    "cases": tuple,
    "abilities": lambda values: tuple(AbilityCase(**case) for case in values),
    "goals": lambda values: tuple(Goal(**goal) for goal in values),
    "figures": lambda values: tuple(map(_figure, values)),
    "analysis": later,
    "frame": tuple,
}

_files = map(read_experiment, Path(__file__).parent.glob("*/experiment.toml"))
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

"""Reader of experiment files: the fields of `Experiment` as TOML.

Functions are named "package.module:function". File names are relative to the experiment's file. A
table beside a figure is a list of its kind and its models. docs/tasks.md has an example.
"""

import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ntm.common.lazy import later
from ntm.paper.experiment import (
    AbilityCase,
    Beside,
    Experiment,
    FigureSpec,
    Goal,
    Plan,
    Widths,
)


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

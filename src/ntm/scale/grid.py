"""Sweep files: TOML that describes many runs, one per combination of the values in its lists.

    tasks = ["copy", "repeat-copy"]
    models = ["ntm-ff", "lstm"]
    seeds = [1, 2, 3]

    [optimiser]
    learning_rate = [1e-4, 3e-5]

    [training]
    sequences = 20_000

    [training.repeat-copy]
    sequences = 50_000

A table is a section of the settings. A nested table, named after a task or a model, applies only to
that task or model. Values from lists are part of the folder names, so you can extend a list later.
"""

import itertools
import math
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ntm.common.fields import as_text, named_field
from ntm.common.text import unknown
from ntm.models import MODELS
from ntm.paper import settings_for
from ntm.runs import Settings
from ntm.runs.settings import SECTIONS
from ntm.scale.jobs import Job, require_own_folders

_MOST_RUNS = 100_000
_LISTS = {"tasks": None, "models": [next(iter(MODELS))], "seeds": [1]}


def read_grid(file: str | Path, folder: str | Path) -> list[Job]:
    """Read the jobs of a TOML file, each with its own folder inside `folder`.

    Raise ValueError for an unknown key, an invalid value, an empty list or a duplicate run.
    """
    try:
        data = tomllib.loads(Path(file).read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise ValueError(f"There is no file {file}.") from error
    except (ValueError, RecursionError) as error:  # not TOML, or not even text
        raise ValueError(f"{file} is not TOML: {error}.") from error
    try:
        return jobs_of(data, folder)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{file}: {error}") from error


def jobs_of(data: Mapping[str, Any], folder: str | Path) -> list[Job]:
    """Return the jobs of a parsed file, sorted by seed: all jobs of the first seed come first."""
    _check_keys(data)
    tasks, models, seeds = (_list(data, name) for name in _LISTS)
    _check_tables(data, [*tasks, *models])
    _require_few(len(tasks) * len(models) * len(seeds))
    pairs = list(itertools.product(tasks, models))
    grids = [_combinations(data, task, model) for task, model in pairs]
    _require_few(len(seeds) * sum(map(len, grids)))
    jobs = [
        Job(settings, Path(folder) / name)
        for seed in seeds
        for pair, grid in zip(pairs, grids, strict=True)
        for name, settings in _runs(pair, grid, seed)
    ]
    _require_different(jobs)
    return jobs


class Setting(NamedTuple):
    """A setting and its value."""

    key: str
    """Name of the setting: section.name."""
    text: str
    """Value as a user would type it."""
    listed: bool
    """Whether the value comes from a list, and so is part of the folder's name."""


def _list(data: Mapping[str, Any], name: str) -> list[Any]:
    values = data.get(name, _LISTS[name])
    if values is None:
        raise ValueError(f'The file lacks its {name}, such as {name} = ["copy"].')
    if not isinstance(values, list):
        raise ValueError(f"{name} is {values!r}; write a list, such as {name} = [{values!r}].")
    if not values:
        raise ValueError(f"{name} is an empty list; give at least one value.")
    return values


def _require_few(runs: int) -> None:
    if runs > _MOST_RUNS:
        raise ValueError(
            f"It describes {runs:,} runs; a sweep has at most {_MOST_RUNS:,}. Split the sweep."
        )


def _check_keys(data: Mapping[str, Any]) -> None:
    for key in data:
        if key not in {*_LISTS, *SECTIONS}:
            raise ValueError(unknown("key of a sweep", key, (*_LISTS, *SECTIONS)))


def _check_tables(data: Mapping[str, Any], names: Sequence[Any]) -> None:
    for section in SECTIONS:
        table = data.get(section, {})
        if not isinstance(table, dict):
            raise ValueError(f"{section} is {table!r}; write a table, [{section}].")
        for name, value in table.items():
            if isinstance(value, dict) and name not in names:
                raise ValueError(
                    f"[{section}.{name}] is named after neither a task nor a model of this sweep: "
                    f"{', '.join(map(str, names))}."
                )


def _combinations(data: Mapping[str, Any], task: Any, model: Any) -> list[tuple[Setting, ...]]:
    """Return all combinations of the settings for a task and a model."""
    base = settings_for(str(task), str(model))
    values: dict[str, Any] = {}
    for section in SECTIONS:
        table = data.get(section, {})
        own = [inner for name, inner in table.items() if name in (task, model)]
        general = {name: value for name, value in table.items() if not isinstance(value, dict)}
        for settings in (general, *own):
            values |= {f"{section}.{name}": value for name, value in settings.items()}
    choices = [_choices(base, key, value) for key, value in values.items()]
    _require_few(math.prod(map(len, choices)))
    return list(itertools.product(*choices))


def _choices(base: Settings, key: str, value: Any) -> list[Setting]:
    section, _, name = key.partition(".")
    owner = getattr(base, section)
    try:
        named_field(type(owner), section, name)
    except ValueError as error:
        raise ValueError(f"{base.task.name} with {base.model_name}: {error}") from error
    if key == "training.seed":
        raise ValueError("Instead of training.seed, give seeds = [1, 2, 3] at the top of the file.")
    # A setting may itself be a list of numbers: [-1, 0, 1] is one value of model.shifts.
    listed = isinstance(value, list) and (
        not isinstance(getattr(owner, name), tuple) or any(isinstance(v, list | str) for v in value)
    )
    if value == []:
        raise ValueError(f"{key} is an empty list; give at least one value.")
    return [Setting(key, as_text(choice), listed) for choice in (value if listed else [value])]


def _runs(
    pair: tuple[str, str], grid: Sequence[tuple[Setting, ...]], seed: Any
) -> Iterator[tuple[str, Settings]]:
    """Yield the folder names and settings for one task, model and seed."""
    base = settings_for(*pair)
    for combination in grid:
        # Set the threads explicitly: floating-point sums depend on their number.
        texts = {"training.threads": "1", "training.seed": str(seed)}
        texts |= {key: text for key, text, _ in combination}
        axes = [f"{key.partition('.')[2]}={text}" for key, text, listed in combination if listed]
        parts = [base.task.name, base.model_name, str(seed), *axes]
        name = re.sub(r"[^\w.,=+-]", "_", "-".join(parts))
        try:
            settings = base.with_text(texts)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{name}: {error}") from error
        yield name, settings


def _require_different(jobs: Sequence[Job]) -> None:
    seen: dict[Settings, str] = {}
    for job in jobs:
        if (other := seen.setdefault(job.settings, job.name)) != job.name:
            raise ValueError(f"{other} and {job.name} are the same run; list each value once.")
    if len(seen) < len(jobs):
        raise ValueError("The same run occurs twice; list each task, model, seed and value once.")
    require_own_folders(jobs)

"""The names of tasks and models for the help, without importing any of them.

The experiments of the paper are files that name both; other packages name theirs by entry points.
"""

import tomllib
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import ntm


def task_names() -> list[str]:
    """The tasks of the paper, and those of other packages."""
    return [*(experiment["task"] for experiment in _experiments()), *_brought("ntm.tasks")]


def model_names() -> list[str]:
    """The models of the paper, and those of other packages."""
    named = dict.fromkeys(model for e in _experiments() for model in e["networks"])
    return [*named, *_brought("ntm.families")]


@cache
def _experiments() -> list[dict[str, Any]]:
    folder = Path(ntm.__file__).parent / "paper"
    files = [tomllib.loads(file.read_text()) for file in folder.glob("*.toml")]
    found = [file for file in files if "networks" in file]
    return sorted(found, key=lambda file: file["figures"][0]["number"])


def _brought(group: str) -> list[str]:
    return [point.name for point in entry_points(group=group)]

"""Names of tasks and models for the help, found without importing them.

The TOML files of the paper's experiments list the paper's tasks and models; entry points list those
of other packages.
"""

import tomllib
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import ntm


def task_names() -> list[str]:
    """Return the names of the paper's tasks and of tasks from other packages."""
    return [*(experiment["task"] for experiment in _experiments()), *_brought("ntm.tasks")]


def model_names() -> list[str]:
    """Return the names of the paper's models and of models from other packages."""
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

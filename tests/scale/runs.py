"""Tiny runs for the tests of sweeps, and what they must have in common whatever ran them."""

from pathlib import Path
from typing import Any

from ntm.scale import Job
from ntm.scale.grid import jobs_of

SMALL: dict[str, Any] = {
    "tasks": ["copy"],
    "task": {"bits": 3, "max_length": 3},
    "model": {"controller_size": 7, "memory_locations": 11, "memory_width": 5},
    "optimiser": {"learning_rate": 1e-3},
    "training": {
        "sequences": 500,
        "report_every": 100,
        "validate_every": 300,
        "validation_sequences": 3,
        "checkpoint_seconds": 0.2,
    },
}
LONG = 240_000  # sequences that keep a worker busy for seconds
LONG_RUN = {
    "training__sequences": [LONG],
    "training__report_every": 1000,
    "training__validate_every": 20_000,
    "training__checkpoint_seconds": 0.05,
}


def small(**changed: Any) -> dict[str, Any]:
    """The grid of one tiny run with some keys changed, those of sections by section__key."""
    data = {key: dict(value) if isinstance(value, dict) else value for key, value in SMALL.items()}
    for name, value in changed.items():
        section, _, key = name.partition("__")
        if key:
            data[section] |= {key: value}
        else:
            data[name] = value
    return data


def small_jobs(folder: Path, **changed: Any) -> list[Job]:
    return jobs_of(small(**changed), folder)


def eight_jobs(folder: Path) -> list[Job]:
    """Two runs that last for seconds, and six short ones."""
    return [*long_jobs(folder), *small_jobs(folder, seeds=[1, 2, 3, 4, 5, 6])]


def long_jobs(folder: Path) -> list[Job]:
    """Two runs that last for seconds, so that there is time to kill something."""
    return small_jobs(folder, seeds=[1, 2], **LONG_RUN)

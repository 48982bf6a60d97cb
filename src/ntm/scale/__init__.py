"""Many runs: grids of settings on this machine or on a Ray cluster.

    from ntm.scale import Job, execute

    jobs = [Job(settings, Path("runs") / name) for name, settings in wanted.items()]
    outcomes = execute(jobs)

Every run is a folder like that of `ntm train`, whatever ran it. docs/scale.md has the whole story.
"""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ntm.scale.execution import execute
    from ntm.scale.grid import read_grid
    from ntm.scale.jobs import Job, Outcome, Standing
    from ntm.scale.summary import Summary, summarise

__all__ = ["Job", "Outcome", "Standing", "Summary", "execute", "read_grid", "summarise"]

_HOMES = {
    "Job": "ntm.scale.jobs",
    "Outcome": "ntm.scale.jobs",
    "Standing": "ntm.scale.jobs",
    "Summary": "ntm.scale.summary",
    "execute": "ntm.scale.execution",
    "read_grid": "ntm.scale.grid",
    "summarise": "ntm.scale.summary",
}


def __getattr__(name: str) -> object:
    """Import what is asked for when it is: the command line reads this file before its options."""
    if name not in _HOMES:
        raise AttributeError(f"module 'ntm.scale' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__

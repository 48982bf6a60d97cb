"""Many runs: grids of settings on this machine or on a Ray cluster.

    from ntm.scale import Job, execute

    jobs = [Job(settings, Path("runs") / name) for name, settings in wanted.items()]
    outcomes = execute(jobs)

Every run has a run folder like the folders of `ntm train`. docs/scale.md has the details.
"""

from typing import TYPE_CHECKING

from ntm.common.lazy import lazily

if TYPE_CHECKING:
    from ntm.scale.execution import execute
    from ntm.scale.grid import read_grid
    from ntm.scale.jobs import Job, Outcome, Standing
    from ntm.scale.summary import Summary, summarise

__all__ = ["Job", "Outcome", "Standing", "Summary", "execute", "read_grid", "summarise"]

_NAMES = {
    "ntm.scale.jobs": ("Job", "Outcome", "Standing"),
    "ntm.scale.summary": ("Summary", "summarise"),
    "ntm.scale.execution": ("execute",),
    "ntm.scale.grid": ("read_grid",),
}

__getattr__, __dir__ = lazily(__name__, _NAMES)

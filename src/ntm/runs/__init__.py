"""The store: run folders, saved networks and packaged networks, with their settings and data.

    from ntm.runs import Run

    run = Run("runs/copy")
    model, facts = run.load_model()

`weights` reads and writes weights, and `facts` defines the metadata beside them. A network is in a
run folder (`folder`), in a folder of `save_pretrained` (`saving`) or in the package (`packaged`);
`opening` finds a network by name. `ntm.training` makes runs.
"""

from ntm.runs.building import build_model, full_size
from ntm.runs.errors import FolderError, RunError
from ntm.runs.facts import read_metrics
from ntm.runs.folder import Run, find_runs, run_name
from ntm.runs.sections import OptimiserSettings, TrainingSettings
from ntm.runs.settings import Settings
from ntm.runs.stream import Stream, block_generator

__all__ = [
    "FolderError",
    "OptimiserSettings",
    "Run",
    "RunError",
    "Settings",
    "Stream",
    "TrainingSettings",
    "block_generator",
    "build_model",
    "find_runs",
    "full_size",
    "read_metrics",
    "run_name",
]

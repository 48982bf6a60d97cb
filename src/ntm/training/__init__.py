"""Training: settings, the paper's presets and optimiser, the loop, checkpoints and logs.

    from ntm.training import make_progress, paper_settings, train

    settings = paper_settings("copy", "ntm-ff").changed({"training.sequences": "20000"})
    result = train(settings, run="runs/copy", progress=make_progress())

docs/training.md has the whole story.
"""

from ntm.training.files import FolderError, RunError
from ntm.training.logs import read_metrics
from ntm.training.loop import Result, train
from ntm.training.optimiser import GravesRMSprop
from ntm.training.presets import (
    TABLES,
    PaperNetwork,
    paper_network,
    paper_settings,
    settings_for,
)
from ntm.training.progress import Progress, make_progress
from ntm.training.run import Run, build_model
from ntm.training.settings import (
    MODELS,
    OptimiserSettings,
    Settings,
    TrainingSettings,
)
from ntm.training.step import Step, TorchStep
from ntm.training.stream import Stream, block_generator

__all__ = [
    "MODELS",
    "TABLES",
    "FolderError",
    "GravesRMSprop",
    "OptimiserSettings",
    "PaperNetwork",
    "Progress",
    "Result",
    "Run",
    "RunError",
    "Settings",
    "Step",
    "Stream",
    "TorchStep",
    "TrainingSettings",
    "block_generator",
    "build_model",
    "make_progress",
    "paper_network",
    "paper_settings",
    "read_metrics",
    "settings_for",
    "train",
]

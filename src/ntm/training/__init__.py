"""Training: settings, the paper's presets and optimiser, the loop, checkpoints and logs.

    from ntm.training import make_progress, paper_settings, train

    settings = paper_settings("copy", "ntm-ff").with_(training={"sequences": 20_000})
    result = train(settings, run="runs/copy", progress=make_progress())

docs/training.md has the whole story.
"""

from ntm.paper.settings import paper_settings, settings_for
from ntm.pretrained.runs import fine_tuned
from ntm.runs import Run, RunError, Settings, Stream
from ntm.training.begin import train
from ntm.training.loop import Result
from ntm.training.observers import Observer
from ntm.training.optimiser import GravesRMSprop
from ntm.training.progress import Progress, make_progress
from ntm.training.step import Step, TorchStep

__all__ = [
    "GravesRMSprop",
    "Observer",
    "Progress",
    "Result",
    "Run",
    "RunError",
    "Settings",
    "Step",
    "Stream",
    "TorchStep",
    "fine_tuned",
    "make_progress",
    "paper_settings",
    "settings_for",
    "train",
]

"""Training: the loop, its observers, several starts and several processes.

    from ntm.training import make_progress, paper_settings, train

    settings = paper_settings("copy", "ntm-ff").with_(training={"sequences": 20_000})
    result = train(settings, run="runs/copy", progress=make_progress())

docs/training.md has the whole story.
"""

from typing import TYPE_CHECKING

from ntm.common.lazy import lazily
from ntm.models.optimiser import GravesRMSprop
from ntm.models.step import Step, TorchStep
from ntm.runs import Run, RunError, Settings, Stream
from ntm.runs.opening import fine_tuned
from ntm.training.begin import train
from ntm.training.display import Progress, make_progress
from ntm.training.loop import Result
from ntm.training.observing import Observer

if TYPE_CHECKING:
    from ntm.paper.settings import paper_settings, settings_for

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

# The settings of the paper's experiments live a layer above.
__getattr__, __dir__ = lazily(__name__, {"ntm.paper.settings": ("paper_settings", "settings_for")})

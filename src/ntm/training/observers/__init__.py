"""Observers of a run, called at its events.

class Print(Observer):
    def reported(self, run, line):
        print(line["sequences"], line["bits"])

train(settings, observers=[Print()])
"""

from ntm.training.observers.base import Observer
from ntm.training.observers.checkpoints import Checkpoints
from ntm.training.observers.display import Display, Pictures
from ntm.training.observers.logs import MetricsLog, TensorBoardLog
from ntm.training.observers.schedule import Schedule
from ntm.training.observers.validation import Validation

__all__ = [
    "Checkpoints",
    "Display",
    "MetricsLog",
    "Observer",
    "Pictures",
    "Schedule",
    "TensorBoardLog",
    "Validation",
]

"""Model families that a run can train, their training steps, and the paper's optimiser.

`ntm` and `lstm_family` register the families.
"""

from ntm.models import ntm, lstm, lstm_family  # isort: skip  # in the order of the paper's tables
from ntm.models.family import MODELS, Family, Model, family, family_of, register

__all__ = [
    "MODELS",
    "Family",
    "Model",
    "family",
    "family_of",
    "lstm",
    "lstm_family",
    "ntm",
    "register",
]

"""Neural Turing Machines (Graves, Wayne and Danihelka, 2014) as a PyTorch layer.

from ntm import NTM
net = NTM(input_size=9, output_size=8)
logits, state = net(x)                    # x: (time, batch, input_size)
"""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ntm.cell import State
    from ntm.config import NTMConfig
    from ntm.layer import NTM
    from ntm.models.lstm import LSTMBaseline, LSTMConfig
    from ntm.trace import Trace

__all__ = ["NTM", "LSTMBaseline", "LSTMConfig", "NTMConfig", "State", "Trace", "__version__"]
__version__ = "0.1.0"

_HOMES = {
    "NTM": "ntm.layer",
    "NTMConfig": "ntm.config",
    "State": "ntm.cell",
    "Trace": "ntm.trace",
    "LSTMBaseline": "ntm.models.lstm",
    "LSTMConfig": "ntm.models.lstm",
}


def __getattr__(name: str) -> object:
    """Import what is asked for when it is: `ntm --help` needs no torch, and torch takes seconds."""
    if name not in _HOMES:
        raise AttributeError(f"module 'ntm' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__

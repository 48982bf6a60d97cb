"""Neural Turing Machines (Graves, Wayne and Danihelka, 2014) as a PyTorch layer.

from ntm import NTM
net = NTM(input_size=9, output_size=8)
logits, state = net(x)                    # x: (time, batch, input_size)
"""

import importlib
import pkgutil
from typing import TYPE_CHECKING, Any

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


def __getattr__(name: str) -> Any:
    """Import what is asked for when it is: `ntm --help` needs no torch, and torch takes seconds."""
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    if name in _submodules():
        return importlib.import_module(f"ntm.{name}")
    raise AttributeError(f"module 'ntm' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, *_submodules()]


def _submodules() -> list[str]:
    """What `import ntm` gives access to by name, such as `ntm.pretrained`; not the command."""
    found = (module.name for module in pkgutil.iter_modules(__path__))
    return [name for name in found if name not in {"__main__", "cli"}]

"""Neural Turing Machines (Graves, Wayne and Danihelka, 2014) as a PyTorch layer.

from ntm import NTM
net = NTM(input_size=9, output_size=8)
logits, state = net(x)                    # x: (time, batch, input_size)
"""

from typing import TYPE_CHECKING

from ntm.common.lazy import lazily

if TYPE_CHECKING:
    from ntm.cell import State
    from ntm.config import NTMConfig
    from ntm.layer import NTM
    from ntm.models.lstm import LSTMBaseline, LSTMConfig
    from ntm.trace import Trace

__all__ = ["NTM", "LSTMBaseline", "LSTMConfig", "NTMConfig", "State", "Trace", "__version__"]
__version__ = "0.1.0"

_NAMES = {
    "ntm.layer": ("NTM",),
    "ntm.config": ("NTMConfig",),
    "ntm.cell": ("State",),
    "ntm.trace": ("Trace",),
    "ntm.models.lstm": ("LSTMBaseline", "LSTMConfig"),
}

__getattr__ = lazily(__name__, _NAMES)


def __dir__() -> list[str]:
    return __all__

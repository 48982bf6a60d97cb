"""Neural Turing Machines (Graves, Wayne and Danihelka, 2014) as a PyTorch layer.

from ntm import NTM
net = NTM(input_size=9, output_size=8)
logits, state = net(x)                    # x: (time, batch, input_size)
"""

from typing import TYPE_CHECKING

from ntm.common.lazy import lazily

if TYPE_CHECKING:
    from ntm.cell import State, Weightings
    from ntm.config import NTMConfig
    from ntm.layer import NTM
    from ntm.models.lstm import LSTMBaseline, LSTMConfig
    from ntm.trace import Trace

__all__ = [
    "NTM",
    "LSTMBaseline",
    "LSTMConfig",
    "NTMConfig",
    "State",
    "Trace",
    "Weightings",
    "__version__",
]
__version__ = "1.0.0"

_NAMES = {
    "ntm.layer": ("NTM",),
    "ntm.config": ("NTMConfig",),
    "ntm.cell": ("State", "Weightings"),
    "ntm.trace": ("Trace",),
    "ntm.models.lstm": ("LSTMBaseline", "LSTMConfig"),
}


def _submodules() -> list[str]:
    """Return the submodules that `import ntm` makes available, such as `ntm.pretrained`."""
    import pkgutil  # slow, and seldom needed

    found = (module.name for module in pkgutil.iter_modules(__path__))
    return [name for name in found if name != "__main__"]


__getattr__, __dir__ = lazily(__name__, _NAMES, _submodules)

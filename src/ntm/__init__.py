"""Neural Turing Machines (Graves, Wayne and Danihelka, 2014) as a PyTorch layer."""

from ntm.cell import State
from ntm.config import NTMConfig
from ntm.layer import NTM
from ntm.trace import Trace

__all__ = ["NTM", "NTMConfig", "State", "Trace"]
__version__ = "0.1.0"

"""The engines: interchangeable implementations that run a network, and the choice between them.

    native      C++ for the CPU, float32 and float64: the same numbers, 5 to 400 times faster
    reference   plain PyTorch: any device and dtype, every transform of PyTorch (torch.func and
                others); the numbers of this engine are right by definition

`base` has the interface and the registry. An engine registers itself when it is imported.
"""

from ntm.engine import direct, native, reference  # in the order of preference
from ntm.engine.base import (
    Choice,
    Engine,
    EngineName,
    Request,
    checked_name,
    choose,
    get,
    names,
    register,
    run,
)

__all__ = [
    "Choice",
    "Engine",
    "EngineName",
    "Request",
    "checked_name",
    "choose",
    "direct",
    "get",
    "names",
    "native",
    "reference",
    "register",
    "run",
]

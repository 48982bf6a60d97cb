"""The engine interface, the registry of engines, and the choice of an engine for a network.

An engine is a module that registers an `Engine`. "auto" takes the first registered engine that can
run the network; `choose` also returns the reason.
"""

import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, cast
from weakref import WeakKeyDictionary

import torch
from torch import Tensor

if TYPE_CHECKING:
    from ntm.cell import State
    from ntm.layer import NTM

# For type checkers and editors; at run time the registry has the names.
EngineName = Literal["auto", "native", "reference"]
Record = dict[str, Tensor]
WEIGHTINGS = ("read_weightings", "write_weightings")
Answer = tuple[Tensor, Sequence[Tensor], Record]


class Request(NamedTuple):
    """Whole sequences for a network to run, time first, and the results to return."""

    x: Tensor
    state: "State | None"
    """State to start from; None is the learned start."""
    lengths: Tensor | None
    record: bool = False
    record_memory: bool = False
    weightings: bool = False
    """Whether to return the weightings of every step, with gradients, instead of a record."""


class Declined(Exception):  # noqa: N818  # an answer, which no user sees
    """Raised by an engine that does not run a network; the message completes "because ..."."""


class Engine(Protocol):
    """Implementation that runs an NTM. All engines compute the same numbers."""

    @property
    def name(self) -> str:
        """Name that users type."""

    def obstacle(self, device: torch.device, dtype: torch.dtype) -> str | None:
        """Return the reason why the engine cannot run on this device and dtype, or None."""

    def declines(self, net: "NTM") -> str | None:
        """Return the reason why the engine does not run this network, or None."""

    def run(self, net: "NTM", request: Request) -> Answer:
        """Return logits (time, batch, outputs), the parts of the final state, and a record.

        The record is empty unless requested. If the request asks for weightings, the record has
        `read_weightings` and `write_weightings`. Raise Declined if the engine does not run this
        network, or does not run under the active transform.
        """

    def gradients(self, net: "NTM") -> Any | None:
        """Return a callable that computes a training step's gradients without autograd, or None.

        None means that the engine has no such callable, or that a call of the network may do more
        than `NTM.forward`.
        """


class Choice(NamedTuple):
    """Chosen engine and the reason for the choice."""

    name: str
    reason: str


_engines: dict[str, Engine] = {}
_warned: WeakKeyDictionary["NTM", set[str]] = WeakKeyDictionary()


def register(engine: Engine) -> None:
    """Add an engine. "auto" prefers engines that were registered earlier."""
    _engines[engine.name] = engine


def names() -> list[str]:
    """Return the values that `NTM(engine=...)` takes."""
    return ["auto", *_engines]


def checked_name(name: str) -> EngineName:
    """Return the name; raise ValueError with a list of all names if no engine has this name."""
    if name not in _engines and name != "auto":
        listed = ", ".join(repr(known) for known in names())
        raise ValueError(f"engine must be one of {listed}; got {name!r}.")
    return cast(EngineName, name)


def get(name: str) -> Engine:
    """Return the engine with this name."""
    return _engines[checked_name(name)]


def choose(name: str, device: torch.device, dtype: torch.dtype, net: "NTM | None" = None) -> Choice:
    """Return the engine for this device and dtype, and the reason; raise RuntimeError if none runs.

    name: requested engine, or "auto".
    net: network to run; an engine may decline it (None: check only device and dtype).
    """
    reason = "it is the fastest here"
    for engine in _engines.values() if name == "auto" else [get(name)]:
        obstacle = engine.obstacle(device, dtype)
        if obstacle is None and net is not None:
            obstacle = engine.declines(net)
        if obstacle is None:
            return Choice(engine.name, reason if name == "auto" else "it was asked for")
        reason = obstacle
    raise refusal(name, reason)


def run(net: "NTM", request: Request) -> Answer:
    """Run whole sequences on the network's engine, as `Engine.run` describes."""
    if request.x.shape[1] == 0:  # no sequences: torch gives zero gradients without a kernel
        return _engines["reference"].run(net, request)
    reason = ""
    for engine in _engines.values() if net.engine == "auto" else [_engines[net.engine]]:
        obstacle = engine.obstacle(request.x.device, request.x.dtype)
        if obstacle is not None:
            reason = obstacle
            continue
        try:
            return engine.run(net, request)
        except Declined as declined:
            reason = str(declined)
            if net.engine == "auto":
                _warn_once(net, engine.name, reason)
    raise refusal(net.engine, reason)


def refusal(name: str, reason: str) -> RuntimeError:
    """Return the error for a requested engine that cannot run."""
    advice = "" if name == "reference" else " Give the network engine='reference'."
    return RuntimeError(f"The {name} engine cannot run here: {reason.rstrip('.')}.{advice}")


def _warn_once(net: "NTM", name: str, reason: str) -> None:
    """Warn, once for each reason, that a network runs on the slower reference engine."""
    if torch.compiler.is_compiling():
        return
    warned = _warned.setdefault(net, set())
    if reason not in warned:
        warned.add(reason)
        warnings.warn(
            f"The {name} engine does not run this network: {reason}. The slower reference engine, "
            f"plain PyTorch, runs it instead; set net.engine = 'reference' if that is what you "
            f"want.",
            stacklevel=_callers_level(),
        )


def _callers_level() -> int:
    """Return the stack level of the nearest caller outside torch and this package."""
    packages = str(Path(torch.__file__).parent), str(Path(__file__).parents[1])
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_code.co_filename.startswith(packages):
        frame, level = frame.f_back, level + 1
    return level

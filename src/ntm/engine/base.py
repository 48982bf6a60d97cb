"""What an engine is, which there are, and which one runs a network.

An engine is a module that registers an `Engine`. "auto" takes the first that can run the network,
in the order of registration, and can say why.
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
    """What a network is asked to run: whole sequences, time first."""

    x: Tensor
    state: "State | None"
    """None for the learned start."""
    lengths: Tensor | None
    record: bool = False
    record_memory: bool = False
    weightings: bool = False
    """Whether to return the weightings of every step, under autograd, in place of a record."""


class Declined(Exception):  # noqa: N818  # an answer, which no user sees
    """Why an engine does not run a network, or not now: half a sentence."""


class Engine(Protocol):
    """One way to run an NTM. All engines give the same numbers."""

    @property
    def name(self) -> str:
        """What users type."""

    def obstacle(self, device: torch.device, dtype: torch.dtype) -> str | None:
        """Why it cannot run on tensors of this kind; None when it can."""

    def declines(self, net: "NTM") -> str | None:
        """Why it does not run this network; None when it does."""

    def run(self, net: "NTM", request: Request) -> Answer:
        """Logits (time, batch, outputs), the parts of the final state, a record if asked.

        For a request of the weightings, the record is `read_weightings` and `write_weightings`.
        Raises Declined where this network, or a call under this transform, is not for this engine.
        """

    def gradients(self, net: "NTM") -> Any | None:
        """A call that computes a training step's gradients without autograd.

        None where it has none, or where a call of the network may do more than `NTM.forward`.
        """


class Choice(NamedTuple):
    """An engine and why it was chosen."""

    name: str
    reason: str


_engines: dict[str, Engine] = {}
_warned: WeakKeyDictionary["NTM", set[str]] = WeakKeyDictionary()


def register(engine: Engine) -> None:
    """Offer an engine; "auto" prefers those that were registered earlier."""
    _engines[engine.name] = engine


def names() -> list[str]:
    """What `NTM(engine=...)` takes."""
    return ["auto", *_engines]


def checked_name(name: str) -> EngineName:
    """The name of an engine, or an error that lists them."""
    if name not in _engines and name != "auto":
        listed = ", ".join(repr(known) for known in names())
        raise ValueError(f"engine must be one of {listed}; got {name!r}.")
    return cast(EngineName, name)


def get(name: str) -> Engine:
    """The engine of this name."""
    return _engines[checked_name(name)]


def choose(name: str, device: torch.device, dtype: torch.dtype, net: "NTM | None" = None) -> Choice:
    """The engine that runs for a request on tensors of this kind; refuses what cannot run.

    net: the network it is for, which an engine may not recognise.
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
    if request.x.shape[1] == 0:  # nothing to compute: zeros as gradients, without a kernel
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
    """The error for an engine that was asked for and cannot run."""
    advice = "" if name == "reference" else " Give the network engine='reference'."
    return RuntimeError(f"The {name} engine cannot run here: {reason.rstrip('.')}.{advice}")


def _warn_once(net: "NTM", name: str, reason: str) -> None:
    """Say that a network runs on a slower engine than it could; once for each reason."""
    if torch.compiler.is_compiling():
        return
    warned = _warned.setdefault(net, set())
    if reason not in warned:
        warned.add(reason)
        warnings.warn(
            f"The {name} engine does not run this network: {reason}. The reference engine, plain "
            f"PyTorch, runs it, which is slower; set net.engine = 'reference' if that is what you "
            f"want.",
            stacklevel=_callers_level(),
        )


def _callers_level() -> int:
    """How far above the caller of this the code is that is neither torch's nor this package's."""
    packages = str(Path(torch.__file__).parent), str(Path(__file__).parents[1])
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_code.co_filename.startswith(packages):
        frame, level = frame.f_back, level + 1
    return level

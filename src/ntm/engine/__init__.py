"""The front door of the engines: named choices, one contract, and the reason for each choice.

    reference   plain PyTorch, any device and dtype: the truth
    native      C++ for the CPU, float32 and float64: the same numbers, a hundred times faster

`run` is the contract: cell, x, state, lengths and what to record, to logits, final state, record.
"""

import math
from typing import Literal, NamedTuple, get_args

import torch
from torch import Tensor

from ntm.cell import Cell, State
from ntm.engine import native, reference

EngineName = Literal["auto", "native", "reference"]


class Choice(NamedTuple):
    """An engine and why it was chosen."""

    name: Literal["native", "reference"]
    reason: str


def checked_name(name: str) -> str:
    """The name of an engine, or an error that lists them."""
    if name not in get_args(EngineName):
        listed = ", ".join(repr(known) for known in get_args(EngineName))
        raise ValueError(f"engine must be one of {listed}; got {name!r}.")
    return name


def choose(name: str, device: torch.device, dtype: torch.dtype) -> Choice:
    """The engine that runs for a request on tensors of this kind; refuses what cannot run."""
    if name == "reference":
        return Choice("reference", "it was asked for")
    obstacle = native.obstacle(device, dtype)
    if obstacle is None:
        return Choice(
            "native", "it was asked for" if name == "native" else "it is the fastest here"
        )
    if name == "native":
        raise RuntimeError(f"The native engine cannot run here: {obstacle}")
    return Choice("reference", obstacle)


def run(
    name: str,
    cell: Cell,
    x: Tensor,
    state: State,
    lengths: Tensor | None,
    *,
    record: bool = False,
    record_memory: bool = False,
    backward_clip: float = math.inf,
) -> tuple[Tensor, State, dict[str, Tensor]]:
    """Run whole sequences on the chosen engine: logits, final state and, if asked, the record."""
    choice = choose(name, x.device, x.dtype)
    engine = native.run if choice.name == "native" else reference.run
    return engine(cell, x, state, lengths, record, record_memory, backward_clip)

"""A row of docs/torch.md and the function that checks it."""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from ntm import NTM, State

Use = Callable[[str], None]


class Check(NamedTuple):
    use: Use
    """Uses the feature on a network with this engine, and asserts that the numbers are right."""
    refusal: str
    """What the error says where the feature is refused; a pattern."""


CHECKS: dict[str, Check] = {}


def feature(name: str, refusal: str = r"native engine|engine='reference'") -> Callable[[Use], Use]:
    """Make a function the check of the row that has this name."""

    def register(use: Use) -> Use:
        assert name not in CHECKS, f"{name} has two checks"
        CHECKS[name] = Check(use, refusal)
        return use

    return register


STEPS, BATCH = 5, 3


def small_net(engine: str, **options: object) -> NTM:
    """A network with an LSTM controller, two heads and unequal sizes."""
    torch.manual_seed(1)
    sizes = {"controller_size": 7, "memory_locations": 11, "memory_width": 5, "heads": 2}
    return NTM(3, 2, **{"controller": "lstm", **sizes, "engine": engine, **options})


def inputs(steps: int = STEPS, batch: int = BATCH) -> Tensor:
    torch.manual_seed(2)
    return torch.randn(steps, batch, 3)


def assert_same(
    ours: tuple[Tensor, State], theirs: tuple[Tensor, State], exactly: bool = True
) -> None:
    """Equal logits and states; but for exact equality, as far as rounding goes."""
    tolerance = {"rtol": 0.0, "atol": 0.0} if exactly else {}
    assert type(ours[1]) is type(theirs[1]) is State
    torch.testing.assert_close((ours[0], *ours[1]), (theirs[0], *theirs[1]), **tolerance)


def gradients(net: torch.nn.Module, logits: Tensor) -> list[Tensor]:
    return list(torch.autograd.grad(logits.square().sum(), list(net.parameters())))

"""Networks with one part of the machine turned off, to see what the part is for.

A part is turned off through the weights of the heads: its rows of the linear layer become zero, and
its biases take the value at which the part does nothing. So every engine runs such a network. The
site's switches.js does the same.
"""

import math
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Literal, get_args

import torch

from ntm.config import NTMConfig
from ntm.heads import Heads
from ntm.layer import rebuilding

if TYPE_CHECKING:
    from ntm.layer.network import NTM

Part = Literal["content", "interpolation", "shift", "sharpening", "erase"]
PARTS: tuple[Part, ...] = get_args(Part)

_NEVER = -1e9  # softplus and sigmoid of this are 0
# A part's first value in the values of a head, and the biases that turn it off; see ntm.heads.
_Off = Callable[[NTMConfig], tuple[int, list[float]]]
_OFF: dict[Part, _Off] = {
    "content": lambda c: (c.memory_width, [_NEVER]),  # beta = 0: every location matches equally
    "interpolation": lambda c: (c.memory_width + 1, [-_NEVER]),  # g = 1: the last place is lost
    "shift": lambda c: (c.memory_width + 2, _no_shift(c)),
    "sharpening": lambda c: (c.memory_width + 2 + c.shift_outputs, [_NEVER]),  # gamma = 1
    "erase": lambda c: (c.read_head_outputs, [_NEVER] * c.memory_width),  # e = 0
}


@torch.no_grad()
def without(net: "NTM", parts: Iterable[Part]) -> "NTM":
    """Return a copy of a network with some parts turned off.

    parts: parts to turn off: "content" (all locations match equally), "interpolation" (the head
        always goes to the best match), "shift" (the head does not move), "sharpening" (weightings
        are not sharpened) or "erase" (nothing is erased).
    """
    parts = tuple(parts)
    if unknown := [part for part in parts if part not in PARTS]:
        listed = ", ".join(map(repr, PARTS))
        raise ValueError(f"without must name parts of the machine: {listed}; got {unknown[0]!r}.")
    copy = rebuilding.copied(net)
    for part in parts:
        _turn_off(copy.cell.heads, part)
    return copy


def _turn_off(heads: Heads, part: Part) -> None:
    config, linear = heads.config, heads.linear
    first, biases = _OFF[part](config)
    kinds = [(heads.read_values, config.read_heads), (heads.write_values, config.write_heads)]
    start = 0
    for number, (values, count) in enumerate(kinds):
        if part != "erase" or number == 1:  # read heads do not erase
            weight = linear.weight[start : start + values].view(count, -1, config.controller_size)
            weight[:, first : first + len(biases)] = 0
            bias = linear.bias[start : start + values].view(count, -1)
            bias[:, first : first + len(biases)] = bias.new_tensor(biases)
        start += values


def _no_shift(config: NTMConfig) -> list[float]:
    if 0 not in config.shifts:
        raise ValueError(
            f"A network with the shifts {config.shifts} always moves; without='shift' needs 0 "
            f"among its shifts."
        )
    if config.shift_mode == "softmax":
        return [0.0 if shift == 0 else _NEVER for shift in config.shifts]
    first, last = config.shifts[0], config.shifts[-1]
    share = -first / (last - first) if last > first else 0.5  # the sigmoid that chooses shift 0
    return [math.log(share / (1 - share)) if 0 < share < 1 else _NEVER * (1 - 2 * share)]

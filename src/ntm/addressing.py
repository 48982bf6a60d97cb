"""Section 3.3: how a head chooses the locations it works on.

    key, strength        gate             shift           sharpness
         |                 |                |                 |
    by content  ->   interpolation  ->   rotation   ->   sharpening   ->   weighting
         ^                 ^
      memory       previous weighting

All weightings here are (batch, heads, N); one call serves all heads of a kind.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from ntm.config import SHARPENING_EPSILON, SIMILARITY_EPSILON


class Focus(NamedTuple):
    """What a head asks for: the inputs of the chain above."""

    key: Tensor  # k, (batch, heads, M)
    strength: Tensor  # beta > 0, (batch, heads)
    gate: Tensor  # g in (0, 1), (batch, heads)
    shift: Tensor  # s, a distribution over the allowed shifts, (batch, heads, shifts)
    sharpness: Tensor  # gamma >= 1, (batch, heads)


class Addressing(NamedTuple):
    """What the head gets: the weighting after each link of the chain, (batch, heads, N) each."""

    content: Tensor  # w^c
    gated: Tensor  # w^g
    shifted: Tensor  # w~
    weighting: Tensor  # w


def cosine_similarity(keys: Tensor, memory: Tensor) -> Tensor:
    """Equation 6: K[k, M(i)] for every key (batch, heads, M) and row, (batch, heads, N)."""
    key_norms = (keys.square().sum(-1) + SIMILARITY_EPSILON).sqrt()
    row_norms = (memory.square().sum(-1) + SIMILARITY_EPSILON).sqrt()
    return keys @ memory.transpose(1, 2) / (key_norms.unsqueeze(2) * row_norms.unsqueeze(1))


def focus_by_content(similarity: Tensor, strength: Tensor) -> Tensor:
    """Equation 5: a softmax over the locations, as narrow as the strength makes it."""
    return torch.softmax(strength.unsqueeze(2) * similarity, dim=2)


def interpolate(content: Tensor, previous: Tensor, gate: Tensor) -> Tensor:
    """Equation 7: gate 1 takes the content weighting, gate 0 the previous step's weighting."""
    gate = gate.unsqueeze(2)
    return gate * content + (1 - gate) * previous


def rotate(weighting: Tensor, shift: Tensor, shifts: Sequence[int]) -> Tensor:
    """Equation 8: circular convolution; shift +1 moves the focus from location i to i + 1."""
    rotations = torch.stack([weighting.roll(offset, dims=2) for offset in shifts], dim=3)
    return (rotations * shift.unsqueeze(2)).sum(3)


def sharpen(weighting: Tensor, sharpness: Tensor) -> Tensor:
    """Equation 9: raise to the power gamma and normalise, in log space, where nothing overflows."""
    return torch.softmax(sharpness.unsqueeze(2) * (weighting + SHARPENING_EPSILON).log(), dim=2)


def shift_from_logits(logits: Tensor) -> Tensor:
    """The first technique of section 3.3.2: a softmax over the allowed shifts."""
    return torch.softmax(logits, dim=-1)


def shift_from_scalar(scalar: Tensor, shifts: Sequence[int]) -> Tensor:
    """The second technique: the scalar (..., 1) is the lower bound of a uniform density of width 1.

    6.7 gives shift 6 the weight 0.3 and shift 7 the weight 0.7. The scalar lies between the first
    and the last of the shifts, which are consecutive.
    """
    offsets = torch.tensor(shifts, dtype=scalar.dtype, device=scalar.device)
    weights = 1 - (scalar - offsets).abs()
    # Like clamp(min=0), whose gradient at 0 differs between versions of torch. Here it is 1: at 0
    # a neighbour's weight can only grow.
    return weights.masked_fill(weights < 0, 0)


def address(focus: Focus, memory: Tensor, previous: Tensor, shifts: Sequence[int]) -> Addressing:
    """Figure 2: content, interpolation, rotation, sharpening, and every weighting on the way."""
    content = focus_by_content(cosine_similarity(focus.key, memory), focus.strength)
    gated = interpolate(content, previous, focus.gate)
    shifted = rotate(gated, focus.shift, shifts)
    return Addressing(content, gated, shifted, sharpen(shifted, focus.sharpness))

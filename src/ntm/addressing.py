"""Section 3.3, addressing: how a head chooses the memory locations that it reads or writes.

    key, strength        gate             shift           sharpness
         |                 |                |                 |
    by content  ->   interpolation  ->   rotation   ->   sharpening   ->   weighting
         ^                 ^
      memory       previous weighting

Every weighting is (batch, heads, N). One call addresses all read heads or all write heads.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from ntm.config import SHARPENING_EPSILON, SIMILARITY_EPSILON


class Focus(NamedTuple):
    """Parameters that a head emits to address the memory: the top row of the chain above."""

    key: Tensor  # k, (batch, heads, M)
    strength: Tensor  # beta > 0, (batch, heads)
    gate: Tensor  # g in (0, 1), (batch, heads)
    shift: Tensor  # s, a distribution over the allowed shifts, (batch, heads, shifts)
    sharpness: Tensor  # gamma >= 1, (batch, heads)


class Addressing(NamedTuple):
    """Weighting after each stage of the chain above, (batch, heads, N) each."""

    content: Tensor  # w^c, by content
    gated: Tensor  # w^g, after interpolation
    shifted: Tensor  # w~, after rotation
    weighting: Tensor  # w, after sharpening


def cosine_similarity(keys: Tensor, memory: Tensor) -> Tensor:
    """Equation 6: return K[k, M(i)], the similarity of every key to every memory location.

    keys: (batch, heads, M); memory: (batch, N, M); result: (batch, heads, N).
    """
    key_norms = (keys.square().sum(-1) + SIMILARITY_EPSILON).sqrt()
    row_norms = (memory.square().sum(-1) + SIMILARITY_EPSILON).sqrt()
    return keys @ memory.transpose(1, 2) / (key_norms.unsqueeze(2) * row_norms.unsqueeze(1))


def focus_by_content(similarity: Tensor, strength: Tensor) -> Tensor:
    """Equation 5: take a softmax over the locations; a larger strength narrows the focus."""
    return torch.softmax(strength.unsqueeze(2) * similarity, dim=2)


def interpolate(content: Tensor, previous: Tensor, gate: Tensor) -> Tensor:
    """Equation 7: blend two weightings; gate 1 takes `content`, gate 0 takes `previous`."""
    gate = gate.unsqueeze(2)
    return gate * content + (1 - gate) * previous


def rotate(weighting: Tensor, shift: Tensor, shifts: Sequence[int]) -> Tensor:
    """Equation 8: convolve circularly; shift +1 moves the focus from location i to i + 1."""
    rotations = torch.stack([weighting.roll(offset, dims=2) for offset in shifts], dim=3)
    return (rotations * shift.unsqueeze(2)).sum(3)


def sharpen(weighting: Tensor, sharpness: Tensor) -> Tensor:
    """Equation 9: raise to the power gamma and normalise, in log space to avoid overflow."""
    return torch.softmax(sharpness.unsqueeze(2) * (weighting + SHARPENING_EPSILON).log(), dim=2)


def shift_from_logits(logits: Tensor) -> Tensor:
    """Section 3.3.2, first technique: take a softmax over the allowed shifts."""
    return torch.softmax(logits, dim=-1)


def shift_from_scalar(scalar: Tensor, shifts: Sequence[int]) -> Tensor:
    """Section 3.3.2, second technique: divide the weight between the two shifts next to a scalar.

    The scalar (..., 1) is the lower bound of a uniform density of width 1: 6.7 gives shift 6 the
    weight 0.3 and shift 7 the weight 0.7. The shifts are consecutive, and the scalar lies between
    the first and the last shift.
    """
    offsets = torch.tensor(shifts, dtype=scalar.dtype, device=scalar.device)
    weights = 1 - (scalar - offsets).abs()
    # Like clamp(min=0), whose gradient at 0 differs between versions of torch. Here the gradient
    # at 0 is 1, because a weight of 0 can only grow.
    return weights.masked_fill(weights < 0, 0)


def address(focus: Focus, memory: Tensor, previous: Tensor, shifts: Sequence[int]) -> Addressing:
    """Figure 2: run the whole chain and return the weighting after each stage."""
    content = focus_by_content(cosine_similarity(focus.key, memory), focus.strength)
    gated = interpolate(content, previous, focus.gate)
    shifted = rotate(gated, focus.shift, shifts)
    return Addressing(content, gated, shifted, sharpen(shifted, focus.sharpness))

"""Kinds of outputs, each with its cost: bits, or one symbol per step.

Bits: every channel is a bit, and the sigmoid of its logit is the probability of a one.
Symbols: every channel is a symbol, and the softmax of the logits gives the probability of each
symbol. One symbol is right at each scored step.
"""

import math
from abc import ABC, abstractmethod
from typing import ClassVar

import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits, log_softmax

from ntm.common.channels import ChannelKind


class Outputs(ABC):
    """Kind of a task's outputs, bits or symbols: their cross-entropy, errors and probabilities.

    Logits and targets have the shape (time, batch, output_size).
    """

    unit: ClassVar[str]
    """Word for one output that is right or wrong: bit or symbol."""
    promise: ClassVar[str]
    """Rule for the targets of scored steps, as part of an error message."""

    @abstractmethod
    def nats(self, logits: Tensor, targets: Tensor) -> Tensor:
        """Return the cross-entropy of every unit in nats, (time, batch, units)."""

    @abstractmethod
    def right(self, logits: Tensor, targets: Tensor) -> Tensor:
        """Return whether every unit is right, (time, batch, units). NaN is always wrong."""

    @abstractmethod
    def probabilities(self, logits: Tensor) -> Tensor:
        """Return the probability of every channel."""

    @abstractmethod
    def logits(self, probabilities: Tensor) -> Tensor:
        """Return logits for these probabilities: the inverse of `probabilities`."""

    @abstractmethod
    def chance_bits(self, output_size: int) -> float:
        """Return the cost of equal probabilities at one scored step, in bits."""

    @abstractmethod
    def kept(self, targets: Tensor, mask: Tensor) -> bool:
        """Return whether the targets keep the rule `promise` at the scored steps (mask)."""


class Bits(Outputs):
    """Outputs that are bits."""

    unit = "bit"
    promise = "targets are bits"

    def nats(self, logits: Tensor, targets: Tensor) -> Tensor:
        """Return the cross-entropy of every bit."""
        return binary_cross_entropy_with_logits(logits, targets, reduction="none")

    def right(self, logits: Tensor, targets: Tensor) -> Tensor:
        """Return whether each bit is right: a positive logit means one, any other means zero."""
        return torch.where(targets > 0.5, logits > 0, logits <= 0)

    def probabilities(self, logits: Tensor) -> Tensor:
        """Return the sigmoid."""
        return torch.sigmoid(logits)

    def logits(self, probabilities: Tensor) -> Tensor:
        """Return the inverse of the sigmoid."""
        return torch.logit(probabilities)

    def chance_bits(self, output_size: int) -> float:
        """Return one bit per output."""
        return output_size

    def kept(self, targets: Tensor, mask: Tensor) -> bool:  # noqa: ARG002
        """Return True: every combination of bits is valid."""
        return True


class Symbols(Outputs):
    """Outputs that are symbols: exactly one is right at each scored step."""

    unit = "symbol"
    promise = "exactly one target is 1 at every scored step"

    def nats(self, logits: Tensor, targets: Tensor) -> Tensor:
        """Return -log p of the target, (time, batch, 1)."""
        return -(log_softmax(logits, dim=-1) * targets).sum(dim=-1, keepdim=True)

    def right(self, logits: Tensor, targets: Tensor) -> Tensor:
        """Return whether the target has the largest logit; the first of equal logits counts."""
        said = targets.gather(-1, logits.argmax(dim=-1, keepdim=True)) > 0.5
        return said & ~logits.isnan().any(dim=-1, keepdim=True)

    def probabilities(self, logits: Tensor) -> Tensor:
        """Return the softmax."""
        return torch.softmax(logits, dim=-1)

    def logits(self, probabilities: Tensor) -> Tensor:
        """Return the logarithms of the probabilities, the inverse of softmax."""
        return probabilities.log()

    def chance_bits(self, output_size: int) -> float:
        """Return the cost of a guess among all symbols."""
        return math.log2(output_size)

    def kept(self, targets: Tensor, mask: Tensor) -> bool:
        """Return whether every scored step has one symbol."""
        return bool(((targets.sum(dim=-1) == 1) | (mask == 0)).all())


OUTPUTS: dict[ChannelKind, Outputs] = {"bits": Bits(), "symbols": Symbols()}

"""Training steps: each call updates the weights once.

    bits = step(block, start, stop)

The training loop passes a whole block and the bounds of the batch in the block, because some steps
need no slices and are faster without them.
"""

import math
from abc import ABC, abstractmethod
from typing import Protocol, cast

import torch
from torch import Tensor

from ntm.engine.fused import FusedGradients
from ntm.models.optimiser import GravesRMSprop
from ntm.tasks import Batch, cost_in_bits

_BITS_PER_NAT = 1 / math.log(2)


class Step(Protocol):
    """Callable that trains on the sequences from `start` to `stop - 1` of a block."""

    def __call__(self, block: Batch, start: int, stop: int) -> float:
        """Update the weights once; return the summed cost before the update, in bits.

        The loss is the mean cross-entropy of the sequences, in nats. If the loss or a gradient is
        not finite, raise FloatingPointError and change neither weights nor optimiser.
        """


class TwoPartStep(ABC):
    """Training step in two parts. Between the parts, several processes can share gradients."""

    model: torch.nn.Module

    def __call__(self, block: Batch, start: int, stop: int) -> float:
        """Train on the sequences from `start` to `stop - 1` of the block; see `Step`."""
        bits = self.differentiate(block, start, stop)
        self.update(bits)
        return bits

    @abstractmethod
    def differentiate(self, block: Batch, start: int, stop: int) -> float:
        """Set the parameters' gradients; return the summed cost in bits."""

    @abstractmethod
    def update(self, bits: float) -> None:
        """Update the weights; raise FloatingPointError if the cost or a gradient is not finite."""

    def _not_finite(self) -> FloatingPointError:
        named = self.model.named_parameters()
        name = next(n for n, p in named if p.grad is not None and not p.grad.isfinite().all())
        return FloatingPointError(f"The gradient of {name} is not finite.")


class TorchStep(TwoPartStep):
    """Training step by autograd, for any optimiser and any model that is called like an `NTM`."""

    def __init__(self, model: torch.nn.Module, optimiser: torch.optim.Optimizer) -> None:
        self.model, self.optimiser = model, optimiser

    def differentiate(self, block: Batch, start: int, stop: int) -> float:
        """Set the gradients, as `TwoPartStep.differentiate` describes."""
        batch = block.narrow(start, stop)
        total = cost_in_bits(self._logits(batch), batch).sum()
        self.optimiser.zero_grad()
        (total * (math.log(2) / (stop - start))).backward()  # type: ignore[no-untyped-call]
        return total.item()

    def update(self, bits: float) -> None:
        """Update the weights, as `TwoPartStep.update` describes."""
        if not math.isfinite(bits):
            raise FloatingPointError(f"The loss is {bits}.")
        gradients = [p.grad for p in self.model.parameters() if p.grad is not None]
        largest = torch._foreach_norm([grad for grad in gradients if grad.numel()], torch.inf)
        if not torch.stack(largest).isfinite().all():
            raise self._not_finite()
        self.optimiser.step()

    def _logits(self, batch: Batch) -> Tensor:
        logits, _ = self.model(batch.inputs, lengths=batch.lengths)
        return cast(Tensor, logits)


class NativeStep(TwoPartStep):
    """Training step by the native engine, equal to `TorchStep` with `GravesRMSprop`."""

    def __init__(
        self, model: torch.nn.Module, gradients: FusedGradients, optimiser: GravesRMSprop
    ) -> None:
        self.model, self._gradients = model, gradients
        self._update = optimiser.fused_update()

    def differentiate(self, block: Batch, start: int, stop: int) -> float:
        """Set the gradients, as `TwoPartStep.differentiate` describes."""
        symbols = block.output_kind == "symbols"
        nats = self._gradients(*block, start, stop, symbols=symbols)
        return nats * _BITS_PER_NAT * (stop - start)

    def update(self, bits: float) -> None:
        """Update the weights, as `TwoPartStep.update` describes."""
        if not math.isfinite(bits):
            raise FloatingPointError(f"The loss is {bits}.")
        if not self._update():
            raise self._not_finite()

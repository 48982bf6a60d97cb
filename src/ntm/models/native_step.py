"""The fused step: gradients and update by the native engine, without autograd."""

import math
from typing import TYPE_CHECKING

from ntm.engine.fused import FusedGradients
from ntm.layer import NTM
from ntm.models.step import TwoPartStep
from ntm.tasks import Batch

if TYPE_CHECKING:
    from ntm.training.optimiser import GravesRMSprop

_BITS_PER_NAT = 1 / math.log(2)


class NativeStep(TwoPartStep):
    """The same update as TorchStep's, for an NTM on the CPU with the paper's optimiser."""

    def __init__(self, model: NTM, optimiser: "GravesRMSprop") -> None:
        self.model = model
        self._gradients = FusedGradients(model)
        self._update = optimiser.fused_update()

    def differentiate(self, block: Batch, start: int, stop: int) -> float:
        """The first part of a step, as `TwoPartStep` describes."""
        nats = self._gradients(block.inputs, block.targets, block.mask, block.lengths, start, stop)
        return nats * _BITS_PER_NAT * (stop - start)

    def update(self, bits: float) -> None:
        """The second part of a step, as `TwoPartStep` describes."""
        if not math.isfinite(bits):
            raise FloatingPointError(f"The loss is {bits}.")
        if not self._update():
            raise FloatingPointError(f"The gradient of {self._first_not_finite()} is not finite.")

    def _first_not_finite(self) -> str:
        named = self.model.named_parameters()
        return next(n for n, p in named if p.grad is not None and not p.grad.isfinite().all())

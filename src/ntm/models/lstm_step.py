"""The training step of the LSTM baseline."""

import math
from typing import Any, cast

from torch import Tensor

from ntm.models.step import TorchStep
from ntm.tasks import Batch


class BaselineStep(TorchStep):
    """A step of the LSTM baseline: padded instead of packed, with the native engine's update.

    An LSTM is causal: steps after the end of a sequence change nothing before it, and no output
    there is scored. torch runs a padded batch with one kernel per layer and a packed one step by
    step, so padding is faster, above all where lengths are alike (`training.bucketed`).
    """

    def __init__(self, model: Any, optimiser: Any) -> None:
        super().__init__(model, optimiser)
        self._step_if_finite = optimiser.fused_step

    def update(self, bits: float) -> None:
        """The second part of a step, as `TwoPartStep` describes."""
        # The fused step looks for gradients that are not finite by itself, and faster.
        if not math.isfinite(bits) or not self._step_if_finite():
            super().update(bits)

    def _logits(self, batch: Batch) -> Tensor:
        logits, _ = self.model(batch.inputs)
        return cast(Tensor, logits)

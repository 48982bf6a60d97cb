"""A training step without autograd: all gradients, and all updates, in one call each.

At a batch of one sequence the kernels take a tenth of a millisecond, and building and walking
autograd's graph would take as long again. These two calls compute the same numbers without it.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from itertools import chain
from operator import is_
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from ntm.engine import native, recognition

if TYPE_CHECKING:
    from ntm.layer import NTM

Row = list[Tensor]


class FusedGradients(ABC):
    """Cost and gradients of a network on sequences of a block, written to each parameter's `.grad`.

    The parameters must stay where they are: their memory is looked up once.
    """

    def __init__(self, config: Any, *parts: Sequence[Tensor]) -> None:
        """parts: the parameters, grouped and in the order in which the kernels take them."""
        for parameter in chain(*parts):
            parameter.grad = torch.zeros_like(parameter)
        self._config, self._dtype = config, parts[0][0].dtype
        # The memory stays good even where the network lets go of its tensors.
        self._tensors = [
            [tensor.detach() for tensor in tensors]
            for part in parts
            for tensors in (part, _gradients(part))
        ]
        self._given: tuple[Tensor | None, ...] = (None,) * 4
        self._block: Any = None
        self._sequences = 0

    @abstractmethod
    def _kernels(self) -> Any:
        """What the extension made for this network as it is now."""

    def __call__(
        self, inputs: Tensor, targets: Tensor, mask: Tensor, lengths: Tensor, start: int, stop: int
    ) -> float:
        """The mean cost in nats of sequences start to stop - 1; its gradients replace the old ones.

        inputs (time, batch, channels), targets likewise, mask (time, batch), lengths (batch,).
        """
        given = (inputs, targets, mask, lengths)
        if not all(map(is_, given, self._given)):
            self._take(*given)
        if not 0 <= start < stop <= self._sequences:
            raise ValueError(
                f"Sequences {start} to {stop} were asked of a block of {self._sequences}; give "
                f"0 <= start < stop <= {self._sequences}."
            )
        nats: float = self._kernels().compute(self._block, start, stop, torch.get_num_threads())
        return nats

    def _take(self, inputs: Tensor, targets: Tensor, mask: Tensor, lengths: Tensor) -> None:
        """Check a block once; most calls are for the block before's."""
        steps, sequences = inputs.shape[:2]
        channels = self._config.input_size, self._config.output_size
        self._require("inputs", inputs, (steps, sequences, channels[0]))
        self._require("targets", targets, (steps, sequences, channels[1]))
        self._require("mask", mask, (steps, sequences))
        if lengths.dtype != torch.int64 or lengths.shape != (sequences,):
            raise ValueError(
                f"lengths must be ({sequences},) int64, got {tuple(lengths.shape)} {lengths.dtype}."
            )
        self._block = native.function("Block", self._dtype)(
            *channels, inputs, targets, mask, lengths.contiguous()
        )
        self._given, self._sequences = (inputs, targets, mask, lengths), sequences

    def _require(self, name: str, tensor: Tensor, shape: tuple[int, ...]) -> None:
        if tensor.dtype != self._dtype or tensor.shape != shape:
            raise ValueError(
                f"{name} must be {shape} {self._dtype}, got {tuple(tensor.shape)} {tensor.dtype}."
            )
        if tensor.dim() == 3 and tensor.stride(2) != 1:
            raise ValueError(
                f"{name} must have contiguous channels, got the strides {tensor.stride()}."
            )


class NTMGradients(FusedGradients):
    """Those of an NTM, whose backward clip may change between calls."""

    def __init__(self, net: "NTM") -> None:
        super().__init__(net.config, recognition.weights_of(net), recognition.start_of(net))
        self._net = net
        self._make_native()

    def _make_native(self) -> None:
        self._clip = self._net.backward_clip
        sizes = native.sizes_of(self._config, self._clip)
        self._native = native.function("Gradients", self._dtype)(sizes, *self._tensors)

    def _kernels(self) -> Any:
        if self._net.backward_clip != self._clip:
            self._make_native()
        return self._native


class LSTMGradients(FusedGradients):
    """Those of the LSTM baseline."""

    def __init__(self, config: Any, parameters: Sequence[Tensor]) -> None:
        """parameters: the weights of each layer, below and own, the output's, and the start."""
        super().__init__(config, parameters)
        sizes = native.lstm_sizes_of(config)
        self._native = native.function("LSTMGradients", self._dtype)(sizes, *self._tensors)

    def _kernels(self) -> Any:
        return self._native


class FusedUpdate:
    """Graves' RMSProp over all parameters; see GravesRMSprop for the equations and the state."""

    def __init__(self, rows: Iterable[Row]) -> None:
        """rows: parameter, gradient, mean_square, mean and delta of each parameter."""
        kept = [[tensor.detach() for tensor in row] for row in rows]
        self._native = native.function("Optimiser", kept[0][0].dtype)(kept)

    def step(
        self, lr: float, decay: float, momentum: float, epsilon: float, clip: float | None
    ) -> bool:
        """Update everything; where a gradient is not finite, change nothing and return False."""
        done: bool = self._native.step(lr, decay, momentum, epsilon, _limit(clip))
        return done


def update_once(
    rows: list[Row],
    lr: float,
    decay: float,
    momentum: float,
    epsilon: float,
    clip: float | None,
) -> bool:
    """A `FusedUpdate` of tensors that may be elsewhere at the next step.

    False, and nothing is changed, where a gradient is not finite or the tensors are not for the
    kernels.
    """
    first = rows[0][0]
    if not native.may_take(first):
        return False
    done: bool = native.function("update", first.dtype)(
        rows, lr, decay, momentum, epsilon, _limit(clip)
    )
    return done


def _limit(clip: float | None) -> float:
    return math.inf if clip is None else clip


def _gradients(parameters: Iterable[Tensor]) -> list[Any]:
    return [parameter.grad for parameter in parameters]

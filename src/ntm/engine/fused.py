"""Gradients of a training step without autograd, in one call.

For a batch of one sequence, the kernels take a tenth of a millisecond. Building and walking
autograd's graph would take as long again. This call computes autograd's numbers without a graph.
"""

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


class FusedGradients(ABC):
    """Callable that returns a network's cost on a block of data and sets every `parameter.grad`.

    The parameters must stay at their memory addresses, which are looked up once.
    """

    def __init__(self, config: Any, *parts: Sequence[Tensor]) -> None:
        """Allocate the gradients.

        parts: groups of parameters, in the order in which the kernels take them.
        """
        for parameter in chain(*parts):
            parameter.grad = torch.zeros_like(parameter)
        self._config, self._dtype = config, parts[0][0].dtype
        # These references keep the memory valid even if the network drops its tensors. The kernels
        # take what is written first.
        self._tensors = [
            [tensor.detach() for tensor in tensors] for tensors in (*map(_gradients, parts), *parts)
        ]
        self._given: tuple[Tensor | bool | None, ...] = (None,) * 5
        self._block: Any = None
        self._sequences = 0

    @abstractmethod
    def _kernels(self) -> Any:
        """Return the extension's object for this network with its present settings."""

    def __call__(
        self,
        inputs: Tensor,
        targets: Tensor,
        mask: Tensor,
        lengths: Tensor,
        start: int,
        stop: int,
        *,
        symbols: bool = False,
    ) -> float:
        """Return the mean cost in nats of the sequences `start` to `stop - 1`; set all gradients.

        inputs, targets: (time, batch, channels); mask: (time, batch); lengths: (batch,).
        symbols: whether the targets are one symbol per step instead of bits (False).
        """
        given = (inputs, targets, mask, lengths, symbols)
        if not all(map(is_, given, self._given)):
            self._take(*given)
        if not 0 <= start < stop <= self._sequences:
            raise ValueError(
                f"Sequences {start} to {stop} were asked of a block of {self._sequences}; give "
                f"0 <= start < stop <= {self._sequences}."
            )
        nats: float = self._kernels().compute(self._block, start, stop, torch.get_num_threads())
        return nats

    def _take(
        self, inputs: Tensor, targets: Tensor, mask: Tensor, lengths: Tensor, symbols: bool
    ) -> None:
        """Check and store a new block. Most calls use the previous block and skip this method."""
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
            *channels, inputs, targets, mask, lengths.contiguous(), symbols
        )
        self._given = (inputs, targets, mask, lengths, symbols)
        self._sequences = sequences

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
    """Cost and gradients of an NTM, whose `backward_clip` may change between calls."""

    def __init__(self, net: "NTM") -> None:
        super().__init__(net.config, recognition.weights_of(net), recognition.start_of(net))
        self._net = net
        native.release_with(net)
        self._make_native()

    def _make_native(self) -> None:
        self._clip = self._net.backward_clip
        sizes = native.sizes_of(self._config, self._clip)
        self._native = native.function("Gradients", self._dtype)(*self._tensors, sizes)

    def _kernels(self) -> Any:
        if self._net.backward_clip != self._clip:
            self._make_native()
        return self._native


class LSTMGradients(FusedGradients):
    """Cost and gradients of the LSTM baseline."""

    def __init__(self, config: Any, parameters: Sequence[Tensor]) -> None:
        """Describe the network to the extension.

        parameters: input and recurrent weights of each layer, the output layer, the start.
        """
        super().__init__(config, parameters)
        sizes = native.lstm_sizes_of(config)
        self._native = native.function("LSTMGradients", self._dtype)(*self._tensors, sizes)

    def _kernels(self) -> Any:
        return self._native


def _gradients(parameters: Iterable[Tensor]) -> list[Any]:
    return [parameter.grad for parameter in parameters]

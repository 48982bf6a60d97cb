"""A training step without autograd: all gradients, and all updates, in one call each.

At a batch of one sequence the kernels take a tenth of a millisecond, and building and walking
autograd's graph would take as long again. These two calls compute the same numbers without it.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from ntm.engine import native

if TYPE_CHECKING:
    from ntm.layer import NTM


class FusedGradients:
    """Cost and gradients of a network on sequences of a block, written to each parameter's `.grad`.

    The parameters must stay where they are: the addresses are taken once.
    """

    def __init__(self, net: "NTM") -> None:
        weights, start = list(net.cell.parameters()), list(net.start.parameters())
        for parameter in (*weights, *start):
            parameter.grad = torch.zeros_like(parameter)
        self._net, self._config = net, net.config
        self._dtype = net.start.memory.dtype
        self._itemsize = self._dtype.itemsize
        # The addresses stay good even where the network lets go of its tensors.
        memory = (weights, _gradients(weights), start, _gradients(start))
        self._memory = [[tensor.detach() for tensor in tensors] for tensors in memory]
        self._make_native()
        self._block: object = None
        self._arrays: list[tuple[int, int, int]] = []
        self._lengths = self._steps = self._sequences = 0

    def _make_native(self) -> None:
        self._clip = self._net.backward_clip
        weights, _, start, _ = self._memory
        sizes = native.make_sizes(
            self._config.input_size,
            weights,
            [part.unsqueeze(0) for part in start],
            *native.choices_of(self._config, self._clip),
        )
        make = native.function("Gradients", self._dtype)
        self._native = make(sizes, *map(_addresses, self._memory))

    def __call__(
        self, inputs: Tensor, targets: Tensor, mask: Tensor, lengths: Tensor, start: int, stop: int
    ) -> float:
        """The mean cost in nats of sequences start to stop - 1; its gradients replace the old ones.

        inputs (time, batch, channels), targets likewise, mask (time, batch), lengths (batch,).
        """
        if inputs is not self._block:
            self._take(inputs, targets, mask, lengths)
        if self._net.backward_clip != self._clip:
            self._make_native()
        if not 0 <= start < stop <= self._sequences:
            raise ValueError(
                f"Sequences {start} to {stop} were asked of a block of {self._sequences}; give "
                f"0 <= start < stop <= {self._sequences}."
            )
        (x, *x_strides), (y, *y_strides), (m, *m_strides) = self._arrays
        size = self._itemsize * start
        nats: float = self._native.compute(
            *(self._steps, stop - start, self._lengths + 8 * start, torch.get_num_threads()),
            *(x + size * x_strides[1], *x_strides),
            *(y + size * y_strides[1], *y_strides),
            *(m + size * m_strides[1], *m_strides),
        )
        return nats

    def _take(self, inputs: Tensor, targets: Tensor, mask: Tensor, lengths: Tensor) -> None:
        """Check a block once and remember where it lies; most calls are for the block before's."""
        steps, sequences = inputs.shape[:2]
        self._require("inputs", inputs, (steps, sequences, self._config.input_size))
        self._require("targets", targets, (steps, sequences, self._config.output_size))
        self._require("mask", mask, (steps, sequences))
        if lengths.dtype != torch.int64 or lengths.shape != (sequences,):
            raise ValueError(
                f"lengths must be ({sequences},) int64, got {tuple(lengths.shape)} {lengths.dtype}."
            )
        lengths = lengths.contiguous()
        self._steps, self._sequences = steps, sequences
        self._arrays = [(t.data_ptr(), t.stride(0), t.stride(1)) for t in (inputs, targets, mask)]
        self._lengths = lengths.data_ptr()
        # The references keep the memory alive.
        self._block, self._rest = inputs, (targets, mask, lengths)

    def _require(self, name: str, tensor: Tensor, shape: tuple[int, ...]) -> None:
        if tensor.dtype != self._dtype or tensor.shape != shape:
            raise ValueError(
                f"{name} must be {shape} {self._dtype}, got {tuple(tensor.shape)} {tensor.dtype}."
            )
        if tensor.dim() == 3 and tensor.stride(2) != 1:
            raise ValueError(
                f"{name} must have contiguous channels, got the strides {tensor.stride()}."
            )


class FusedUpdate:
    """Graves' RMSProp over all parameters; see GravesRMSprop for the equations and the state."""

    def __init__(self, rows: Iterable[tuple[Tensor, Tensor, Tensor, Tensor, Tensor]]) -> None:
        """rows: parameter, gradient, mean_square, mean and delta of each parameter."""
        self._tensors = list(rows)
        dtype = self._tensors[0][0].dtype
        addresses = [[row[0].numel(), *_addresses(row)] for row in self._tensors]
        self._native = native.function("Optimiser", dtype)(addresses)

    def step(
        self, lr: float, decay: float, momentum: float, epsilon: float, clip: float | None
    ) -> bool:
        """Update everything; where a gradient is not finite, change nothing and return False."""
        done: bool = self._native.step(
            lr, decay, momentum, epsilon, float("inf") if clip is None else clip
        )
        return done


def _gradients(parameters: Iterable[Tensor]) -> list[Any]:
    return [parameter.grad for parameter in parameters]


def _addresses(tensors: Iterable[Tensor]) -> list[int]:
    return [tensor.data_ptr() for tensor in tensors]

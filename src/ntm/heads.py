"""Parameters of the heads, computed from the controller's output.

One linear layer emits the values of all heads, read heads first:

    read head    key (M) | strength | gate | shift (S) | sharpness
    write head   key (M) | strength | gate | shift (S) | sharpness | erase (M) | add (M)

Each value is then squashed into the range that section 3 gives for it.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from ntm.addressing import Focus, shift_from_logits, shift_from_scalar
from ntm.config import NTMConfig


class HeadParameters(NamedTuple):
    """Parameters of all heads at one step."""

    read: Focus
    write: Focus
    erase: Tensor  # e in (0, 1), (batch, write heads, M)
    add: Tensor  # a in (-1, 1), (batch, write heads, M)


class Heads(nn.Module):
    """Linear layer from the controller to the heads, followed by the squashing functions."""

    def __init__(self, config: NTMConfig) -> None:
        super().__init__()
        self.config = config
        self.read_values = config.read_heads * config.read_head_outputs
        self.write_values = config.write_heads * config.write_head_outputs
        self.linear = nn.Linear(config.controller_size, self.read_values + self.write_values)

    @torch.no_grad()
    def bias_gates(self, bias: float) -> None:
        """Set the bias of every head's gate."""
        config, biases = self.config, self.linear.bias
        read, write = biases[: self.read_values], biases[self.read_values :]
        for values, heads in ((read, config.read_heads), (write, config.write_heads)):
            values.view(heads, -1)[:, config.memory_width + 1] = bias

    def forward(self, hidden: Tensor) -> HeadParameters:
        """Map hidden (batch, controller_size) to the parameters of all heads."""
        values = self.linear(hidden)
        read, write = torch.split(values, [self.read_values, self.write_values], dim=1)
        read = torch.unflatten(read, 1, (self.config.read_heads, -1))
        write = torch.unflatten(write, 1, (self.config.write_heads, -1))
        width = self.config.memory_width
        sizes = [self.config.read_head_outputs, width, width]
        focus, erase, add = torch.split(write, sizes, dim=2)
        return HeadParameters(
            self._focus(read), self._focus(focus), torch.sigmoid(erase), torch.tanh(add)
        )

    def _focus(self, values: Tensor) -> Focus:
        sizes = [self.config.memory_width, 1, 1, self.config.shift_outputs, 1]
        key, strength, gate, shift, sharpness = torch.split(values, sizes, dim=2)
        return Focus(
            key=torch.tanh(key),
            strength=softplus(strength).squeeze(2),
            gate=torch.sigmoid(gate).squeeze(2),
            shift=self._shift(shift),
            sharpness=1 + softplus(sharpness).squeeze(2),
        )

    def _shift(self, values: Tensor) -> Tensor:
        shifts = self.config.shifts
        if self.config.shift_mode == "softmax":
            return shift_from_logits(values)
        scalar = shifts[0] + (shifts[-1] - shifts[0]) * torch.sigmoid(values)
        return shift_from_scalar(scalar, shifts)


def softplus(x: Tensor) -> Tensor:
    """Return ln(1 + e^x). By default PyTorch returns x above 20, which is too early for float64."""
    return functional.softplus(x, threshold=40)

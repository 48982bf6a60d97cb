"""Section 3.4: the controller, which sees the input and the last reads and drives the heads.

Both controllers are called as `output, hidden, cell = controller(inputs, hidden, cell)`. `hidden`
and `cell` are (batch, layers, size). For the feedforward controller, layers is 0.
"""

import torch
from torch import Tensor, nn

from ntm.config import ControllerKind, NTMConfig


class FeedforwardController(nn.Module):
    """Controller with one tanh layer. It has no state, so it can remember only in the memory."""

    def __init__(self, config: NTMConfig) -> None:
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(config.controller_inputs, config.controller_size)])

    def start_feedforward(self) -> None:
        """Change nothing: this controller is feedforward."""

    def forward(
        self, inputs: Tensor, hidden: Tensor, cell: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Return the output (batch, controller_size), and the state without a change."""
        return torch.tanh(self.layers[0](inputs)), hidden, cell


class LSTMController(nn.Module):
    """Stack of LSTM layers without peepholes, one bias per gate; the top layer is the output."""

    def __init__(self, config: NTMConfig) -> None:
        super().__init__()
        size = config.controller_size
        below = [config.controller_inputs] + [size] * (config.controller_layers - 1)
        self.layers = nn.ModuleList([nn.Linear(inputs + size, 4 * size) for inputs in below])

    @torch.no_grad()
    def start_feedforward(self) -> None:
        """Set initial weights that ignore the hidden state, and forget gates that mostly forget.

        The controller must then remember in the memory. With the usual initial weights (recurrence,
        forget biases of +1), the controller first learns to solve the task without the memory.
        """
        for layer in self.layers:
            weight, bias = layer.get_parameter("weight"), layer.get_parameter("bias")
            size = bias.numel() // 4
            weight[:, -size:] = 0
            bias[size : 2 * size] = -1

    def forward(
        self, inputs: Tensor, hidden: Tensor, cell: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Run one step. The input of a linear map is [output of the layer below, hidden state]."""
        new_hidden, new_cell = [], []
        for layer, h, c in zip(self.layers, hidden.unbind(1), cell.unbind(1), strict=True):
            inputs, c = lstm_step(layer(torch.cat([inputs, h], dim=1)), c)
            new_hidden.append(inputs)
            new_cell.append(c)
        return inputs, torch.stack(new_hidden, dim=1), torch.stack(new_cell, dim=1)


def lstm_step(preactivations: Tensor, cell: Tensor) -> tuple[Tensor, Tensor]:
    """Return the new hidden and cell states of an LSTM layer.

    preactivations: (batch, 4 size), the values of the gates before squashing.
    """
    input_gate, forget_gate, candidate, output_gate = preactivations.chunk(4, dim=1)
    cell = torch.sigmoid(forget_gate) * cell + torch.sigmoid(input_gate) * torch.tanh(candidate)
    return torch.sigmoid(output_gate) * torch.tanh(cell), cell


CONTROLLERS: dict[ControllerKind, type[FeedforwardController | LSTMController]] = {
    "feedforward": FeedforwardController,
    "lstm": LSTMController,
}
"""Class of each kind of controller."""

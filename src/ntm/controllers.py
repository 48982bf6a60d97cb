"""Section 3.4: the network that reads the input and the last reads, and drives the heads.

Both controllers have one call, `output, hidden, cell = controller(inputs, hidden, cell)`, where
hidden and cell are (batch, layers, size) with no layers at all for the feedforward controller.
"""

import torch
from torch import Tensor, nn

from ntm.config import NTMConfig


class FeedforwardController(nn.Module):
    """One tanh layer. What it should remember, it must write to the memory."""

    def __init__(self, config: NTMConfig) -> None:
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(config.controller_inputs, config.controller_size)])

    def forward(
        self, inputs: Tensor, hidden: Tensor, cell: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """inputs (batch, controller_inputs) to (batch, controller_size); no state to change."""
        return torch.tanh(self.layers[0](inputs)), hidden, cell


class LSTMController(nn.Module):
    """A stack of LSTM layers without peepholes, one bias per gate; the top layer is the output."""

    def __init__(self, config: NTMConfig) -> None:
        super().__init__()
        size = config.controller_size
        below = [config.controller_inputs] + [size] * (config.controller_layers - 1)
        self.layers = nn.ModuleList([nn.Linear(inputs + size, 4 * size) for inputs in below])

    @torch.no_grad()
    def start_feedforward(self) -> None:
        """Begin as a feedforward controller: no recurrence, and forget gates that forget.

        What is to be kept must then go to the memory. With the usual start (recurrence, forget
        gates at +1) the controller first learns to do without its memory.
        """
        for layer in self.layers:
            weight, bias = layer.get_parameter("weight"), layer.get_parameter("bias")
            size = bias.numel() // 4
            weight[:, -size:] = 0
            bias[size : 2 * size] = -1

    def forward(
        self, inputs: Tensor, hidden: Tensor, cell: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """One step of every layer; each layer's linear map sees [what is below, its own hidden]."""
        new_hidden, new_cell = [], []
        for layer, h, c in zip(self.layers, hidden.unbind(1), cell.unbind(1), strict=True):
            inputs, c = lstm_step(layer(torch.cat([inputs, h], dim=1)), c)
            new_hidden.append(inputs)
            new_cell.append(c)
        return inputs, torch.stack(new_hidden, dim=1), torch.stack(new_cell, dim=1)


def lstm_step(preactivations: Tensor, cell: Tensor) -> tuple[Tensor, Tensor]:
    """One LSTM layer from its gates' values (batch, 4 size): new hidden and new cell."""
    input_gate, forget_gate, candidate, output_gate = preactivations.chunk(4, dim=1)
    cell = torch.sigmoid(forget_gate) * cell + torch.sigmoid(input_gate) * torch.tanh(candidate)
    return torch.sigmoid(output_gate) * torch.tanh(cell), cell


def make_controller(config: NTMConfig) -> FeedforwardController | LSTMController:
    """The controller that the config names."""
    if config.controller == "lstm":
        return LSTMController(config)
    return FeedforwardController(config)

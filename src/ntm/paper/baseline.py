"""The LSTM baseline of the site's comparison, in a form that the page's engine runs.

The engine runs NTMs only. An LSTM of one layer is an NTM with an LSTM controller that ignores its
memory, so the weights are copied into such a network with a memory of a single number.

`ntm train copy --model lstm --set model.layers=1` trained the network in copy-baseline.safetensors;
docs/site.md has the whole command.
"""

import json
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open
from safetensors import torch as safetensors
from torch import Tensor

from ntm.layer import NTM
from ntm.models.lstm import LSTMBaseline
from ntm.paper.settings import paper_settings
from ntm.runs import Settings

FILE = Path(__file__).parent / "copy-baseline.safetensors"


def baseline() -> tuple[LSTMBaseline, dict[str, Any]]:
    """Return the trained LSTM and the facts of its training."""
    with safe_open(FILE, framework="pt") as file:
        facts = json.loads(file.metadata()["ntm"])
    net = LSTMBaseline(**facts["model"])
    net.load_state_dict(safetensors.load_file(FILE))
    return net.eval(), facts


def baseline_settings() -> Settings:
    """Return the settings of the paper's LSTM; the page shows the baseline in its place."""
    return paper_settings("copy", "lstm")


@torch.no_grad()
def as_ntm(lstm: LSTMBaseline) -> NTM:
    """Return an NTM that gives the answers of an LSTM of one layer."""
    config = lstm.config
    if config.layers != 1:
        raise ValueError(f"Only one layer fits a controller; this LSTM has {config.layers}.")
    net = NTM(
        config.input_size, config.output_size, controller="lstm",
        controller_size=config.hidden_size, memory_locations=1, memory_width=1,
    )  # fmt: skip
    for parameter in net.parameters():
        parameter.zero_()
    net.load_state_dict(net.state_dict() | _weights(lstm.state_dict()))
    return net


def _weights(state: dict[str, Tensor]) -> dict[str, Tensor]:
    """Return the controller's and the output's weights, with zeros for the vector that is read."""
    *inputs, bias = state["layers.0.weight_ih_l0"].unbind(1)  # the last input is always 1
    recurrent, output = state["layers.0.weight_hh_l0"], state["output.weight"]
    unread = torch.zeros_like(bias)[:, None]
    return {
        "cell.controller.layers.0.weight": torch.cat(
            [torch.stack(inputs, 1), unread, recurrent], dim=1
        ),
        "cell.controller.layers.0.bias": bias,
        "cell.output.weight": torch.cat([output, torch.zeros(len(output), 1)], dim=1),
        "cell.output.bias": state["output.bias"],
        "start.hidden": state["start_hidden"],
        "start.cell": state["start_cell"],
    }

"""A family from outside the package: an NTM whose controller is a GRU, for the reference engine."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from ntm import NTM, NTMConfig
from ntm.config import Initialisation
from ntm.models import register
from ntm.models.ntm import NTMFamily


@dataclass(frozen=True)
class GRUConfig(NTMConfig):
    """The sizes of an NTM; `controller="lstm"` gives the controller a state of its own."""

    controller: str = "lstm"


class GRUController(nn.Module):
    """One GRU layer; the state's `cell` is not used.

    `layers` are the linear maps that `backward_clip` bounds, as in every controller.
    """

    def __init__(self, config: NTMConfig) -> None:
        super().__init__()
        inputs, size = config.controller_inputs + config.controller_size, config.controller_size
        self.layers = nn.ModuleList([nn.Linear(inputs, 2 * size), nn.Linear(inputs, size)])

    def forward(
        self, inputs: Tensor, hidden: Tensor, cell: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        gates, candidate = self.layers
        before = hidden[:, 0]
        update, reset = torch.sigmoid(gates(torch.cat([inputs, before], dim=1))).chunk(2, dim=1)
        new = torch.tanh(candidate(torch.cat([inputs, reset * before], dim=1)))
        after = update * before + (1 - update) * new
        return after, after.unsqueeze(1), cell


class GRUFamily(NTMFamily):
    """An NTM with a GRU controller."""

    config = GRUConfig

    def build(self, config: GRUConfig, initialisation: Initialisation, engine: str) -> NTM:
        net = NTM.from_config(config, initialisation, engine=engine)
        net.config, net.cell.controller = config, GRUController(config)
        return net


register(GRUFamily("ntm-gru", "NTM, GRU controller", "#CC79A7"))

"""The learned state before the first step, and its extension to a larger memory.

Section 4 of the paper resets the memory, the reads and the controller to bias values at the start
of each sequence. The start weightings are learned, too: as logits, so that they stay distributions.
"""

import copy
import math
from typing import Any, Self

import torch
from torch import Tensor, nn

from ntm.cell import State
from ntm.config import Initialisation, NTMConfig

CONSTANT_START = 1e-6


class StartState(nn.Module):
    """Parameters of the state before the first step.

    `hidden` and `cell` are None for a feedforward controller, which has no state.
    """

    hidden: nn.Parameter | None
    cell: nn.Parameter | None

    def __init__(
        self, config: NTMConfig, initialisation: Initialisation = Initialisation()
    ) -> None:
        super().__init__()
        self.config, self.initialisation = config, initialisation
        locations, width = config.memory_locations, config.memory_width
        layers, size = config.recurrent_layers, config.controller_size
        self.memory = nn.Parameter(torch.empty(locations, width))
        self.read_logits = nn.Parameter(torch.empty(config.read_heads, locations))
        self.write_logits = nn.Parameter(torch.empty(config.write_heads, locations))
        self.reads = nn.Parameter(torch.empty(config.read_heads, width))
        for name in ("hidden", "cell"):
            own = nn.Parameter(torch.empty(layers, size)) if layers else None
            self.register_parameter(name, own)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Initialise memory and start weightings as `initialisation` says, the rest to zero."""
        chosen = self.initialisation
        if chosen.start_memory == "constant":
            nn.init.constant_(self.memory, CONSTANT_START)
        else:
            nn.init.uniform_(self.memory, -0.5, 0.5)
        # Equal contents give equal content weightings; only the start weightings distinguish them.
        nn.init.normal_(self.read_logits, std=chosen.start_spread)
        nn.init.normal_(self.write_logits, std=chosen.start_spread)
        if chosen.start_together:
            with torch.no_grad():
                self.read_logits.copy_(self.read_logits[0].expand_as(self.read_logits))
                self.write_logits.copy_(self.read_logits[0].expand_as(self.write_logits))
        for parameter in (self.reads, self.hidden, self.cell):
            if parameter is not None:
                nn.init.zeros_(parameter)

    def forward(self, batch_size: int) -> State:
        """Return the state before the first step, the same for every sequence of a batch."""
        nothing = self.memory.new_empty(0, self.config.controller_size)
        start = State(
            memory=self.memory,
            read_weightings=torch.softmax(self.read_logits, dim=1),
            write_weightings=torch.softmax(self.write_logits, dim=1),
            reads=self.reads,
            hidden=nothing if self.hidden is None else self.hidden,
            cell=nothing if self.cell is None else self.cell,
        )
        if not torch.is_grad_enabled():  # a view of a parameter would still require gradients
            start = start.detach()
        return State(*(tensor.expand(batch_size, *tensor.shape) for tensor in start))

    @torch.no_grad()
    def resized(self, config: NTMConfig) -> Self:
        """Return a copy for a larger memory; new locations come after the trained locations.

        A new location starts with the mean content of the trained locations. In a start weighting,
        all new locations together have the weight of the trained location with the least weight, so
        a head starts where it learned to start.
        """
        if not {"memory", "read_logits", "write_logits"} <= self._parameters.keys():
            raise ValueError("The learned start is parametrised; undo this before you resize it.")
        added = config.memory_locations - self.config.memory_locations
        larger = copy.deepcopy(self)
        larger.config = config
        for name, values in {
            "memory": torch.cat([self.memory, self.memory.mean(0).expand(added, -1)]),
            "read_logits": _resized_logits(self.read_logits, added),
            "write_logits": _resized_logits(self.write_logits, added),
        }.items():
            needs_gradient = getattr(self, name).requires_grad
            larger.register_parameter(name, nn.Parameter(values.clone(), needs_gradient))
        larger.zero_grad()
        return larger

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *rest: Any) -> None:
        """Load like every module, and accept files of version 1.0, too.

        In version 1.0, a feedforward controller had an empty `hidden` and an empty `cell`.
        """
        for name in (prefix + own for own in ("hidden", "cell") if getattr(self, own) is None):
            if name in state_dict and state_dict[name].numel() == 0:
                del state_dict[name]
        super()._load_from_state_dict(state_dict, prefix, *rest)


def _resized_logits(logits: Tensor, added: int) -> Tensor:
    if added == 0:
        return logits
    least = logits.min(1, keepdim=True).values - math.log(added)
    return torch.cat([logits, least.expand(-1, added)], dim=1)

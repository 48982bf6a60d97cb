"""One time step of the machine, and the state that it passes to the next step.

x_t, r_{t-1}  ->  controller  ->  head parameters
M_{t-1}       ->  write heads find their locations, erase and add  ->  M_t
M_t           ->  read heads find their locations and read         ->  r_t
h_t, r_t      ->  output
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from ntm import states
from ntm.addressing import Addressing, address
from ntm.config import NTMConfig
from ntm.controllers import CONTROLLERS
from ntm.heads import HeadParameters, Heads
from ntm.memory import read, write
from ntm.states import BatchState


class _Parts(NamedTuple):
    memory: Tensor  # M, (batch, N, M)
    read_weightings: Tensor  # w of the read heads, (batch, read heads, N)
    write_weightings: Tensor  # w of the write heads, (batch, write heads, N)
    reads: Tensor  # r, (batch, read heads, M)
    hidden: Tensor  # of an LSTM controller, (batch, layers, size); layers is 0 if feedforward
    cell: Tensor  # of an LSTM controller, same shape as hidden


class State(BatchState, _Parts):
    """State that one time step passes to the next. The first axis of every tensor is the batch."""

    __slots__ = ()


states.make_storable(State)


class Weightings(NamedTuple):
    """Weightings of all heads at every step. Steps beyond a sequence's length are zero."""

    read: Tensor  # (time, batch, read heads, N)
    write: Tensor  # (time, batch, write heads, N)

    def __repr__(self) -> str:
        return states.described(self)


states.make_storable(Weightings)


class StepRecord(NamedTuple):
    """Record of one time step. A trace stacks these records over time."""

    output: Tensor  # logits, (batch, output_size)
    hidden: Tensor  # the controller's output h, (batch, controller_size)
    parameters: HeadParameters
    write: Addressing
    read: Addressing


class Cell(nn.Module):
    """The machine without its start state: controller, heads and output layer."""

    def __init__(self, config: NTMConfig) -> None:
        super().__init__()
        self.config = config
        self.controller = CONTROLLERS[config.controller](config)
        self.heads = Heads(config)
        read_values = config.read_heads * config.memory_width
        self.output = nn.Linear(config.controller_size + read_values, config.output_size)

    def forward(self, x: Tensor, state: State) -> tuple[StepRecord, State]:
        """Run one time step on x (batch, input_size); return its record and the next state."""
        seen = torch.cat([x, state.reads.flatten(1)], dim=1)
        h, hidden, cell = self.controller(seen, state.hidden, state.cell)
        heads = self.heads(h)
        shifts = self.config.shifts
        writing = address(heads.write, state.memory, state.write_weightings, shifts)
        memory = write(state.memory, writing.weighting, heads.erase, heads.add)
        reading = address(heads.read, memory, state.read_weightings, shifts)
        reads = read(memory, reading.weighting)
        output = self.output(torch.cat([h, reads.flatten(1)], dim=1))
        after = State(memory, reading.weighting, writing.weighting, reads, hidden, cell)
        return StepRecord(output, h, heads, writing, reading), after

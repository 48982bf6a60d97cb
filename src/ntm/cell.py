"""One time step of the machine, and its state as a value.

x_t, r_{t-1}  ->  controller  ->  head parameters
M_{t-1}       ->  write heads find their locations, erase and add  ->  M_t
M_t           ->  read heads find their locations and read         ->  r_t
h_t, r_t      ->  output
"""

from typing import Any, NamedTuple, Self, overload

import torch
from torch import Tensor, nn

from ntm import states
from ntm.addressing import Addressing, address
from ntm.config import NTMConfig
from ntm.controllers import make_controller
from ntm.heads import HeadParameters, Heads
from ntm.memory import read, write
from ntm.states import Chosen, Flags


class State(NamedTuple):
    """All that one step hands to the next. Every tensor's first axis is the batch."""

    memory: Tensor  # M, (batch, N, M)
    read_weightings: Tensor  # w of the read heads, (batch, read heads, N)
    write_weightings: Tensor  # w of the write heads, (batch, write heads, N)
    reads: Tensor  # r, (batch, read heads, M)
    hidden: Tensor  # of an LSTM controller, (batch, layers, size); no layers for a feedforward one
    cell: Tensor  # likewise

    @overload  # type: ignore[override]  # a slice chooses sequences, not parts
    def __getitem__(self, index: int) -> Tensor: ...
    @overload
    def __getitem__(self, index: Chosen) -> Self: ...
    def __getitem__(self, index: int | Chosen) -> "Tensor | State":
        """Choose sequences of the batch: `state[3:5]`, `state[mask]`, `state[[4, 0]]`.

        An integer is the number of a part, as in every named tuple: `state[0]` is `state.memory`.
        """
        return states.item(self, index)  # type: ignore[no-any-return]

    @staticmethod
    def where(done: Flags, fresh: "State", state: "State") -> "State":
        """Take the sequences that are done from `fresh`, and all others from `state`.

        done: (batch,) bool, a tensor or a list. Gradients flow into the parts that are taken.
        """
        return states.where(done, fresh, state, State)

    def detach(self) -> Self:
        """The same state without its history, for truncated backpropagation through time.

        It shares the memory of this state, as `Tensor.detach` does.
        """
        return states.mapped(Tensor.detach, self)

    def clone(self) -> Self:
        """A copy of the state, with its history: writing to it changes nothing else."""
        return states.mapped(Tensor.clone, self)

    def cpu(self) -> Self:
        """The same state on the CPU."""
        return states.mapped(Tensor.cpu, self)

    def to(self, *args: Any, **kwargs: Any) -> Self:
        """The same state on another device or in another dtype; the arguments of Tensor.to."""
        return states.mapped(lambda part: part.to(*args, **kwargs), self)

    def __repr__(self) -> str:
        return states.described(self)


states.make_storable(State)


class Weightings(NamedTuple):
    """Weightings of all heads at every step of a call. Steps beyond a length are zero."""

    read: Tensor  # (time, batch, read heads, N)
    write: Tensor  # (time, batch, write heads, N)

    def __repr__(self) -> str:
        return states.described(self)


states.make_storable(Weightings)


class Step(NamedTuple):
    """Everything that happened in one step; a trace is these, stacked over time."""

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
        self.controller = make_controller(config)
        self.heads = Heads(config)
        read_values = config.read_heads * config.memory_width
        self.output = nn.Linear(config.controller_size + read_values, config.output_size)

    def forward(self, x: Tensor, state: State) -> tuple[Step, State]:
        """x (batch, input_size) and the state before, to what happened and the state after."""
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
        return Step(output, h, heads, writing, reading), after

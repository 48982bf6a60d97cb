"""One time step of the machine, and the state that it passes to the next step.

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
    """State that one time step passes to the next. The first axis of every tensor is the batch."""

    memory: Tensor  # M, (batch, N, M)
    read_weightings: Tensor  # w of the read heads, (batch, read heads, N)
    write_weightings: Tensor  # w of the write heads, (batch, write heads, N)
    reads: Tensor  # r, (batch, read heads, M)
    hidden: Tensor  # of an LSTM controller, (batch, layers, size); layers is 0 if feedforward
    cell: Tensor  # of an LSTM controller, same shape as hidden

    @overload  # type: ignore[override]  # a slice chooses sequences, not parts
    def __getitem__(self, index: int) -> Tensor: ...
    @overload
    def __getitem__(self, index: Chosen) -> Self: ...
    def __getitem__(self, index: int | Chosen) -> "Tensor | State":
        """Choose sequences of the batch: `state[3:5]`, `state[mask]`, `state[[4, 0]]`.

        An integer selects one tensor, as in every named tuple: `state[0]` is `state.memory`.
        """
        return states.item(self, index)  # type: ignore[no-any-return]

    def choose(self, index: Chosen) -> Self:
        """Return the state of some sequences: a slice, a mask (batch,) or a list of numbers.

        `state[index]` is the same; `choose` also compiles with every supported torch.
        """
        return states.choose(self, index)

    @staticmethod
    def where(done: Flags, fresh: "State", state: "State") -> "State":
        """Return `fresh` for the sequences that are done, and `state` for all others.

        done: (batch,) bool, a tensor or a list.

        Gradients flow into the selected sequences.
        """
        return states.where(done, fresh, state, State)

    def detach(self) -> Self:
        """Return the state without its history, for truncated backpropagation through time.

        The result shares memory with this state, as with `Tensor.detach`.
        """
        return states.mapped(Tensor.detach, self)

    def clone(self) -> Self:
        """Return a copy that shares no memory with this state. Gradients flow through the copy."""
        return states.mapped(Tensor.clone, self)

    def cpu(self) -> Self:
        """Return the state on the CPU."""
        return states.mapped(Tensor.cpu, self)

    def to(self, *args: Any, **kwargs: Any) -> Self:
        """Return the state on another device or in another dtype; arguments as in `Tensor.to`."""
        return states.mapped(lambda part: part.to(*args, **kwargs), self)

    def __repr__(self) -> str:
        return states.described(self)


states.make_storable(State)


class Weightings(NamedTuple):
    """Weightings of all heads at every step. Steps beyond a sequence's length are zero."""

    read: Tensor  # (time, batch, read heads, N)
    write: Tensor  # (time, batch, write heads, N)

    def __repr__(self) -> str:
        return states.described(self)


states.make_storable(Weightings)


class Step(NamedTuple):
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
        self.controller = make_controller(config)
        self.heads = Heads(config)
        read_values = config.read_heads * config.memory_width
        self.output = nn.Linear(config.controller_size + read_values, config.output_size)

    def forward(self, x: Tensor, state: State) -> tuple[Step, State]:
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
        return Step(output, h, heads, writing, reading), after

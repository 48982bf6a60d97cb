"""A Differentiable Neural Computer in one file, as a model family for every command of `ntm`.

    ntm train repeat-copy --model examples/dnc.py

The machine is described in "Hybrid computing using a neural network with dynamic external memory"
(Graves et al., Nature 538, 2016). The functions follow its section Methods, one equation each, with
the paper's symbols in the comments. One step, inner to outer:

    x_t, r_{t-1}   ->  controller (LSTM)  ->  interface, one value per gate, key and vector
    usage          ->  allocation: the free locations, freest first
    M_{t-1}        ->  the write head writes by content or to a free location  ->  M_t
    links          ->  remember which location was written after which
    M_t            ->  the read heads go backward, forward or to similar content  ->  r_t
    h_t, r_t       ->  output

B sequences, R read heads, N locations of W values.
"""

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import softplus

from ntm import Trace
from ntm.description import Description, Parameter, StatePart, TraceArray
from ntm.models import Family, register
from ntm.tasks import setting

EPSILON = 1e-6  # keeps norms, and the products of usages, away from zero


# --- Content ---


def cosine_similarity(keys: Tensor, memory: Tensor) -> Tensor:
    """Return D(k, M[i]) of every key to every location: (B, R, W), (B, N, W) -> (B, R, N)."""
    key_norms = (keys.square().sum(2, keepdim=True) + EPSILON).rsqrt()
    row_norms = (memory.square().sum(2, keepdim=True) + EPSILON).rsqrt()
    return torch.bmm(keys * key_norms, (memory * row_norms).mT)


def content_weightings(memory: Tensor, keys: Tensor, strengths: Tensor) -> Tensor:
    """Return C(M, k, beta), a softmax over the locations: (B, R, N)."""
    return torch.softmax(strengths.unsqueeze(2) * cosine_similarity(keys, memory), dim=2)


# --- Dynamic allocation ---


def retention_of(free_gates: Tensor, read_weightings: Tensor) -> Tensor:
    """Return psi_t, the share of each location that no read head frees: (B, N)."""
    kept = 1 - free_gates.unsqueeze(2) * read_weightings
    return functools.reduce(torch.mul, kept.unbind(1))


def usage_after(usage: Tensor, write_weighting: Tensor, retention: Tensor) -> Tensor:
    """Return u_t: the last write fills locations, and what is not retained becomes free: (B, N)."""
    return (usage + write_weighting - usage * write_weighting) * retention


def allocation_of(usage: Tensor) -> Tensor:
    """Return a_t, the weighting of free locations, freest first: (B, N).

    The first location of the free list phi_t gets 1 - u of the weight, and every later location
    1 - u of the rest.
    """
    ascending, free_list = (EPSILON + (1 - EPSILON) * usage).sort(dim=1, stable=True)
    rest = torch.cat([torch.ones_like(ascending[:, :1]), ascending[:, :-1]], dim=1).cumprod(1)
    return torch.zeros_like(usage).scatter(1, free_list, (1 - ascending) * rest)


# --- Writing ---


def write_weighting_of(
    content: Tensor, allocation: Tensor, allocation_gate: Tensor, write_gate: Tensor
) -> Tensor:
    """Return w^w_t, by content or by allocation, as far as the write gate is open: (B, N)."""
    return write_gate * (allocation_gate * allocation + (1 - allocation_gate) * content)


def write(memory: Tensor, weighting: Tensor, erase: Tensor, add: Tensor) -> Tensor:
    """Return M_t: erase, then add, in proportion to the weighting: (B, N, W)."""
    where = weighting.unsqueeze(2)
    return memory * (1 - where * erase.unsqueeze(1)) + where * add.unsqueeze(1)


# --- Temporal links ---


def precedence_after(precedence: Tensor, write_weighting: Tensor) -> Tensor:
    """Return p_t, how much each location is the one written last: (B, N)."""
    return (1 - write_weighting.sum(1, keepdim=True)) * precedence + write_weighting


def links_after(links: Tensor, precedence: Tensor, write_weighting: Tensor) -> Tensor:
    """Return L_t, where L_t[i, j] says how much i was written right after j: (B, N, N).

    precedence: p_{t-1}, before this write.
    """
    to, since = write_weighting.unsqueeze(2), write_weighting.unsqueeze(1)
    links = (1 - to - since) * links + to * precedence.unsqueeze(1)
    return links * (1 - torch.eye(links.shape[1], dtype=links.dtype, device=links.device))


def forward_weightings(links: Tensor, read_weightings: Tensor) -> Tensor:
    """Return f_t = L_t w^r_{t-1}: what was written after the locations read last: (B, R, N)."""
    return torch.bmm(read_weightings, links.mT)


def backward_weightings(links: Tensor, read_weightings: Tensor) -> Tensor:
    """Return b_t = L_t^T w^r_{t-1}: what was written before the locations read last: (B, R, N)."""
    return torch.bmm(read_weightings, links)


# --- Reading ---


def read_weightings_of(modes: Tensor, backward: Tensor, content: Tensor, forward: Tensor) -> Tensor:
    """Return w^r_t, the three weightings in the proportions pi_t of the read modes: (B, R, N)."""
    first, second, third = modes.unsqueeze(3).unbind(2)
    return first * backward + second * content + third * forward


def read(memory: Tensor, weightings: Tensor) -> Tensor:
    """Return r_t, one vector per read head: (B, R, W)."""
    return torch.bmm(weightings, memory)


# --- The machine ---


@dataclass(frozen=True)
class DNCConfig:
    """Sizes of a DNC."""

    input_size: int = setting(help="channels of the input at every step", at_least=1)
    output_size: int = setting(help="channels of the output (logits) at every step", at_least=1)
    controller_size: int = setting(64, "units of the LSTM controller", at_least=1)
    memory_locations: int = setting(32, "locations of the memory (N)", at_least=1)
    memory_width: int = setting(16, "values of one location (W)", at_least=1)
    read_heads: int = setting(2, "read heads (R)", at_least=1)


STATE = (
    StatePart("memory", ("location", "width")),
    StatePart("usage", ("location",)),
    StatePart("precedence", ("location",)),
    StatePart("links", ("location", "location")),
    StatePart("write_weighting", ("location",)),
    StatePart("read_weightings", ("read head", "location")),
    StatePart("reads", ("read head", "width")),
    StatePart("hidden", ("unit",)),
    StatePart("cell", ("unit",)),
)

# Arrays of a trace. `DNC.recorded` fills them in. The commands, the figures and the studio draw
# them by their roles; a "lane" is a heat map over time.
ARRAYS = (
    TraceArray("memory", ("location", "width"), "memory after the step", "memory"),
    TraceArray("usage", ("location",), "usage"),
    TraceArray("allocation", ("location",), "allocation"),
    TraceArray("write_gates", ("write head",), "write gate"),
    TraceArray("allocation_gates", ("write head",), "allocation gate"),
    TraceArray("write_content", ("write head", "location"), "by content alone", "detail"),
    TraceArray("write_weightings", ("write head", "location"), "write weighting", "weighting"),
    TraceArray("erases", ("write head", "width"), "erase", "vector"),
    TraceArray("adds", ("write head", "width"), "add", "vector"),
    TraceArray("free_gates", ("read head",), "free gate"),
    TraceArray("modes", ("read head", "mode"), "modes: backward, content, forward"),
    TraceArray("backward", ("read head", "location"), "backward weighting"),
    TraceArray("read_content", ("read head", "location"), "by content alone", "detail"),
    TraceArray("forward", ("read head", "location"), "forward weighting"),
    TraceArray("read_weightings", ("read head", "location"), "read weighting", "weighting"),
    TraceArray("reads", ("read head", "width"), "read", "vector"),
)


def describe(c: DNCConfig) -> Description:
    """Return the parameters, the state and the trace arrays of a DNC."""
    reads, emitted = c.read_heads * c.memory_width, sum(interface_sizes(c))
    seen = c.input_size + reads + c.controller_size
    return Description(
        sizes={
            "location": c.memory_locations,
            "width": c.memory_width,
            "read head": c.read_heads,
            "write head": 1,
            "unit": c.controller_size,
            "mode": 3,
        },
        parameters=(
            Parameter("controller.weight", (4 * c.controller_size, seen)),
            Parameter("controller.bias", (4 * c.controller_size,)),
            Parameter("interface.weight", (emitted, c.controller_size)),
            Parameter("interface.bias", (emitted,)),
            Parameter("output.weight", (c.output_size, c.controller_size + reads)),
            Parameter("output.bias", (c.output_size,)),
        ),
        state=STATE,
        arrays=ARRAYS,
    )


def interface_sizes(config: DNCConfig) -> list[int]:
    """Keys, strengths, add vector, everything within (0, 1), and read modes."""
    heads, width = config.read_heads, config.memory_width
    return [(heads + 1) * width, heads + 1, width, width + heads + 2, heads * 3]


class State(NamedTuple):
    """State that one time step passes to the next, with the shapes of `STATE`."""

    memory: Tensor  # M
    usage: Tensor  # u
    precedence: Tensor  # p
    links: Tensor  # L
    write_weighting: Tensor  # w^w
    read_weightings: Tensor  # w^r
    reads: Tensor  # r
    hidden: Tensor  # h of the controller
    cell: Tensor  # s of the controller


class Interface(NamedTuple):
    """Values that the controller emits for the heads: xi."""

    keys: Tensor  # k of the read heads, then of the write head, (B, R + 1, W)
    strengths: Tensor  # beta >= 1 of the same heads, (B, R + 1)
    add: Tensor  # v, (B, W)
    erase: Tensor  # e in (0, 1), (B, W)
    free_gates: Tensor  # f in (0, 1), (B, R)
    allocation_gate: Tensor  # g^a in (0, 1), (B, 1)
    write_gate: Tensor  # g^w in (0, 1), (B, 1)
    modes: Tensor  # pi: backward, content, forward; sums to one, (B, R, 3)


class Step(NamedTuple):
    """Record of one time step beyond the state after it."""

    interface: Interface
    allocation: Tensor  # a, (B, N)
    write_content: Tensor  # c^w, (B, N)
    backward: Tensor  # b, (B, R, N)
    forward: Tensor  # f, (B, R, N)
    read_content: Tensor  # c^r, (B, R, N)


def lstm_step(values: Tensor, cell: Tensor) -> tuple[Tensor, Tensor]:
    """Return h_t and s_t of an LSTM layer; values: (B, 4 units), before squashing."""
    gates, candidate = torch.split(values, [3 * cell.shape[1], cell.shape[1]], dim=1)
    input_gate, forget_gate, output_gate = torch.sigmoid(gates).chunk(3, dim=1)
    cell = forget_gate * cell + input_gate * torch.tanh(candidate)
    return output_gate * torch.tanh(cell), cell


class DNC(nn.Module):
    """Differentiable Neural Computer with an LSTM controller and one write head.

    logits, state = net(x)                    # x: (time, B, input_size)
    logits, state = net(x, state)             # continues: streaming equals one long call
    logits, state = net(x, lengths=lengths)   # mixed lengths: padding changes nothing
    """

    def __init__(self, config: DNCConfig) -> None:
        super().__init__()
        self.config = config
        shapes = describe(config).shapes()
        for layer in ("controller", "interface", "output"):
            outputs, inputs = shapes[f"{layer}.weight"]
            self.add_module(layer, nn.Linear(inputs, outputs))
        self.backward_clip: float | None = None

    def emitted(self, hidden: Tensor) -> Interface:
        """Return the interface: each value of xi_t, squashed into its range."""
        heads, width = self.config.read_heads, self.config.memory_width
        values = self._bounded(self.interface(hidden))
        keys, strengths, add, shares, modes = torch.split(
            values, interface_sizes(self.config), dim=1
        )
        erase, free, allocation_gate, write_gate = torch.split(
            torch.sigmoid(shares), [width, heads, 1, 1], dim=1
        )
        return Interface(
            torch.unflatten(keys, 1, (heads + 1, width)),
            1 + softplus(strengths),
            add,
            erase,
            free,
            allocation_gate,
            write_gate,
            torch.softmax(torch.unflatten(modes, 1, (heads, 3)), dim=2),
        )

    def advance(self, x: Tensor, state: State) -> tuple[Step, State]:
        """Run one time step on x (B, input_size); return its record and the next state."""
        seen = torch.cat([x, state.reads.flatten(1), state.hidden], dim=1)
        hidden, cell = lstm_step(self._bounded(self.controller(seen)), state.cell)
        say = self.emitted(hidden)
        # Write.
        retention = retention_of(say.free_gates, state.read_weightings)
        usage = usage_after(state.usage, state.write_weighting, retention)
        allocation = allocation_of(usage)
        sought = content_weightings(state.memory, say.keys[:, -1:], say.strengths[:, -1:]).squeeze(
            1
        )
        written = write_weighting_of(sought, allocation, say.allocation_gate, say.write_gate)
        memory = write(state.memory, written, say.erase, say.add)
        # Link.
        links = links_after(state.links, state.precedence, written)
        precedence = precedence_after(state.precedence, written)
        # Read.
        backward = backward_weightings(links, state.read_weightings)
        forward = forward_weightings(links, state.read_weightings)
        content = content_weightings(memory, say.keys[:, :-1], say.strengths[:, :-1])
        weightings = read_weightings_of(say.modes, backward, content, forward)
        after = State(
            memory,
            usage,
            precedence,
            links,
            written,
            weightings,
            read(memory, weightings),
            hidden,
            cell,
        )
        return Step(say, allocation, sought, backward, forward, content), after

    def initial_state(self, batch_size: int) -> State:
        """Return the state before the first step: zeros, for `batch_size` sequences."""
        shapes, like = describe(self.config).state_shapes, self.output.weight
        return State(*(like.new_zeros(batch_size, *shape) for shape in shapes))

    def steps(self, x: Tensor, state: State) -> Iterator[tuple[Step, State]]:
        """Run the steps of x (time, B, input_size) one by one."""
        for x_t in x:
            step, state = self.advance(x_t, state)
            yield step, state

    def forward(
        self, x: Tensor, state: State | None = None, lengths: Tensor | None = None
    ) -> tuple[Tensor, State]:
        """Run the sequences of a batch; return logits (time, B, output_size) and the final state.

        The logits beyond a sequence's length are zero.
        """
        state = self.initial_state(x.shape[1]) if state is None else state
        lengths = torch.full(x.shape[1:2], x.shape[0]) if lengths is None else lengths.cpu()
        active = (torch.arange(x.shape[0]).unsqueeze(1) < lengths).unsqueeze(2).to(x.device)
        ends, final = set(lengths.tolist()), state
        x = torch.where(active, x, torch.zeros_like(x))
        features = []
        # The machine is causal. So a sequence that has ended may run on, if its state is kept.
        for t, (_, after) in enumerate(self.steps(x, state)):
            features.append(torch.cat([after.hidden, after.reads.flatten(1)], dim=1))
            if t + 1 in ends:
                final = _where((lengths == t + 1).to(x.device), after, final)
        logits = self.output(torch.stack(features))  # y_t, of all steps at once
        return torch.where(active, logits, torch.zeros_like(logits)), final

    def recorded(self, x: Tensor) -> dict[str, Tensor]:
        """Return the arrays of a trace, (time, B, ...)."""
        rows = [_record(*both) for both in self.steps(x, self.initial_state(x.shape[1]))]
        return {name: torch.stack([row[name] for row in rows]) for name in rows[0]}

    def _bounded(self, values: Tensor) -> Tensor:
        """Bound the gradient that flows back through these values by `backward_clip`."""
        limit = self.backward_clip
        if limit is not None and values.requires_grad:
            values.register_hook(lambda gradient: gradient.clamp(-limit, limit))
        return values


def _where(chosen: Tensor, new: State, old: State) -> State:
    """Return the new state of the chosen sequences, (B,) bool, and the old state of the others."""
    if chosen.all():
        return new
    return State(
        *(
            torch.where(chosen.view(-1, *(1,) * (part.dim() - 1)), part, kept)
            for part, kept in zip(new, old, strict=True)
        )
    )


def _record(step: Step, state: State) -> dict[str, Tensor]:
    """Return the arrays of `ARRAYS` at one step. The write head is the only one of its kind."""
    say = step.interface
    of_write_head = {
        "write_gates": say.write_gate.squeeze(1),
        "allocation_gates": say.allocation_gate.squeeze(1),
        "write_content": step.write_content,
        "write_weightings": state.write_weighting,
        "erases": say.erase,
        "adds": say.add,
    }
    return {name: array.unsqueeze(1) for name, array in of_write_head.items()} | {
        "memory": state.memory,
        "usage": state.usage,
        "allocation": step.allocation,
        "free_gates": say.free_gates,
        "modes": say.modes,
        "backward": step.backward,
        "read_content": step.read_content,
        "forward": step.forward,
        "read_weightings": state.read_weightings,
        "reads": state.reads,
    }


class DNCFamily(Family):
    """Differentiable Neural Computer."""

    config = DNCConfig

    def build(self, config: DNCConfig, initialisation: object, engine: str) -> DNC:
        """Return a freshly initialised network with this config."""
        return DNC(config)

    def describe(self, config: DNCConfig) -> Description:
        """Return the parameters, the state and the trace arrays of a network."""
        return describe(config)

    @torch.no_grad()
    def trace(
        self, model: DNC, x: Tensor, lengths: Tensor | None = None, *, memory: bool = False
    ) -> Trace:
        """Return a recording of `ARRAYS`; of the memory if it is asked for."""
        lengths = torch.full(x.shape[1:2], x.shape[0]) if lengths is None else lengths.cpu()
        ended = torch.arange(x.shape[0]).unsqueeze(1) >= lengths
        arrays = {"inputs": x, "outputs": model(x, lengths=lengths)[0], **model.recorded(x)}
        named = {name: array.float().cpu().clone() for name, array in arrays.items()}
        for array in named.values():
            array[ended] = 0
        if not memory:
            del named["memory"]
        numbers = {name: array.numpy() for name, array in named.items()}
        return Trace(lengths=lengths.numpy(), described=ARRAYS, **numbers)

    def bound_backward(self, model: DNC, limit: float | None) -> None:
        """Bound the gradients that flow back through the controller and the heads at every step."""
        model.backward_clip = limit


register(DNCFamily("dnc", "DNC", "#CC79A7"))

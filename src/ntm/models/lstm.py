"""The paper's LSTM baseline, with the same call as the NTM.

The widths in the paper's table of sizes fit exactly one wiring: the input goes into every layer,
every layer goes into the output, each gate has one bias, and the initial hidden and cell states are
learned.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Self, overload

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence

from ntm import states
from ntm.common.fields import Checked, setting
from ntm.engine import EngineName, checked_name
from ntm.layer import checks, forms, rebuilding
from ntm.layer.files import load_network, save_network
from ntm.layer.forms import Lengths, Sequences
from ntm.states import Chosen, Flags


@dataclass(frozen=True)
class LSTMConfig(Checked):
    """Sizes of an `LSTMBaseline`. Networks with equal configs can exchange `state_dict`s."""

    input_size: int = setting(help="channels of the input at every step", at_least=1)
    output_size: int = setting(help="channels of the output (logits) at every step", at_least=1)
    hidden_size: int = setting(256, "hidden units of each layer", at_least=1)
    layers: int = setting(3, "stacked layers", at_least=1)


@dataclass(frozen=True)
class LSTMInitialisation(Checked):
    """Initial values of the weights of an `LSTMBaseline`. They affect no shape."""

    forget_bias: float = setting(
        0.0, "initial bias of the forget gates: with 1, a layer remembers from the start"
    )


class LSTMState(NamedTuple):
    """State that one time step passes to the next. The first axis of every tensor is the batch."""

    hidden: Tensor  # (batch, layers, hidden_size)
    cell: Tensor  # (batch, layers, hidden_size)

    @overload  # type: ignore[override]  # a slice chooses sequences, not parts
    def __getitem__(self, index: int) -> Tensor: ...
    @overload
    def __getitem__(self, index: Chosen) -> Self: ...
    def __getitem__(self, index: int | Chosen) -> "Tensor | LSTMState":
        """Choose sequences of the batch: `state[3:5]`, `state[mask]`, `state[[4, 0]]`.

        An integer selects one tensor, as in every named tuple: `state[0]` is `state.hidden`.
        """
        return states.item(self, index)  # type: ignore[no-any-return]

    def choose(self, index: Chosen) -> Self:
        """Return the state of some sequences: a slice, a mask (batch,) or a list of numbers.

        `state[index]` is the same; `choose` also compiles with every supported torch.
        """
        return states.choose(self, index)

    @staticmethod
    def where(done: Flags, fresh: "LSTMState", state: "LSTMState") -> "LSTMState":
        """Return `fresh` for the sequences that are done, and `state` for all others.

        done: (batch,) bool, a tensor or a list.

        Gradients flow into the selected sequences.
        """
        return states.where(done, fresh, state, LSTMState)

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


states.make_storable(LSTMState)


class LSTMBaseline(nn.Module):
    """Stack of LSTM layers with the wiring of the paper's baseline.

        net = LSTMBaseline(input_size=9, output_size=8, hidden_size=256)
        logits, state = net(x)                    # x: (time, batch, input_size)
        logits, state = net(x, state)             # continues from this state
        logits, state = net(x, lengths=lengths)   # mixed lengths, (batch,) integers

    The outputs are logits: train with `binary_cross_entropy_with_logits`.

    hidden_size: units of each layer (256).
    layers: number of layers (3).
    forget_bias: initial bias of the forget gates (0.0).
    batch_first: whether x is (batch, time, input_size) (False).
    engine: engine for the gradients in `ntm train`: "native", "reference" (torch) or "auto", the
        fastest that can run ("auto").
    """

    def __init__(
        self,
        input_size: int,
        output_size: int,
        hidden_size: int = 256,
        layers: int = 3,
        *,
        forget_bias: float = 0.0,
        batch_first: bool = False,
        engine: EngineName = "auto",
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        self.config = LSTMConfig(input_size, output_size, hidden_size, layers)
        self.initialisation = LSTMInitialisation(forget_bias)
        self.batch_first, self.engine = batch_first, engine
        # The input gets a constant 1, whose weights are the biases. nn.LSTM has two per gate.
        c, seen = self.config, self.config.input_size + 1
        below = [seen] + [seen + c.hidden_size] * (c.layers - 1)
        self.layers = nn.ModuleList([nn.LSTM(size, c.hidden_size, bias=False) for size in below])
        self.output = nn.Linear(c.layers * c.hidden_size, c.output_size)
        self.start_hidden = nn.Parameter(torch.empty(c.layers, c.hidden_size))
        self.start_cell = nn.Parameter(torch.empty(c.layers, c.hidden_size))
        self.reset_parameters()
        self.to(device=device, dtype=dtype)

    @classmethod
    def from_config(
        cls,
        config: LSTMConfig,
        initialisation: LSTMInitialisation = LSTMInitialisation(),
        *,
        batch_first: bool = False,
        engine: EngineName = "auto",
    ) -> Self:
        """Return a freshly initialised network with this config; see `NTM.from_config`."""
        others = {"batch_first": batch_first, "engine": engine}
        return rebuilding.build(cls, config, initialisation, **others)

    @classmethod
    def from_pretrained(
        cls,
        folder: str | Path,
        *,
        batch_first: bool | None = None,
        engine: EngineName = "auto",
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> Self:
        """Load the network that `save_pretrained` wrote; arguments as in `NTM.from_pretrained`."""
        chosen: dict[str, Any] = {"engine": engine, "device": device, "dtype": dtype}
        net: Self = load_network(cls, folder, batch_first=batch_first, **chosen)
        return net

    def save_pretrained(self, folder: str | Path, *, task: Any = None) -> None:
        """Write the weights (safetensors), the config and `batch_first` (JSON).

        task: an `ntm.tasks.Task` to record for the commands (None: the commands need --task).

        `NTM.save_pretrained` says which networks are refused.
        """
        save_network(self, folder, task)

    @property
    def engine(self) -> EngineName:
        """Requested engine for the gradients in `ntm train`."""
        return self._engine

    @engine.setter
    def engine(self, name: EngineName) -> None:
        self._engine = checked_name(name)

    @torch.no_grad()
    def reset_parameters(self) -> None:
        """Initialise the layers like torch.nn.LSTM, and the output layer Glorot-uniform.

        Start state and biases are zero, except the forget gates' biases, which `initialisation`
        sets.
        """
        bound = self.config.hidden_size**-0.5
        for layer in self.layers:
            for weight in layer.parameters():
                nn.init.uniform_(weight, -bound, bound)
            biases = layer.get_parameter("weight_ih_l0")[:, self.config.input_size]
            _, forget, _, _ = biases.zero_().chunk(4)
            forget.fill_(self.initialisation.forget_bias)
        nn.init.xavier_uniform_(self.output.weight)
        for parameter in (self.output.bias, self.start_hidden, self.start_cell):
            nn.init.zeros_(parameter)

    def initial_state(self, batch_size: int) -> LSTMState:
        """Return the learned state before the first step, for `batch_size` sequences.

        The state is a copy: writing to it changes neither the weights nor another sequence.
        """
        checks.require_positive("batch_size", batch_size)
        return self._start(batch_size).clone()

    def _start(self, batch_size: int) -> LSTMState:
        """Return the learned state; do not check the size, which exported programs leave open."""
        start = (self.start_hidden, self.start_cell)
        return LSTMState(*(tensor.expand(batch_size, -1, -1) for tensor in start))

    @overload
    def forward(
        self, x: Tensor, state: LSTMState | None = None, lengths: Lengths = None
    ) -> tuple[Tensor, LSTMState]: ...

    @overload
    def forward(
        self, x: PackedSequence, state: LSTMState | None = None
    ) -> tuple[PackedSequence, LSTMState]: ...

    @forms.in_own_precision
    def forward(
        self, x: Sequences, state: LSTMState | None = None, lengths: Lengths = None
    ) -> tuple[Sequences, LSTMState]:
        """Run the sequences of a batch; arguments and results as in `NTM.forward`."""
        seen, start, lengths = self._prepared(x, state, lengths)
        if lengths is None or bool((lengths == seen.shape[0]).all()):
            logits, final = self._run(seen, start)
        else:
            logits, final = self._run_mixed(seen, start, lengths)
        return forms.as_given(x, logits, final, self.batch_first)

    def extra_repr(self) -> str:
        """Return the sizes, for `print(net)`."""
        c = self.config
        parameters = sum(parameter.numel() for parameter in self.parameters())
        return (
            f"{c.input_size} in, {c.output_size} out, {c.layers} layers of {c.hidden_size}, "
            f"{parameters:,} parameters{', batch_first=True' if self.batch_first else ''}"
        )

    def _run(
        self,
        x: Tensor,
        state: LSTMState,
        arranged: Callable[[Tensor], Tensor | PackedSequence] = lambda values: values,
    ) -> tuple[Tensor, LSTMState]:
        """Run all layers; `arranged` converts each layer's input to the form for nn.LSTM."""
        seen = torch.cat([x, x.new_ones(*x.shape[:-1], 1)], dim=-1)
        outputs: list[Tensor] = []
        after: list[tuple[Tensor, Tensor]] = []
        for layer, h, c in zip(self.layers, *(s.unbind(1) for s in state), strict=True):
            inputs = arranged(torch.cat([seen, *outputs[-1:]], dim=-1))
            output, (h, c) = layer(inputs, (h[None].contiguous(), c[None].contiguous()))
            outputs.append(output.data if isinstance(output, PackedSequence) else output)
            after.append((h[0], c[0]))
        logits = self.output(torch.cat(outputs, dim=-1))
        return logits, LSTMState(*(torch.stack(parts, dim=1) for parts in zip(*after, strict=True)))

    def _run_mixed(self, x: Tensor, state: LSTMState, lengths: Tensor) -> tuple[Tensor, LSTMState]:
        """Run sequences of different lengths, packed so that no padding is computed."""
        # Packing refuses empty sequences, so they run one step on zeros. The result is dropped.
        empty = (lengths == 0)[:, None]
        x = torch.where(empty, torch.zeros_like(x), x)
        packed = pack_padded_sequence(x, lengths.clamp(min=1).cpu(), enforce_sorted=False)
        values, after = self._run(packed.data, state, lambda data: packed._replace(data=data))
        logits, _ = pad_packed_sequence(packed._replace(data=values), total_length=x.shape[0])
        kept = (
            torch.where(empty[..., None], old, new) for old, new in zip(state, after, strict=True)
        )
        return torch.where(empty, torch.zeros_like(logits), logits), LSTMState(*kept)

    def _prepared(
        self, x: Sequences, state: LSTMState | None, lengths: Lengths
    ) -> tuple[Tensor, LSTMState, Tensor | None]:
        """Return the checked arguments as a padded batch, time first, with a state."""
        checks.require_input(x, self.config.input_size, self.batch_first, self.start_cell)
        seen, lengths = forms.padded(x, lengths, self.batch_first)
        steps, batch_size = seen.shape[:2]
        lengths = checks.checked_lengths(lengths, batch_size, steps, seen.device)
        checks.require_finite(seen, lengths)
        if state is None:
            return seen, self._start(batch_size), lengths
        batch = None if forms.is_unbatched(x) else batch_size
        shape = tuple(self.start_cell.shape)
        checks.require_parts(state, LSTMState, (shape, shape), batch, self.start_cell)
        return seen, forms.batched(x, state), lengths

"""The paper's LSTM baseline, called like an NTM.

The widths in the paper's table of sizes fit exactly one wiring: the input goes into every layer,
every layer goes into the output, each gate has one bias, and the initial hidden and cell states are
learned.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple, overload

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence

from ntm import states
from ntm.common.fields import Checked, setting
from ntm.description import Description, Parameter, StatePart
from ntm.engine import EngineName
from ntm.layer import checks, forms
from ntm.layer.base import SequenceNetwork
from ntm.layer.episodes import episodes_of
from ntm.layer.forms import Lengths, Sequences
from ntm.states import BatchState


@dataclass(frozen=True)
class LSTMConfig(Checked):
    """Sizes of an `LSTMBaseline`. Networks with equal configs can exchange `state_dict`s."""

    input_size: int = setting(help="channels of the input at every step", at_least=1)
    output_size: int = setting(help="channels of the output (logits) at every step", at_least=1)
    hidden_size: int = setting(256, "hidden units of each layer", at_least=1)
    layers: int = setting(3, "stacked layers", at_least=1)


@dataclass(frozen=True)
class LSTMInitialisation(Checked):
    """Initial values of the weights of an `LSTMBaseline`. These values affect no shape."""

    forget_bias: float = setting(
        0.0, "initial bias of the forget gates: with 1, a layer remembers from the start"
    )


@lru_cache(maxsize=256)
def describe(config: LSTMConfig) -> Description:
    """Return the description of an `LSTMBaseline`: it has no memory and no heads."""
    size, rows, seen = config.hidden_size, 4 * config.hidden_size, config.input_size + 1
    above = range(1, config.layers)
    return Description(
        sizes={"layer": config.layers, "unit": size},
        parameters=(
            Parameter("start_hidden", (config.layers, size)),
            Parameter("start_cell", (config.layers, size)),
            Parameter("layers.0.weight_ih_l0", (rows, seen)),
            Parameter("layers.0.weight_hh_l0", (rows, size)),
            Parameter("layers.{layer}.weight_ih_l0", (rows, seen + size), above),
            Parameter("layers.{layer}.weight_hh_l0", (rows, size), above),
            Parameter("output.weight", (config.output_size, config.layers * size)),
            Parameter("output.bias", (config.output_size,)),
        ),
        state=(StatePart("hidden", ("layer", "unit")), StatePart("cell", ("layer", "unit"))),
    )


class _Parts(NamedTuple):
    hidden: Tensor  # (batch, layers, hidden_size)
    cell: Tensor  # (batch, layers, hidden_size)


class LSTMState(BatchState, _Parts):
    """State that one time step passes to the next. The first axis of every tensor is the batch."""

    __slots__ = ()


states.make_storable(LSTMState)


class LSTMBaseline(SequenceNetwork):
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

    config: LSTMConfig
    initialisation: LSTMInitialisation
    _state = LSTMState

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

    @torch.no_grad()
    def reset_parameters(self) -> None:
        """Draw the layers' weights like torch.nn.LSTM, and the output layer's Glorot-uniform.

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
        """Return the learned state without a check of the size, open in exported programs."""
        start = (self.start_hidden, self.start_cell)
        return LSTMState(*(tensor.expand(batch_size, -1, -1) for tensor in start))

    @overload
    def forward(
        self,
        x: Tensor,
        state: LSTMState | None = None,
        lengths: Lengths = None,
        *,
        resets: Tensor | None = None,
    ) -> tuple[Tensor, LSTMState]: ...

    @overload
    def forward(
        self, x: PackedSequence, state: LSTMState | None = None
    ) -> tuple[PackedSequence, LSTMState]: ...

    @forms.in_own_precision
    def forward(
        self,
        x: Sequences,
        state: LSTMState | None = None,
        lengths: Lengths = None,
        *,
        resets: Tensor | None = None,
    ) -> tuple[Sequences, LSTMState]:
        """Run the sequences of a batch; arguments and results as in `NTM.forward`."""
        seen, start, lengths = self._prepared(x, state, lengths, self.start_cell)
        if resets is None or 0 in seen.shape[:2]:
            logits, final = self._run_all(seen, start, lengths)
        else:
            parts = episodes_of(x, resets, lengths, seen, self.batch_first)
            given = parts.start(start, self.initial_state)
            logits, final = self._run_all(parts.apart(seen), given, parts.lengths)
            logits, final = parts.together(logits), parts.final(final)
        return forms.as_given(x, logits, final, self.batch_first)

    def _run_all(
        self, x: Tensor, state: LSTMState | None, lengths: Tensor | None
    ) -> tuple[Tensor, LSTMState]:
        """Run sequences (time, batch, channels); a state of None is the learned start."""
        start = self._start(x.shape[1]) if state is None else state
        if lengths is None or bool((lengths == x.shape[0]).all()):
            return self._run(x, start)
        return self._run_mixed(x, start, lengths)

    def extra_repr(self) -> str:
        """Return the sizes, for `print(net)`."""
        c = self.config
        sizes = f"{c.input_size} in, {c.output_size} out, {c.layers} layers of {c.hidden_size}"
        return f"{sizes}, {self._counted()}"

    def _described(self) -> Description:
        return describe(self.config)

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

"""The LSTM that the paper compares with, behind the same call as the NTM.

The widths of the paper's table of sizes fit exactly one wiring: the input goes into every layer,
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

from ntm import checks, forms, rebuilding, states
from ntm.common.fields import Checked, setting
from ntm.engine import EngineName, checked_name
from ntm.forms import Lengths, Sequences
from ntm.states import Chosen, Flags


@dataclass(frozen=True)
class LSTMConfig(Checked):
    """The sizes of an `LSTMBaseline`. Equal configs have interchangeable `state_dict`s."""

    input_size: int = setting(help="channels of the input at every step", at_least=1)
    output_size: int = setting(help="channels of the output (logits) at every step", at_least=1)
    hidden_size: int = setting(256, "hidden units of each layer", at_least=1)
    layers: int = setting(3, "stacked layers", at_least=1)


@dataclass(frozen=True)
class LSTMInitialisation(Checked):
    """How the weights of an `LSTMBaseline` begin. It changes no shape."""

    forget_bias: float = setting(
        0.0, "initial bias of the forget gates: with 1, a layer begins by remembering"
    )


class LSTMState(NamedTuple):
    """All that one step hands to the next. Every tensor's first axis is the batch."""

    hidden: Tensor  # (batch, layers, hidden_size)
    cell: Tensor  # (batch, layers, hidden_size)

    @overload  # type: ignore[override]  # a slice chooses sequences, not parts
    def __getitem__(self, index: int) -> Tensor: ...
    @overload
    def __getitem__(self, index: Chosen) -> Self: ...
    def __getitem__(self, index: int | Chosen) -> "Tensor | LSTMState":
        """Choose sequences of the batch: `state[3:5]`, `state[mask]`, `state[[4, 0]]`.

        An integer is the number of a part, as in every named tuple: `state[0]` is `state.hidden`.
        """
        return states.item(self, index)  # type: ignore[no-any-return]

    @staticmethod
    def where(done: Flags, fresh: "LSTMState", state: "LSTMState") -> "LSTMState":
        """Take the sequences that are done from `fresh`, and all others from `state`.

        done: (batch,) bool, a tensor or a list. Gradients flow into the parts that are taken.
        """
        return states.where(done, fresh, state, LSTMState)

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


states.make_storable(LSTMState)


class LSTMBaseline(nn.Module):
    """A stack of LSTM layers wired like the paper's baseline.

        net = LSTMBaseline(input_size=9, output_size=8, hidden_size=256)
        logits, state = net(x)                    # x: (time, batch, input_size)
        logits, state = net(x, state)             # continues where it stopped
        logits, state = net(x, lengths=lengths)   # mixed lengths, (batch,) integers

    The outputs are logits: train with `binary_cross_entropy_with_logits`. `engine` says what `ntm
    train` computes its gradients with: "native", "reference" (torch), or "auto", the fastest.
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
        # A constant 1 joins the input; its weights are the biases. nn.LSTM would keep two per gate.
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
        """The network that a config describes, freshly initialised; see `NTM.from_config`."""
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
        """The network that `save_pretrained` wrote; the arguments are those of the NTM's."""
        from ntm import pretrained, saving

        if str(folder) in pretrained.names() and not Path(folder).exists():
            raise ValueError(f"{folder} is an NTM; load it with NTM.from_pretrained.")
        chosen: dict[str, Any] = {"engine": engine, "device": device, "dtype": dtype}
        return saving.load(cls, folder, batch_first=batch_first, **chosen)

    def save_pretrained(self, folder: str | Path, *, task: Any = None) -> None:
        """Write the weights (safetensors), the config and `batch_first` (JSON); see the NTM's.

        task: an `ntm.tasks.Task`, recorded for the commands; without it they take --task.
        """
        from ntm import saving

        saving.save(self, folder, task)

    @property
    def engine(self) -> EngineName:
        """What computes the gradients of `ntm train`, as it was asked for."""
        return self._engine

    @engine.setter
    def engine(self, name: EngineName) -> None:
        self._engine = checked_name(name)

    @torch.no_grad()
    def reset_parameters(self) -> None:
        """The weights of torch.nn.LSTM and Glorot-uniform outputs.

        Start state and biases are zero, except the forget gates', which `initialisation` sets.
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
        """The learned state before the first step, for `batch_size` sequences.

        It is a copy: writing to it changes neither the weights nor another sequence.
        """
        checks.require_positive("batch_size", batch_size)
        return self._start(batch_size).clone()

    def _start(self, batch_size: int) -> LSTMState:
        """Unchecked: in an exported program the size is a symbol."""
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
        """Run the sequences of a batch; arguments and results are those of `NTM.forward`."""
        seen, start, lengths = self._prepared(x, state, lengths)
        if lengths is None or bool((lengths == seen.shape[0]).all()):
            logits, final = self._run(seen, start)
        else:
            logits, final = self._run_mixed(seen, start, lengths)
        return forms.as_given(x, logits, final, self.batch_first)

    def extra_repr(self) -> str:
        """The sizes, for `print(net)`."""
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
        """All layers; `arranged` gives each layer's input the form that nn.LSTM is to see."""
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
        """Sequences of different lengths, packed so that no padding is ever computed."""
        # Packing refuses empty sequences: they run one step on zeros, and the result is dropped.
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
        """Arguments checked, as a padded batch, time first, the state filled in."""
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

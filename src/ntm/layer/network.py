"""The Neural Turing Machine as a layer: a drop-in `torch.nn.Module`."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Literal, Self, overload

import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence

from ntm import engine
from ntm.cell import Cell, State, Weightings
from ntm.config import ControllerKind, Initialisation, NTMConfig, ShiftMode, StartMemory
from ntm.description import Description, describe
from ntm.engine import EngineName, recognition
from ntm.engine.base import Answer
from ntm.layer import checks, episodes, forms, rebuilding, switches
from ntm.layer.base import SequenceNetwork
from ntm.layer.episodes import episodes_of
from ntm.layer.forms import Lengths, Sequences
from ntm.layer.switches import Part
from ntm.start import StartState
from ntm.trace import Trace


class NTM(SequenceNetwork):
    """A Neural Turing Machine (Graves, Wayne and Danihelka, 2014) over whole sequences.

        net = NTM(input_size=9, output_size=8)
        logits, state = net(x)                    # x: (time, batch, input_size)
        logits, state = net(x, state)             # continues from this state
        logits, state = net(x, lengths=lengths)   # mixed lengths, (batch,) integers
        logits, state, weightings = net(x, return_weightings=True)  # where the heads looked

    The outputs are logits: train with `binary_cross_entropy_with_logits`.

    heads: number of read heads and of write heads (1).
    read_heads, write_heads: number of heads of each kind, if they differ (heads).
    batch_first: whether x is (batch, time, input_size) (False).
    engine: "native" (fast, CPU), "reference" (plain PyTorch) or "auto", the fastest that can run
        ("auto").
    backward_clip: bound on the gradients that flow back through the linear maps of the controller
        and the heads at every step, element by element (None: no bound). This keeps exploding
        gradients from dominating the sum over time; clipping the sum cannot do this.

    The other arguments are the fields of `NTMConfig` and `Initialisation`.
    """

    config: NTMConfig
    initialisation: Initialisation
    _state = State

    def __init__(
        self,
        input_size: int,
        output_size: int,
        *,
        controller: ControllerKind = "feedforward",
        controller_size: int = 100,
        controller_layers: int = 1,
        memory_locations: int = 128,
        memory_width: int = 20,
        heads: int = 1,
        read_heads: int | None = None,
        write_heads: int | None = None,
        shifts: Sequence[int] = (-1, 0, 1),
        shift_mode: ShiftMode = "softmax",
        start_memory: StartMemory = "constant",
        start_spread: float = 1.0,
        start_together: bool = False,
        head_gain: float = 1.0,
        gate_bias: float = 0.0,
        batch_first: bool = False,
        engine: EngineName = "auto",
        backward_clip: float | None = None,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        checks.require_positive("heads", heads)
        readers, writers = (heads if n is None else n for n in (read_heads, write_heads))
        self.config = NTMConfig(
            *(input_size, output_size, controller, controller_size, controller_layers),
            *(memory_locations, memory_width, readers, writers),
            *(shifts, shift_mode),  # type: ignore[arg-type]  # the config makes shifts a tuple
        )
        starts = (start_memory, start_spread, start_together)
        self.initialisation = Initialisation(*starts, head_gain, gate_bias)
        self.batch_first, self.engine, self.backward_clip = batch_first, engine, backward_clip
        self.cell, self.start = Cell(self.config), StartState(self.config, self.initialisation)
        self.reset_parameters()
        self.to(device=device, dtype=dtype)

    @property
    def backward_clip(self) -> float | None:
        """Bound on the gradients of the controller's and heads' linear maps; None is no bound."""
        return self._backward_clip

    @backward_clip.setter
    def backward_clip(self, limit: float | None) -> None:
        self._backward_clip = checks.checked_limit("backward_clip", limit)

    def reset_parameters(self) -> None:
        """Initialise the weights Glorot-uniform, the biases to zero, and the learned start.

        `head_gain` scales the weights of the heads, and `gate_bias` is the bias of their gates. For
        an LSTM controller, see also `LSTMController.start_feedforward`.
        """
        for module in self.cell.modules():
            if isinstance(module, nn.Linear):
                gain = self.initialisation.head_gain if module is self.cell.heads.linear else 1
                nn.init.xavier_uniform_(module.weight, gain)
                nn.init.zeros_(module.bias)
        self.cell.heads.bias_gates(self.initialisation.gate_bias)
        self.cell.controller.start_feedforward()
        self.start.reset_parameters()

    def initial_state(self, batch_size: int) -> State:
        """Return the learned state before the first step, for `batch_size` sequences.

        The state is a copy: writing to it changes neither the weights nor another sequence.
        """
        checks.require_positive("batch_size", batch_size)
        start: State = self.start(batch_size)
        return start.clone()

    @overload
    def forward(
        self,
        x: Tensor,
        state: State | None = None,
        lengths: Lengths = None,
        *,
        resets: Tensor | None = None,
    ) -> tuple[Tensor, State]: ...

    @overload
    def forward(
        self, x: PackedSequence, state: State | None = None
    ) -> tuple[PackedSequence, State]: ...

    @overload
    def forward(
        self,
        x: Tensor,
        state: State | None = None,
        lengths: Lengths = None,
        *,
        return_weightings: Literal[True],
        resets: Tensor | None = None,
    ) -> tuple[Tensor, State, Weightings]: ...

    @overload
    def forward(
        self, x: PackedSequence, state: State | None = None, *, return_weightings: Literal[True]
    ) -> tuple[PackedSequence, State, Weightings]: ...

    @forms.in_own_precision
    def forward(
        self,
        x: Sequences,
        state: State | None = None,
        lengths: Lengths = None,
        return_weightings: bool = False,
        resets: Tensor | None = None,
    ) -> tuple[Sequences, State] | tuple[Sequences, State, Weightings]:
        """Run the sequences of a batch.

        x: (time, batch, input_size), or (batch, time, input_size) with `batch_first`. x may also
            be a PackedSequence, or one sequence, (time, input_size), whose state has no batch axis.
        state: state to continue from (None: the learned start).
        lengths: number of steps of each sequence (None: all steps). Steps beyond a length change
            no output, gradient or final state, and their outputs are zero.
        return_weightings: whether to return the weightings of all heads at every step, too
            (False). The weightings have gradients, so a loss may depend on them.
        resets: (time, batch), or (batch, time) with `batch_first`. Where `resets` is 1, the state
            of the sequence returns to the learned start before this step (None: no resets).

        Returns the logits, shaped like x with output_size channels, and the state after the last
        step of each sequence. Both have the parameters' dtype, under autocast too. With
        `return_weightings`, a third value follows: `Weightings(read, write)`, each (time, batch,
        heads, N), or (batch, time, heads, N) with `batch_first`, or (time, heads, N) for one
        sequence. For a PackedSequence, the weightings are padded, time first, in the order of the
        state.
        """
        seen, start, lengths = self._arguments(x, state, lengths)
        request = engine.Request(seen, start, lengths, weightings=return_weightings)
        logits, final, found = self._run(x, request, resets)
        given = forms.as_given(x, logits, State(*final), self.batch_first)
        if not return_weightings:
            return given
        ordered = (found["read_weightings"], found["write_weightings"])
        each = (forms.weightings_as_given(x, part, self.batch_first) for part in ordered)
        return *given, Weightings(*each)

    @torch.no_grad()
    @forms.in_own_precision
    def trace(
        self,
        x: Sequences,
        state: State | None = None,
        lengths: Lengths = None,
        *,
        memory: bool = False,
        without: Iterable[Part] = (),
        resets: Tensor | None = None,
    ) -> Trace:
        """Run like `forward`; return a recording of all heads at every step, time first.

        memory: whether to record the memory after every step, too, (time, batch, N, M) (False).
        without: parts of the machine to turn off; see `ntm.layer.switches.without` (none).
        resets: as in `forward`.
        """
        if without := tuple(without):
            changed = switches.without(self, without)
            return changed.trace(x, state, lengths, memory=memory, resets=resets)
        seen, start, lengths = self._arguments(x, state, lengths)
        request = engine.Request(seen, start, lengths, record=True, record_memory=memory)
        logits, _, record = self._run(x, request, resets)
        if lengths is None:
            lengths = torch.full((seen.shape[1],), seen.shape[0])
        named = {"lengths": lengths, "inputs": seen, "outputs": logits, **record}
        arrays: dict[str, Any] = {name: _as_array(tensor) for name, tensor in named.items()}
        return Trace(self.config.shifts, **arrays)

    @torch.no_grad()
    def resized(self, memory_locations: int) -> Self:
        """Return a copy with more memory locations; `StartState.resized` sets their start values.

        No other weight depends on the number of locations. A network that moves its heads by shifts
        (as for copy) still works with 1,000 locations; one that searches by content may fail. The
        copy keeps the class, the hooks, the additional parameters and the flags of this network.
        """
        checks.require_positive("memory_locations", memory_locations)
        if memory_locations < self.config.memory_locations:
            raise ValueError(
                f"memory_locations must be at least {self.config.memory_locations}, the number "
                f"that the network has; got {memory_locations}. A memory can grow, not shrink."
            )
        config = replace(self.config, memory_locations=memory_locations)
        own = ("cell.", "start.")
        rebuilding.require_independent(self, own, type(self).from_config, self.config, config)
        larger = rebuilding.copied(self)
        larger.start = self.start.resized(config)
        larger.config = config
        for module in larger.cell.modules():
            own_config = getattr(module, "config", None)
            if isinstance(own_config, NTMConfig):
                grown = replace(own_config, memory_locations=memory_locations)
                setattr(module, "config", grown)  # noqa: B010  # not a tensor, as mypy thinks
        return larger

    def extra_repr(self) -> str:
        """Return the sizes, for `print(net)`."""
        c = self.config
        layers = f"{c.controller_layers} x " if c.recurrent_layers else ""
        return (
            f"{c.input_size} in, {c.output_size} out, {c.controller} controller of "
            f"{layers}{c.controller_size}, memory {c.memory_locations} x {c.memory_width}, "
            f"{c.read_heads} read and {c.write_heads} write heads, shifts {c.shifts} "
            f"({c.shift_mode}), {self._counted()}"
        )

    def __prepare_scriptable__(self) -> None:
        """Raise RuntimeError: torch.jit.script, which calls this method first, cannot read NTM."""
        raise RuntimeError(
            "torch.jit.script cannot read this layer. Use torch.export.export(net, (x,))."
        )

    def _described(self) -> Description:
        return describe(self.config)

    def _arguments(
        self, x: Sequences, state: State | None, lengths: Lengths
    ) -> tuple[Tensor, State | None, Tensor | None]:
        """Return the checked arguments; the state is None if the engine computes the start."""
        like = self.start.memory
        checks.refuse_tracing()
        checks.require_range(like.dtype)
        seen, state, lengths = self._prepared(x, state, lengths, like)
        if state is None and not self._starts_as_built():
            state = self.initial_state(seen.shape[1])
        return seen, state, lengths

    def _run(self, x: Sequences, request: engine.Request, resets: Tensor | None) -> Answer:
        if resets is None or 0 in request.x.shape[:2]:
            return engine.run(self, request)
        parts = episodes_of(x, resets, request.lengths, request.x, self.batch_first)
        return episodes.run(self, request, parts)

    def _starts_as_built(self) -> bool:
        """Return whether `initial_state` is NTM's own, so that an engine may compute the start."""
        own = "initial_state" in self.__dict__
        return not own and type(self).initial_state is NTM.initial_state


def _as_array(tensor: Tensor) -> NDArray[Any]:
    # numpy has no bfloat16.
    return (tensor.float() if tensor.dtype == torch.bfloat16 else tensor).cpu().numpy()


recognition.know_network(NTM)

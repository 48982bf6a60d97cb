"""The Neural Turing Machine as a layer: a drop-in `torch.nn.Module`."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, Self, overload

import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence

from ntm import engine
from ntm.cell import Cell, State, Weightings
from ntm.config import ControllerKind, Initialisation, NTMConfig, ShiftMode, StartMemory
from ntm.controllers import LSTMController
from ntm.engine import EngineName, recognition
from ntm.layer import checks, forms, rebuilding
from ntm.layer.files import load_network, save_network
from ntm.layer.forms import Lengths, Sequences
from ntm.start import StartState
from ntm.trace import Trace


class NTM(nn.Module):
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

    @classmethod
    def from_config(
        cls,
        config: NTMConfig,
        initialisation: Initialisation = Initialisation(),
        *,
        batch_first: bool = False,
        engine: EngineName = "auto",
    ) -> Self:
        """Return a freshly initialised network with this config.

        A subclass is called with the same arguments by name. If its `__init__` takes other
        arguments, the subclass needs its own `from_config`.
        """
        others = {"batch_first": batch_first, "engine": engine}
        return rebuilding.build(cls, config, initialisation, **others)

    @classmethod
    def from_pretrained(
        cls,
        name: str | Path,
        *,
        batch_first: bool | None = None,
        engine: EngineName = "auto",
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> Self:
        """Load a trained network.

        name: a packaged network, such as "copy-ff", or a folder that `save_pretrained` wrote.
        batch_first: whether x is (batch, time, input_size) (as saved; False if packaged).
        device: device of the parameters (the CPU, whatever torch's default device is).
        dtype: dtype of the parameters (as in the file, whatever torch's default dtype is).

        `ntm.pretrained.names()` lists the packaged networks, and `ntm.pretrained.facts(name)` tells
        the task and the cost of one. A subclass loads its own networks and the networks of its base
        classes. The parameters require gradients as in a new network.
        """
        chosen: dict[str, Any] = {"engine": engine, "device": device, "dtype": dtype}
        net: Self = load_network(cls, name, batch_first=batch_first, **chosen)
        return net

    def save_pretrained(self, folder: str | Path, *, task: Any = None) -> None:
        """Write the weights (safetensors), the config, `batch_first` and `backward_clip` (JSON).

        A network is refused if a file cannot restore it: replaced modules, hooks, values that are
        not in the config.

        task: an `ntm.tasks.Task` to record for the commands (None: the commands need --task).
        """
        save_network(self, folder, task)

    @property
    def backward_clip(self) -> float | None:
        """Bound on the gradients of the controller's and heads' linear maps; None is no bound."""
        return self._backward_clip

    @backward_clip.setter
    def backward_clip(self, limit: float | None) -> None:
        self._backward_clip = checks.checked_limit("backward_clip", limit)

    @property
    def engine(self) -> EngineName:
        """Requested engine. `ntm.engine.choose` tells which engine runs, and why."""
        return self._engine

    @engine.setter
    def engine(self, name: EngineName) -> None:
        self._engine = engine.checked_name(name)

    def reset_parameters(self) -> None:
        """Initialise the weights Glorot-uniform, the biases to zero, and the learned start.

        `head_gain` scales the weights of the heads, and `gate_bias` is the bias of their gates. An
        LSTM controller starts like a feedforward one; see `LSTMController.start_feedforward`.
        """
        for module in self.cell.modules():
            if isinstance(module, nn.Linear):
                gain = self.initialisation.head_gain if module is self.cell.heads.linear else 1
                nn.init.xavier_uniform_(module.weight, gain)
                nn.init.zeros_(module.bias)
        self.cell.heads.bias_gates(self.initialisation.gate_bias)
        if isinstance(self.cell.controller, LSTMController):
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
        self, x: Tensor, state: State | None = None, lengths: Lengths = None
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
    ) -> tuple[Sequences, State] | tuple[Sequences, State, Weightings]:
        """Run the sequences of a batch.

        x: (time, batch, input_size), or (batch, time, input_size) with `batch_first`. x may also
            be a PackedSequence, or one sequence, (time, input_size), whose state has no batch axis.
        state: state to continue from (None: the learned start).
        lengths: number of steps of each sequence (None: all steps). Steps beyond a length change
            no output, gradient or final state, and their outputs are zero.
        return_weightings: whether to return the weightings of all heads at every step, too
            (False). The weightings have gradients, so a loss may depend on them.

        Returns the logits, shaped like x with output_size channels, and the state after the last
        step of each sequence. Both have the parameters' dtype, under autocast too. With
        `return_weightings`, a third value follows: `Weightings(read, write)`, each (time, batch,
        heads, N), or (batch, time, heads, N) with `batch_first`, or (time, heads, N) for one
        sequence. For a PackedSequence, the weightings are padded, time first, in the order of the
        state.
        """
        seen, start, lengths = self._prepared(x, state, lengths)
        request = engine.Request(seen, start, lengths, weightings=return_weightings)
        logits, final, found = engine.run(self, request)
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
    ) -> Trace:
        """Run like `forward` and return everything that happened, time first, as plain arrays.

        memory: whether to record the memory after every step, too, (time, batch, N, M) (False).
        """
        seen, start, lengths = self._prepared(x, state, lengths)
        request = engine.Request(seen, start, lengths, record=True, record_memory=memory)
        logits, _, record = engine.run(self, request)
        if lengths is None:
            lengths = torch.full((seen.shape[1],), seen.shape[0])
        named = {"lengths": lengths, "inputs": seen, "outputs": logits, **record}
        arrays: dict[str, Any] = {name: _as_array(tensor) for name, tensor in named.items()}
        return Trace(self.config.shifts, **arrays)

    @torch.no_grad()
    def resized(self, memory_locations: int) -> Self:
        """Return a copy with more memory locations; `StartState.extended` sets their start values.

        No other weight depends on the number of locations, so a machine that learned its task with
        128 locations performs it with a thousand. The copy keeps the class, the hooks, the
        additional parameters and the flags of this network.
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
        larger.start = self.start.extended(config)
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
        layers = f"{c.controller_layers} x " if c.controller == "lstm" else ""
        parameters = sum(parameter.numel() for parameter in self.parameters())
        return (
            f"{c.input_size} in, {c.output_size} out, {c.controller} controller of "
            f"{layers}{c.controller_size}, memory {c.memory_locations} x {c.memory_width}, "
            f"{c.read_heads} read and {c.write_heads} write heads, shifts {c.shifts} "
            f"({c.shift_mode}), {parameters:,} parameters, engine={self.engine!r}"
            f"{', batch_first=True' if self.batch_first else ''}"
        )

    def __prepare_scriptable__(self) -> None:
        """Refuse torch.jit.script, which calls this method of every module first."""
        raise RuntimeError(
            "torch.jit.script cannot read this layer. Use torch.export.export(net, (x,))."
        )

    def _prepared(
        self, x: Sequences, state: State | None, lengths: Lengths
    ) -> tuple[Tensor, State | None, Tensor | None]:
        """Return the checked arguments as a padded batch, time first.

        A state of None stays None if the engine may compute the learned start.
        """
        like = self.start.memory
        checks.refuse_tracing()
        checks.require_range(like.dtype)
        checks.require_input(x, self.config.input_size, self.batch_first, like)
        seen, lengths = forms.padded(x, lengths, self.batch_first)
        steps, batch_size = seen.shape[:2]
        lengths = checks.checked_lengths(lengths, batch_size, steps, seen.device)
        checks.require_finite(seen, lengths)
        if state is not None:
            batch = None if forms.is_unbatched(x) else batch_size
            checks.require_state(state, self.config, batch, like)
            state = forms.batched(x, state)
        elif not self._starts_as_built():
            state = self.initial_state(batch_size)
        return seen, state, lengths

    def _starts_as_built(self) -> bool:
        """Whether `initial_state` is NTM's own, so that an engine may compute the start."""
        own = "initial_state" in self.__dict__
        return not own and type(self).initial_state is NTM.initial_state


def _as_array(tensor: Tensor) -> NDArray[Any]:
    # numpy has no bfloat16.
    return (tensor.float() if tensor.dtype == torch.bfloat16 else tensor).cpu().numpy()


recognition.know_network(NTM)

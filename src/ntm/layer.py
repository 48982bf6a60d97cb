"""The Neural Turing Machine as a layer: a drop-in `torch.nn.Module`."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self

import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from ntm import checks, engine
from ntm.cell import Cell, State
from ntm.config import ControllerKind, NTMConfig, ShiftMode, StartMemory
from ntm.controllers import LSTMController
from ntm.start import StartState
from ntm.trace import Trace


class NTM(nn.Module):
    """A Neural Turing Machine (Graves, Wayne and Danihelka, 2014) over whole sequences.

        net = NTM(input_size=9, output_size=8)
        logits, state = net(x)                    # x: (time, batch, input_size)
        logits, state = net(x, state)             # goes on where it stopped
        logits, state = net(x, lengths=lengths)   # mixed lengths, (batch,) integers

    The outputs are logits: train with `binary_cross_entropy_with_logits`. `heads=k` means k read
    and k write heads; `read_heads` and `write_heads` set them apart. The other arguments are the
    fields of `NTMConfig`. `engine` is "auto", "native" (fast, CPU) or "reference" (plain PyTorch).
    `backward_clip` bounds what flows back through the controller and the heads at every step: the
    gradients of their linear maps' values are clipped to +- this. It is what keeps a gradient that
    explodes over time from drowning the rest, which clipping the sum over time cannot.
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
        batch_first: bool = False,
        engine: str = "auto",
        backward_clip: float = math.inf,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        checks.require_positive("heads", heads)
        self.config = NTMConfig(
            input_size=input_size,
            output_size=output_size,
            controller=controller,
            controller_size=controller_size,
            controller_layers=controller_layers,
            memory_locations=memory_locations,
            memory_width=memory_width,
            read_heads=heads if read_heads is None else read_heads,
            write_heads=heads if write_heads is None else write_heads,
            shifts=shifts,  # type: ignore[arg-type]  # the config checks it and makes it a tuple
            shift_mode=shift_mode,
            start_memory=start_memory,
            start_spread=start_spread,
            start_together=start_together,
            head_gain=head_gain,
        )
        self.batch_first = batch_first
        self.engine = engine
        self.backward_clip = backward_clip
        self.cell = Cell(self.config)
        self.start = StartState(self.config)
        self.reset_parameters()
        self.to(device=device, dtype=dtype)

    @classmethod
    def from_config(
        cls, config: NTMConfig, *, batch_first: bool = False, engine: str = "auto"
    ) -> Self:
        """The network that a config describes, freshly initialised."""
        return cls(**vars(config), batch_first=batch_first, engine=engine)

    @staticmethod
    def from_pretrained(name: str, *, batch_first: bool = False, engine: str = "auto") -> "NTM":
        """A trained network that comes with the package, such as "copy-ff".

        `ntm.pretrained.names()` lists them; `ntm.pretrained.facts(name)` has the task and the cost.
        """
        from ntm import pretrained

        return pretrained.load(name, batch_first=batch_first, engine=engine)

    @property
    def backward_clip(self) -> float:
        """The bound on the gradients of the controller's and heads' values, at every step."""
        return self._backward_clip

    @backward_clip.setter
    def backward_clip(self, limit: float) -> None:
        self._backward_clip = checks.checked_limit("backward_clip", limit)

    @property
    def engine(self) -> str:
        """Which engine was asked for; `ntm.engine.choose` tells which one runs, and why."""
        return self._engine

    @engine.setter
    def engine(self, name: str) -> None:
        self._engine = engine.checked_name(name)

    def reset_parameters(self) -> None:
        """Glorot-uniform weights, the heads' times `head_gain`, and zero biases.

        An LSTM starts feedforward; see also StartState.
        """
        for module in self.cell.modules():
            if isinstance(module, nn.Linear):
                gain = self.config.head_gain if module is self.cell.heads.linear else 1
                nn.init.xavier_uniform_(module.weight, gain)
                nn.init.zeros_(module.bias)
        if isinstance(self.cell.controller, LSTMController):
            self.cell.controller.start_feedforward()
        self.start.reset_parameters()

    def initial_state(self, batch_size: int) -> State:
        """The learned state before the first step, for `batch_size` sequences."""
        checks.require_positive("batch_size", batch_size)
        return self.start(batch_size)  # type: ignore[no-any-return]  # nn.Module.__call__ is untyped

    def forward(
        self, x: Tensor, state: State | None = None, lengths: Tensor | Sequence[int] | None = None
    ) -> tuple[Tensor, State]:
        """Run the sequences of a batch.

        x: (time, batch, input_size), or (batch, time, input_size) with `batch_first`.
        state: where to go on from; None starts afresh from the learned start.
        lengths: steps of each sequence. What lies beyond changes no output, gradient or final
            state; the outputs there are zero.

        Returns the logits, shaped like x with output_size channels, and the state after each
        sequence's last step.
        """
        x, state, lengths = self._prepared(x, state, lengths)
        logits, state, _ = engine.run(
            self.engine, self.cell, x, state, lengths, backward_clip=self.backward_clip
        )
        return (logits.transpose(0, 1) if self.batch_first else logits), state

    @torch.no_grad()
    def trace(
        self,
        x: Tensor,
        state: State | None = None,
        lengths: Tensor | Sequence[int] | None = None,
        *,
        memory: bool = False,
    ) -> Trace:
        """Run as `forward` does and return everything that happened, time first, as plain arrays.

        memory: also record the whole memory after every step, (time, batch, N, M).
        """
        x, state, lengths = self._prepared(x, state, lengths)
        logits, _, record = engine.run(
            self.engine, self.cell, x, state, lengths, record=True, record_memory=memory
        )
        if lengths is None:
            lengths = torch.full((x.shape[1],), x.shape[0])
        named = {"lengths": lengths, "inputs": x, "outputs": logits, **record}
        arrays: dict[str, Any] = {name: _as_array(tensor) for name, tensor in named.items()}
        return Trace(self.config.shifts, **arrays)

    @torch.no_grad()
    def resized(self, memory_locations: int) -> "NTM":
        """A copy of this network with more memory locations; `StartState.extended` has the rule.

        No other weight depends on the number of locations, so a machine that learned its task with
        128 locations performs it with a thousand.
        """
        checks.require_positive("memory_locations", memory_locations)
        if memory_locations < self.config.memory_locations:
            raise ValueError(
                f"memory_locations must be at least {self.config.memory_locations}, what the "
                f"network has; got {memory_locations}. A memory can grow, not shrink."
            )
        config = replace(self.config, memory_locations=memory_locations)
        with torch.random.fork_rng(devices=[]):  # the values drawn here are replaced at once
            larger = NTM.from_config(config, batch_first=self.batch_first, engine=self.engine)
            larger.backward_clip = self.backward_clip
            larger.start = self.start.extended(config)
        larger.to(self.start.memory).train(self.training)
        larger.cell.load_state_dict(self.cell.state_dict())
        for old, new in zip(self.parameters(), larger.parameters(), strict=True):
            new.requires_grad_(old.requires_grad)
        return larger

    def extra_repr(self) -> str:
        """The sizes, for `print(net)`."""
        c = self.config
        layers = f"{c.controller_layers} x " if c.controller == "lstm" else ""
        parameters = sum(parameter.numel() for parameter in self.parameters())
        return (
            f"{c.input_size} in, {c.output_size} out, {c.controller} controller of "
            f"{layers}{c.controller_size}, memory {c.memory_locations} x {c.memory_width}, "
            f"{c.read_heads} read and {c.write_heads} write heads, shifts {c.shifts} "
            f"({c.shift_mode}), {parameters:,} parameters, engine={self.engine!r}"
        )

    def _prepared(
        self, x: Tensor, state: State | None, lengths: Tensor | Sequence[int] | None
    ) -> tuple[Tensor, State, Tensor | None]:
        """Arguments checked, time first, the state filled in."""
        like = self.start.memory
        checks.require_range(like.dtype)
        checks.require_input(x, self.config.input_size, self.batch_first, like)
        if self.batch_first:
            x = x.transpose(0, 1)
        steps, batch_size = x.shape[:2]
        lengths = checks.checked_lengths(lengths, batch_size, steps, x.device)
        checks.require_finite(x, lengths)
        if state is None:
            return x, self.initial_state(batch_size), lengths
        checks.require_state(state, self.config, batch_size, like)
        return x, state, lengths


def _as_array(tensor: Tensor) -> NDArray[Any]:
    # numpy has no bfloat16.
    return (tensor.float() if tensor.dtype == torch.bfloat16 else tensor).cpu().numpy()

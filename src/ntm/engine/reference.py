"""The reference engine: section 3 of the paper, step by step in plain PyTorch, on any device.

The other engines must compute the same numbers as this engine.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from ntm import torch_names
from ntm.cell import Cell, State, StepRecord
from ntm.engine.base import WEIGHTINGS, Record, Request, register

if TYPE_CHECKING:
    from ntm.layer import NTM


def unroll(
    cell: Cell,
    x: Tensor,
    state: State,
    lengths: Tensor | None = None,
    on_step: Callable[[StepRecord, State, Tensor | None], None] | None = None,
) -> tuple[Tensor, State]:
    """Run the loop over time:

        for x_t in x:
            step, state = cell(x_t, state)
            outputs.append(step.output)

    A sequence that has ended keeps its state and outputs zeros. `on_step` gets every step, the
    state after it and the mask of active sequences, (batch, 1) bool, or None if all are active.
    """
    outputs = []
    for t, x_t in enumerate(x):
        active = None if lengths is None else (lengths > t).unsqueeze(1)
        step, state = _advance(cell, x_t, state, active)
        outputs.append(_where(active, step.output))
        if on_step is not None:
            on_step(step, state, active)
    return torch.stack(outputs), state


def _advance(
    cell: Cell, x: Tensor, state: State, active: Tensor | None
) -> tuple[StepRecord, State]:
    step, after = cell(_where(active, x), state)
    return step, State(*(_where(active, new, old) for new, old in zip(after, state, strict=True)))


def _scan(
    cell: Cell, x: Tensor, state: State, lengths: Tensor | None, weightings: bool
) -> tuple[Tensor, State, Record]:
    """Run `unroll` as one operator of a graph, for exported programs with any number of steps.

    The operator needs plain tuples of tensors with equal strides, and must not return its inputs.
    """

    def advance(
        state: tuple[Tensor, ...], now: tuple[Tensor, Tensor]
    ) -> tuple[tuple[Tensor, ...], list[Tensor]]:
        x_t, t = now
        active = None if lengths is None else (lengths > t).unsqueeze(1)
        step, after = _advance(cell, x_t, State(*state), active)
        found = [step.output, *(_weightings_of(step).values() if weightings else ())]
        return _copies(after), [_where(active, tensor) for tensor in found]

    times = torch.arange(x.shape[0], device=x.device)
    final, (logits, *found) = torch_names.scan(advance, _copies(state), (x, times))
    return logits, State(*final), dict(zip(WEIGHTINGS, found, strict=True)) if weightings else {}


def _copies(state: State) -> tuple[Tensor, ...]:
    return tuple(part.clone(memory_format=torch.contiguous_format) for part in state)


class Reference:
    """Engine in plain PyTorch, for every device, dtype, transform and module."""

    name = "reference"

    def obstacle(self, device: torch.device, dtype: torch.dtype) -> None:
        """Return None, no obstacle: this engine runs wherever torch runs."""

    def declines(self, net: "NTM") -> None:
        """Return None, no reason: this engine calls the modules, so it runs every network."""

    def gradients(self, net: "NTM") -> None:
        """Return None: autograd computes the gradients."""

    def run(self, net: "NTM", request: Request) -> tuple[Tensor, State, Record]:
        """Run whole sequences, as `ntm.engine.base.Engine` describes."""
        x, state, lengths, record, record_memory, weightings = request
        if state is None:
            state = net.start(x.shape[1])
        if not torch.is_grad_enabled():  # views of a leaf would still require gradients
            x, state = x.detach(), state.detach()
        if torch_names.is_exporting():
            _require_no_clip(net.backward_clip)
            how_many: Any = x.shape[0]
            if isinstance(how_many, torch.SymInt):
                return _scan(net.cell, x, state, lengths, weightings)
        steps = _Steps(record_memory, weightings_alone=weightings)
        on_step = steps.note if record or weightings else None
        with _clipped(net.cell, net.backward_clip):
            logits, state = unroll(net.cell, x, state, lengths, on_step)
        return logits, state, steps.stacked()


def _require_no_clip(limit: float | None) -> None:
    if limit is not None and torch.is_grad_enabled():
        raise RuntimeError(
            "A program exported from the reference engine would lose backward_clip. Export under "
            "torch.no_grad(), which needs no gradients; or set net.backward_clip = None; or "
            "give the network engine='native'."
        )


@contextmanager
def _clipped(cell: Cell, limit: float | None) -> Iterator[None]:
    """Clip the gradients of the controller's and heads' linear maps within this context."""
    if limit is None:
        yield
        return

    def clip(_module: nn.Module, _inputs: object, values: Tensor) -> Tensor:
        return ClippedGradient.apply(values, limit)  # type: ignore[no-any-return, no-untyped-call]

    handles = [
        linear.register_forward_hook(clip)
        for linear in (*cell.controller.layers, cell.heads.linear)
    ]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


class ClippedGradient(torch.autograd.Function):
    """Identity function whose gradient is clipped to +- limit, element by element."""

    generate_vmap_rule = True

    @staticmethod
    def forward(values: Tensor, limit: float) -> Tensor:  # noqa: ARG004
        """Return the values unchanged."""
        return values.view_as(values)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, float], output: Tensor) -> None:  # noqa: ARG004
        """Store the limit of the gradient for `backward`."""
        ctx.limit = inputs[1]

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        """Clip the gradient."""
        return gradient.clamp(-ctx.limit, ctx.limit), None

    @staticmethod
    def jvp(ctx: Any, *tangents: Tensor | None) -> Tensor:  # noqa: ARG004
        """Raise RuntimeError: in forward mode no gradient flows back that could be clipped."""
        raise RuntimeError(
            "backward_clip bounds gradients that flow back, and forward-mode differentiation has "
            "none. Set net.backward_clip = None."
        )


class _Steps:
    """Records of all steps so far."""

    def __init__(self, with_memory: bool, weightings_alone: bool) -> None:
        self._with_memory, self._weightings_alone = with_memory, weightings_alone
        self._records: list[Record] = []

    def note(self, step: StepRecord, after: State, active: Tensor | None) -> None:
        """Add a step and the state after it, with zeros for the sequences that have ended."""
        noted = _weightings_of(step) if self._weightings_alone else _record_of(step, after)
        if self._with_memory:
            noted["memory"] = after.memory
        self._records.append({name: _where(active, tensor) for name, tensor in noted.items()})

    def stacked(self) -> Record:
        """Return the steps as one record, time first; empty if there are no steps."""
        names = self._records[0] if self._records else {}
        return {name: torch.stack([step[name] for step in self._records]) for name in names}


def _weightings_of(step: StepRecord) -> Record:
    return dict(zip(WEIGHTINGS, (step.read.weighting, step.write.weighting), strict=True))


def _record_of(step: StepRecord, after: State) -> Record:
    heads = step.parameters
    record = {"hidden": step.hidden, "reads": after.reads, "erases": heads.erase, "adds": heads.add}
    kinds = (("read", heads.read, step.read), ("write", heads.write, step.write))
    for kind, focus, addressing in kinds:
        record |= {
            f"{kind}_keys": focus.key,
            f"{kind}_strengths": focus.strength,
            f"{kind}_gates": focus.gate,
            f"{kind}_shifts": focus.shift,
            f"{kind}_sharpness": focus.sharpness,
            f"{kind}_content": addressing.content,
            f"{kind}_gated": addressing.gated,
            f"{kind}_shifted": addressing.shifted,
            f"{kind}_weightings": addressing.weighting,
        }
    return record


def _where(active: Tensor | None, value: Tensor, otherwise: Tensor | None = None) -> Tensor:
    if active is None:
        return value
    mask = active.reshape(active.shape[:1] + (1,) * (value.dim() - 1))
    return torch.where(mask, value, torch.zeros_like(value) if otherwise is None else otherwise)


register(Reference())

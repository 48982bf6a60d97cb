"""The native engine as a single autograd function, which includes the learned start.

For one short sequence, an operator takes longer than the kernels: dispatch, a graph node for each
part of the start, several lists of tensors. So the autograd function runs the engine, except where
a compiler, transform or mode has to see an operator.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from ntm import torch_names
from ntm.config import NTMConfig
from ntm.engine import native, operators, recognition, transforms
from ntm.engine.base import WEIGHTINGS, Answer, Declined, Record, Request, register
from ntm.engine.fused import NTMGradients

if TYPE_CHECKING:
    from ntm.layer import NTM

Gradients = Sequence[Tensor | None]


class Native:
    """C++ engine for the CPU, float32 and float64: 5 to 400 times faster than the reference."""

    name = "native"

    def obstacle(self, device: torch.device, dtype: torch.dtype) -> str | None:
        """Return the reason why the engine cannot run on this device and dtype, or None."""
        return native.obstacle(device, dtype)

    def declines(self, net: "NTM") -> str | None:
        """Return the first thing in a network that the engine does not recognise, or None."""
        try:
            recognition.tensors_of(net, with_start=True)
        except recognition.Unrecognised as difference:
            return _not_as_built(difference)
        return None

    def gradients(self, net: "NTM") -> NTMGradients | None:
        """Return a callable for gradients without autograd, or None for an edited network."""
        return NTMGradients(net) if recognition.trains_as_built(net) else None

    def run(self, net: "NTM", request: Request) -> Answer:
        """Run whole sequences, as `ntm.engine.base.Engine` describes."""
        x, state, lengths, record, record_memory, weightings = request
        edited = None
        try:
            weights, start = recognition.tensors_of(net, with_start=state is None)
        except recognition.Unrecognised as difference:
            edited = _not_as_built(difference)
        if edited is not None:  # raised here, because not every torch compiles `from None`
            raise Declined(edited)
        start = start if state is None else list(state)
        tensors = (x, *weights, *start)
        unseen = transforms.none_active()
        if not unseen and (transform := transforms.active(tensors)):
            raise Declined(f"it does not compute under {transform}")
        keep = record or (torch.is_grad_enabled() and any(t.requires_grad for t in tensors))
        learned = state is None
        call = Call(net.config, net.backward_clip, lengths, len(weights), learned, keep, weightings)
        if not unseen or not _all_plain((x, *(state or ()))):
            return _through_operator(call, x, weights, call.state(start), record, record_memory)
        parts = start[: call.parts]
        if keep:
            native.release_with(net)
        if keep and not record:
            logits, *outputs = _apply(call, x, *weights, *parts)
            final, found = outputs[: call.parts], outputs[call.parts :]
            return logits, call.whole(final, start), _named(found)
        logits, final, found, tape = call.forward(x, weights, call.state(parts))
        recorded = call.record(x, tape, record_memory) if record else _named(found)
        return logits, call.whole(final, start), recorded


class Call:
    """Arguments of a kernel call, except its differentiable tensors."""

    __slots__ = (
        "backward_clip",
        "config",
        "keep",
        "learned",
        "lengths",
        "parts",
        "sizes",
        "weightings",
        "weights",
    )

    def __init__(
        self,
        config: NTMConfig,
        backward_clip: float | None,
        lengths: Tensor | None,
        weights: int,
        learned: bool,
        keep: bool,
        weightings: bool,
    ) -> None:
        """Store the arguments.

        weights: number of tensors that are weights; the remaining tensors are the start.
        learned: whether the start is learned: it has no batch axis, and weightings are logits.
        keep: whether `backward` or `record` needs the tape.
        weightings: whether the weightings of every step are outputs, too.
        """
        self.config, self.backward_clip, self.lengths = config, backward_clip, lengths
        self.weights, self.learned, self.keep = weights, learned, keep
        self.weightings = weightings
        # The extension's description of the network; a compiler does not need it.
        compiling = torch.compiler.is_compiling()
        self.sizes: Any = None if compiling else native.sizes_of(config, backward_clip)
        # Number of state parts with elements: only a recurrent controller has the last two.
        self.parts = 6 if config.recurrent_layers else 4

    def whole(self, final: list[Tensor], start: Sequence[Tensor]) -> list[Tensor]:
        """Return all six parts of a final state, including parts without elements."""
        if not self.learned:
            return [*final, *start[self.parts :]]
        shape = final[0].shape[0], 0, self.config.controller_size
        return [*final, *(final[0].new_empty(shape) for _ in range(6 - self.parts))]

    def state(self, start: Sequence[Tensor]) -> Sequence[Tensor]:
        """Return the start state, with the same numbers as `StartState.forward`.

        A learned start is one state for all sequences, without the batch axis.
        """
        if not self.learned:
            return start
        memory, read_logits, write_logits, *rest = start
        return (memory, read_logits.softmax(1), write_logits.softmax(1), *rest)

    def divided(self, gradients: Gradients) -> tuple[Tensor | None, Gradients, Gradients]:
        """Return the gradients of the logits, of the final state and of the weightings."""
        end = 1 + self.parts
        return gradients[0], gradients[1:end], gradients[end:]

    def forward(
        self, x: Tensor, weights: Sequence[Tensor], state: Sequence[Tensor]
    ) -> tuple[Tensor, list[Tensor], list[Tensor], Tensor]:
        """Return logits, final state, weightings if requested, and tape."""
        return native.forward(
            self.sizes, x, self.lengths, weights, state, self.keep, self.weightings
        )

    def record(self, x: Tensor, tape: Tensor, with_memory: bool) -> Record:
        """Return a recording of the heads from a tape that was kept."""
        return native.record(self.config, self.sizes, x, self.lengths, tape, with_memory)


class _Sequence(torch.autograd.Function):
    """Autograd function from x, the weights and the start to logits, state and weightings."""

    @staticmethod
    def forward(ctx: Any, call: Call, x: Tensor, *tensors: Tensor) -> tuple[Tensor, ...]:
        weights, state = tensors[: call.weights], call.state(tensors[call.weights :])
        logits, final, weightings, tape = call.forward(x, weights, state)
        ctx.save_for_backward(x, tape, *weights, *state)
        ctx.call = call
        ctx.set_materialize_grads(False)
        return logits, *final, *weightings

    @staticmethod
    def backward(ctx: Any, *outputs: Tensor | None) -> tuple[Tensor | None, ...]:
        call: Call = ctx.call
        x, tape, *tensors = ctx.saved_tensors
        weights, state = tensors[: call.weights], tensors[call.weights :]
        dx: Tensor | None
        if torch.is_grad_enabled() or transforms.watched() or not _all_plain(outputs):
            dx, dweights, dstate = _backward_by_operator(call, x, weights, state, tape, outputs)
        else:
            dlogits, dfinal, dweightings = call.divided(outputs)
            dx, dweights, dstate = native.backward(
                *(call.sizes, x, call.lengths, weights, tape, dlogits, dfinal, state, dweightings),
                with_dx=ctx.needs_input_grad[1],
            )
        dstart = _learned_gradients(dstate, state) if call.learned else dstate
        return None, dx, *dweights, *dstart


# Function.apply without its work for torch.func, whose calls never get here.
_apply: Any = super(torch.autograd.Function, _Sequence).apply


def _learned_gradients(dstate: Sequence[Tensor], state: Sequence[Tensor]) -> list[Tensor]:
    """Return the gradients of the learned start from the gradient of the start state."""
    memory, read, write, *rest = dstate
    logits = [
        torch_names.softmax_backward(gradient, values, 1, values.dtype)
        for gradient, values in zip((read, write), state[1:3], strict=True)
    ]
    return [memory, *logits, *rest]


def _through_operator(
    call: Call,
    x: Tensor,
    weights: Sequence[Tensor],
    state: Sequence[Tensor],
    record: bool,
    record_memory: bool,
) -> Answer:
    choices = operators.choices_of(call.config, call.backward_clip)
    forward = operators.forward_with_weightings if call.weightings else operators.forward
    missing = 6 - len(state)  # a feedforward controller's learned start has no hidden state
    nothing = state[0].new_empty(0, call.config.controller_size)
    state = [*state, *[nothing] * missing]
    logits, *rest, tape = forward(x, call.lengths, weights, state, *choices, call.keep)
    final, found = rest[: len(state)], rest[len(state) :]
    return logits, final, call.record(x, tape, record_memory) if record else _named(found)


def _backward_by_operator(
    call: Call,
    x: Tensor,
    weights: Sequence[Tensor],
    state: Sequence[Tensor],
    tape: Tensor,
    outputs: Sequence[Tensor | None],
) -> tuple[Tensor, list[Tensor], list[Tensor]]:
    """Compute the gradients with the operator.

    The operator takes any kind of tensor, and raises RuntimeError for second derivatives.
    """
    plain = [None if d is None else transforms.as_plain(d) for d in outputs]
    dlogits, dfinal, dweightings = call.divided(plain)
    if dlogits is None:
        dlogits = x.new_zeros(*x.shape[:2], call.config.output_size)
    choices = operators.choices_of(call.config, call.backward_clip)
    dx, *rest = operators.backward(
        *(x, call.lengths, weights, state, tape, dlogits, dfinal, *choices, *dweightings)
    )
    return dx, rest[: call.weights], rest[call.weights :]


def _named(weightings: Sequence[Tensor]) -> Record:
    return dict(zip(WEIGHTINGS, weightings, strict=True)) if weightings else {}


def _all_plain(tensors: Sequence[Tensor | None]) -> bool:
    for tensor in tensors:  # noqa: SIM110  # all() of a generator takes twice as long
        if tensor is not None and not transforms.is_plain(tensor):
            return False
    return True


def _not_as_built(difference: Exception) -> str:
    return f"it only runs networks as NTM builds them, and {difference}"


register(Native())

"""The native engine as operators of PyTorch, for compilers, exporters and modes.

`ntm::forward`, `ntm::forward_with_weightings` and `ntm::backward` are registered with autograd and
fake implementations. They read the sizes off the tensors, so that sizes may be symbolic. `start` is
a state of every sequence, or one state for all sequences, without the batch axis.
"""

import functools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from ntm import torch_names
from ntm.config import CONTROLLER_GATES, ControllerKind, NTMConfig
from ntm.engine import native, transforms

Choices = tuple[int, list[int], bool, float]
_KINDS = list(CONTROLLER_GATES)
_ADVICE = "Give the network engine='reference'."
_GROUP, _NEAR, _LEAST_INTERVAL = 4, 128 * 1024, 8  # of groups.h and tape.h
_torch: Any = torch
_smaller, _larger = _torch.sym_min, _torch.sym_max  # have no type annotations


def choices_of(config: NTMConfig, backward_clip: float | None) -> Choices:
    """Return the options that the operators cannot read off the tensors."""
    limit = math.inf if backward_clip is None else backward_clip
    kind, scalar = _KINDS.index(config.controller), config.shift_mode == "scalar"
    return kind, list(config.shifts), scalar, limit


# Defined by schema, because the first call of torch.library.custom_op imports the compiler, which
# takes two seconds.
_registry: Any = torch.library  # has no type annotations
# lstm: the number of the controller's kind. Saved programs have it under this name, as a bool.
_CHOICES = "int lstm, int[] shifts, bool scalar_shift, float backward_clip"
_library = _registry.Library("ntm", "DEF")
_OPERANDS = "Tensor x, Tensor? lengths, Tensor[] weights, Tensor[] start"
_RESULTS = "Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor"
# Two operators, because saved programs contain the first operator with its eight outputs.
_library.define(f"forward({_OPERANDS}, {_CHOICES}, bool keep) -> ({_RESULTS})")
_library.define(
    f"forward_with_weightings({_OPERANDS}, {_CHOICES}, bool keep) -> ({_RESULTS}, Tensor, Tensor)"
)
_library.define(
    f"backward({_OPERANDS}, Tensor tape, Tensor dlogits, Tensor?[] dfinal, {_CHOICES}, "
    f"Tensor? dread_weightings=None, Tensor? dwrite_weightings=None) -> Tensor[]"
)
forward, backward = torch.ops.ntm.forward.default, torch.ops.ntm.backward.default
forward_with_weightings = torch.ops.ntm.forward_with_weightings.default


def _forward(
    x: Tensor,
    lengths: Tensor | None,
    weights: Sequence[Tensor],
    start: Sequence[Tensor],
    *choices_and_keep: Any,
    with_weightings: bool = False,
) -> tuple[Tensor, ...]:
    """Return logits, the six parts of the final state, weightings if requested, and the tape."""
    *choices, keep = choices_and_keep
    sizes = _sizes(x, weights, start, choices)
    logits, final, weightings, tape = native.forward(
        sizes, x, lengths, weights, start, keep, with_weightings
    )
    return logits, *final, *weightings, tape


def _backward(
    x: Tensor,
    lengths: Tensor | None,
    weights: Sequence[Tensor],
    start: Sequence[Tensor],
    tape: Tensor,
    dlogits: Tensor,
    dfinal: Sequence[Tensor | None],
    *choices_and_dweightings: Any,
) -> list[Tensor | None]:
    """Return the gradients of x, the weights and the start, in this order.

    None in dfinal or among the gradients of the weightings means zero.
    """
    choices, given = choices_and_dweightings[:4], choices_and_dweightings[4:]
    dweightings = (*given, None, None)[:2]  # torch omits arguments that have their default
    sizes = _sizes(x, weights, start, choices)
    dx, dweights, dstart = native.backward(
        sizes, x, lengths, weights, tape, dlogits, dfinal, start, dweightings
    )
    return [dx, *dweights, *dstart]


def _sizes(
    x: Tensor, weights: Sequence[Tensor], start: Sequence[Tensor], choices: Sequence[Any]
) -> Any:
    """Return the extension's description of a network; `start` may be any state."""
    kind, shifts, scalar_shift, backward_clip = choices
    config = NTMConfig(
        x.shape[2],
        **sizes_of(weights, start)._asdict(),
        controller=_KINDS[kind],
        shifts=tuple(shifts),
        shift_mode="scalar" if scalar_shift else "softmax",
    )
    return native.sizes_of(config, backward_clip)


def _fake_forward(
    x: Tensor,
    lengths: Tensor | None,
    weights: Sequence[Tensor],
    start: Sequence[Tensor],
    *choices_and_keep: Any,
    with_weightings: bool = False,
) -> tuple[Tensor, ...]:
    if torch.onnx.is_in_onnx_export():  # torch.compile's own capture does not see this
        raise RuntimeError(f"The native engine cannot run here: {native.NO_ONNX}. {_ADVICE}")
    (kind, shifts, *_), keep = choices_and_keep[:-1], choices_and_keep[-1]
    steps, batch_size, inputs = x.shape
    kept = (sizes_of(weights, start), _KINDS[kind], inputs, len(shifts), steps, batch_size)
    size = tape_size(*kept) if keep else 0
    logits = x.new_empty(steps, batch_size, weights[-1].shape[0])
    final = [x.new_empty(batch_size, *part.shape[-2:]) for part in start]
    heads = [part.shape[-2:] for part in start[1:3]] if with_weightings else []
    weightings = [x.new_empty(steps, batch_size, *shape) for shape in heads]
    return logits, *final, *weightings, x.new_empty(size)


def _fake_backward(
    x: Tensor, lengths: Tensor | None, weights: Sequence[Tensor], start: Sequence[Tensor], *_: Any
) -> list[Tensor]:
    return native.empty_like([x, *weights, *start])


def _set_up_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[Any, ...]) -> None:
    x, lengths, weights, start, *ctx.choices, _keep = inputs
    ctx.save_for_backward(x, lengths, output[-1], *weights, *start)
    ctx.weights = len(weights)
    # Zeros as the gradient of the tape would take as long as the whole backward pass.
    ctx.set_materialize_grads(False)


def _differentiate(ctx: Any, dlogits: Tensor | None, *dothers: Tensor | None) -> tuple[Any, ...]:
    x, lengths, tape, *rest = ctx.saved_tensors
    weights, start = rest[: ctx.weights], rest[ctx.weights :]
    if dlogits is None:
        dlogits = x.new_zeros(*x.shape[:2], weights[-1].shape[0])
    dfinal, dweightings = list(dothers[: len(start)]), dothers[len(start) : -1]
    gradients = backward(
        x, lengths, weights, start, tape, dlogits, dfinal, *ctx.choices, *dweightings
    )
    dweights = gradients[1 : 1 + ctx.weights]
    nothing = [None] * (len(ctx.choices) + 1)
    return gradients[0], None, dweights, gradients[1 + ctx.weights :], *nothing


def _refuse(ctx: Any, *gradients: Tensor) -> None:
    raise RuntimeError(
        f"The native engine computes first derivatives only, not second ones. {_ADVICE}"
    )


def _refusing_tangents(run: Any) -> Any:
    """Return an autograd implementation that raises RuntimeError for forward-mode derivatives."""

    def checked(keyset: Any, *arguments: Any) -> Any:
        x, _, weights, start, *_ = arguments
        if transforms.has_tangent((x, *weights, *start)):
            raise RuntimeError(
                f"The native engine does not compute under forward-mode differentiation. {_ADVICE}"
            )
        return run(keyset, *arguments)

    return checked


def _register_forward(name: str, operator: Any, with_weightings: bool) -> None:
    run, fake = (
        functools.partial(function, with_weightings=with_weightings)
        for function in (_forward, _fake_forward)
    )
    _library.impl(name, run, "CPU")
    _registry.register_fake(f"ntm::{name}", fake)
    derived = torch_names.make_autograd(operator, _differentiate, _set_up_context)
    if derived is None:
        _registry.register_autograd(f"ntm::{name}", _differentiate, setup_context=_set_up_context)
    else:
        _library.impl(name, _refusing_tangents(derived), "Autograd", with_keyset=True)


_register_forward("forward", forward, with_weightings=False)
_register_forward("forward_with_weightings", forward_with_weightings, with_weightings=True)
_library.impl("backward", _backward, "CPU")
_registry.register_fake("ntm::backward", _fake_backward)
_registry.register_autograd("ntm::backward", _refuse)


class SizesOf(NamedTuple):
    """Sizes of a network, read off its tensors, by the names of `NTMConfig`."""

    output_size: int
    controller_size: int
    controller_layers: int
    memory_locations: int
    memory_width: int
    read_heads: int
    write_heads: int


def sizes_of(weights: Sequence[Tensor], start: Sequence[Tensor]) -> SizesOf:
    """Return the sizes of a network.

    weights: weight and bias of each controller layer, of the heads, of the output.
    start: any state.
    """
    (locations, width), (read_heads, _), (write_heads, _) = (part.shape[-2:] for part in start[:3])
    outputs, units, layers = weights[-2].shape[0], weights[-4].shape[1], len(weights) // 2 - 2
    return SizesOf(outputs, units, layers, locations, width, read_heads, write_heads)


def tape_size(
    sizes: SizesOf, kind: ControllerKind, inputs: int, shifts: int, steps: int, batch_size: int
) -> int:
    """Return the number of elements of a kept tape, like tape.h, but also for symbolic sizes."""
    _, units, layers, locations, width, read_heads, write_heads = sizes
    row, heads, reads = _padded(locations), read_heads + write_heads, read_heads * width
    memory, record = row * width, row * (1 + 4 * heads)
    group = _smaller(batch_size, _GROUP)
    interval = _larger(_NEAR // (group * memory), _LEAST_INTERVAL)
    between = _smaller(interval - 1, steps) * group * memory
    kept = (steps // interval + 1) * memory + (steps + 1) * record
    squashed = heads * (width + 6 + shifts) + 2 * write_heads * width
    own = 0 if kind == "feedforward" else units
    control = _padded(squashed) + _padded(units + reads) + _padded(inputs + reads + own)
    if own:
        per_layer = _padded(CONTROLLER_GATES[kind] * units) + 2 * _padded(units)
        control += (layers - 1) * _padded(2 * units) + layers * per_layer
    size: int = batch_size * (kept + (steps + 1) * control) + between + 16
    return size


def _padded(count: int) -> int:
    return (count + 15) // 16 * 16

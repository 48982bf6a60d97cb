"""The native engine: C++ kernels that run whole sequences in one call, as an operator of PyTorch.

`ntm::forward` and `ntm::backward` are registered operators with autograd and fake implementations,
so the layer works under `torch.compile` and in distributed training. The kernels know nothing of
PyTorch (csrc/contract.h is their contract); here tensors are checked and passed on as addresses.
"""

import importlib
import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor

from ntm.config import SHARPENING_EPSILON, SIMILARITY_EPSILON

if TYPE_CHECKING:
    from ntm.cell import Cell, State
    from ntm.config import NTMConfig

PRECISIONS = {torch.float32: "float", torch.float64: "double"}
_NO_ONNX = "ONNX has no operator for its kernels. Give the network engine='reference'."
_HEAD_ARRAYS = (
    *("keys", "strengths", "gates", "shifts", "sharpness"),
    *("content", "gated", "shifted", "weightings"),
)


class Loaded(NamedTuple):
    """What came of loading the extension."""

    module: Any
    target: str | None
    """The instruction set in use, or None where there is no extension."""
    reason: str
    """Why this one, or why none."""


def _load() -> Loaded:
    """Import the extension built for the best instruction set that this processor runs."""
    try:
        baseline = importlib.import_module("ntm.engine._native_baseline")
    except ImportError as error:
        return Loaded(None, None, _why_missing(error))
    supported = baseline.supported()
    asked = os.environ.get("NTM_INSTRUCTIONS")
    if asked is not None and asked not in supported:
        raise RuntimeError(
            f"NTM_INSTRUCTIONS must be one of {', '.join(supported)}, the instruction sets of this "
            f"processor; got {asked!r}."
        )
    target = asked or supported[0]
    reason = "NTM_INSTRUCTIONS asks for it" if asked else "the best that this processor runs"
    return Loaded(importlib.import_module(f"ntm.engine._native_{target}"), target, reason)


def build_summary() -> str:
    """What the installation noted about building the extension."""
    note = Path(__file__).with_name("_build.txt")
    return note.read_text().strip() if note.exists() else "the extension was never built"


def _why_missing(error: ImportError) -> str:
    return (
        f"{build_summary()} ({error}). Install a C++ compiler (GCC or Clang; on Debian: apt-get "
        f"install g++), then install the package again."
    )


_loaded = _load()


def loaded() -> Loaded:
    """The extension, its instruction set, and why."""
    return _loaded


def obstacle(device: torch.device, dtype: torch.dtype) -> str | None:
    """Why the native engine cannot run on tensors of this kind; None when it can."""
    if _loaded.module is None:
        return _loaded.reason
    if torch.onnx.is_in_onnx_export():
        return _NO_ONNX
    if device.type != "cpu":
        return f"it runs on the CPU, and the tensors are on {device}"
    if dtype not in PRECISIONS:
        return f"it computes in float32 and float64, and the tensors are {dtype}"
    return None


def function(name: str, dtype: torch.dtype) -> Any:
    """A function or class of the extension for a precision."""
    return getattr(_loaded.module, f"{name}_{PRECISIONS[dtype]}")


def run(
    cell: "Cell",
    x: Tensor,
    state: "State",
    lengths: Tensor | None,
    record: bool = False,
    record_memory: bool = False,
    backward_clip: float = math.inf,
) -> tuple[Tensor, "State", dict[str, Tensor]]:
    """What every engine does: logits (time, batch, outputs), final state, a record if asked."""
    weights, start = list(cell.parameters()), list(state)
    choices = choices_of(cell.config, backward_clip)
    wants_gradients = torch.is_grad_enabled() and any(
        tensor.requires_grad for tensor in (x, *weights, *start)
    )
    keep = record or wants_gradients
    logits, *final, tape = forward(x, lengths, weights, start, *choices, keep)
    recorded = {}
    if record:
        sizes = make_sizes(x.shape[2], weights, start, *choices)
        recorded = _record(sizes, x, lengths, start, tape, record_memory)
    return logits, type(state)(*final), recorded


def choices_of(config: "NTMConfig", backward_clip: float) -> tuple[bool, list[int], bool, float]:
    """What the operators must know besides the sizes, which they read off the tensors."""
    lstm, scalar = config.controller == "lstm", config.shift_mode == "scalar"
    return lstm, list(config.shifts), scalar, backward_clip


# Defined by schema and not by torch.library.custom_op, whose first call imports the compiler: that
# takes two seconds.
_registry: Any = torch.library  # has no type annotations
_CHOICES = "bool lstm, int[] shifts, bool scalar_shift, float backward_clip"
_library = _registry.Library("ntm", "DEF")
_library.define(
    f"forward(Tensor x, Tensor? lengths, Tensor[] weights, Tensor[] start, {_CHOICES}, bool keep) "
    f"-> (Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor)"
)
_library.define(
    f"backward(Tensor x, Tensor? lengths, Tensor[] weights, Tensor[] start, Tensor tape, "
    f"Tensor dlogits, Tensor?[] dfinal, {_CHOICES}) -> Tensor[]"
)
forward, backward = torch.ops.ntm.forward.default, torch.ops.ntm.backward.default


def _forward(
    x: Tensor,
    lengths: Tensor | None,
    weights: Sequence[Tensor],
    start: Sequence[Tensor],
    lstm: bool,
    shifts: Sequence[int],
    scalar_shift: bool,
    backward_clip: float,
    keep: bool,
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]:
    """Logits, the six parts of the final state, and the tape (for `backward`, if to be kept)."""
    steps, batch_size = x.shape[:2]
    weights, start = [w.contiguous() for w in weights], [s.contiguous() for s in start]
    x = x if x.stride(2) == 1 else x.contiguous()
    sizes = make_sizes(x.shape[2], weights, start, lstm, shifts, scalar_shift, backward_clip)
    logits = x.new_zeros(steps, batch_size, sizes_of(weights, start).outputs)
    final = [torch.empty_like(part) for part in start]
    tape = x.new_empty(_loaded.module.tape_size(sizes, steps, batch_size, keep))
    function("forward", x.dtype)(
        sizes,
        *(steps, batch_size, _address(lengths), torch.get_num_threads()),
        _addresses(weights),
        *(x.data_ptr(), x.stride(0), x.stride(1)),
        _addresses(start),
        *(keep, tape.data_ptr(), logits.data_ptr()),
        _addresses(final),
    )
    memory, read_weightings, write_weightings, reads, hidden, cell = final
    return logits, memory, read_weightings, write_weightings, reads, hidden, cell, tape


def _backward(
    x: Tensor,
    lengths: Tensor | None,
    weights: Sequence[Tensor],
    start: Sequence[Tensor],
    tape: Tensor,
    dlogits: Tensor,
    dfinal: Sequence[Tensor | None],
    lstm: bool,
    shifts: Sequence[int],
    scalar_shift: bool,
    backward_clip: float,
) -> list[Tensor]:
    """The gradients of x, the weights and the start, in this order; None in dfinal is zero."""
    steps, batch_size = x.shape[:2]
    weights, dlogits = [w.contiguous() for w in weights], dlogits.contiguous()
    dfinal = [None if d is None else d.contiguous() for d in dfinal]
    sizes = make_sizes(x.shape[2], weights, start, lstm, shifts, scalar_shift, backward_clip)
    if tape.numel() != _loaded.module.tape_size(sizes, steps, batch_size, True):
        raise ValueError("tape must come from a forward with keep=True, and this one does not.")
    dx = torch.zeros_like(x, memory_format=torch.contiguous_format)
    dweights, dstart = _empty_like(weights), _empty_like(start)
    function("backward", x.dtype)(
        sizes,
        *(steps, batch_size, _address(lengths), torch.get_num_threads()),
        _addresses(weights),
        *(tape.data_ptr(), dlogits.data_ptr(), _addresses(dfinal), dx.data_ptr()),
        *(_addresses(dweights), _addresses(dstart)),
    )
    return [dx, *dweights, *dstart]


def _fake_forward(
    x: Tensor,
    lengths: Tensor | None,
    weights: Sequence[Tensor],
    start: Sequence[Tensor],
    lstm: bool,
    shifts: Sequence[int],
    scalar_shift: bool,
    backward_clip: float,
    keep: bool,
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]:
    if torch.onnx.is_in_onnx_export():  # which torch.compile's own capture does not see
        raise RuntimeError(f"The native engine cannot run here: {_NO_ONNX}")
    steps, batch_size = x.shape[:2]
    size = tape_size(sizes_of(weights, start), lstm, len(shifts), steps, batch_size, keep)
    memory, read_weightings, write_weightings, reads, hidden, cell = _empty_like(start)
    return (
        x.new_empty(steps, batch_size, weights[-1].shape[0]),
        *(memory, read_weightings, write_weightings, reads, hidden, cell),
        x.new_empty(size),
    )


def _fake_backward(
    x: Tensor,
    lengths: Tensor | None,
    weights: Sequence[Tensor],
    start: Sequence[Tensor],
    tape: Tensor,
    dlogits: Tensor,
    dfinal: Sequence[Tensor | None],
    lstm: bool,
    shifts: Sequence[int],
    scalar_shift: bool,
    backward_clip: float,
) -> list[Tensor]:
    return _empty_like([x, *weights, *start])


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
    dfinal = list(dothers[:-1])
    gradients = backward(x, lengths, weights, start, tape, dlogits, dfinal, *ctx.choices)
    dweights = gradients[1 : 1 + ctx.weights]
    nothing = [None] * (len(ctx.choices) + 1)
    return gradients[0], None, dweights, gradients[1 + ctx.weights :], *nothing


def _refuse(ctx: Any, *gradients: Tensor) -> None:
    raise RuntimeError(
        "The native engine has first derivatives only, and a second one was asked for. Give the "
        "network engine='reference'."
    )


_library.impl("forward", _forward, "CPU")
_library.impl("backward", _backward, "CPU")
_registry.register_fake("ntm::forward", _fake_forward)
_registry.register_fake("ntm::backward", _fake_backward)
_registry.register_autograd("ntm::forward", _differentiate, setup_context=_set_up_context)
_registry.register_autograd("ntm::backward", _refuse)


class SizesOf(NamedTuple):
    """The sizes of a network, read off its tensors."""

    outputs: int
    units: int
    layers: int
    locations: int
    width: int
    read_heads: int
    write_heads: int
    features: int
    raw_heads: int
    controller_inputs: int


def sizes_of(weights: Sequence[Tensor], start: Sequence[Tensor]) -> SizesOf:
    """Sizes from weights (controller layers, heads, output; weight and bias each) and a state."""
    memory, read_weightings, write_weightings = start[:3]
    return SizesOf(
        outputs=weights[-2].shape[0],
        units=weights[-4].shape[1],
        layers=len(weights) // 2 - 2,
        locations=memory.shape[1],
        width=memory.shape[2],
        read_heads=read_weightings.shape[1],
        write_heads=write_weightings.shape[1],
        features=weights[-2].shape[1],
        raw_heads=weights[-4].shape[0],
        controller_inputs=weights[0].shape[1],
    )


def tape_size(
    sizes: SizesOf, lstm: bool, shifts: int, steps: int, batch_size: int, keep: bool
) -> int:
    """Elements of a tape; the same arithmetic as plan.h's, which symbolic sizes can go through."""
    row = _padded(sizes.locations)
    heads = sizes.read_heads + sizes.write_heads
    squashed = heads * (sizes.width + 6 + shifts) + 2 * sizes.write_heads * sizes.width
    per_step = row * (sizes.width + 1 + 4 * heads) + _padded(squashed) + _padded(sizes.features)
    if lstm:
        per_layer = _padded(4 * sizes.units) + 2 * _padded(sizes.units)
        above = (sizes.layers - 1) * _padded(2 * sizes.units)
        per_step += _padded(sizes.controller_inputs) + above + sizes.layers * per_layer
    else:
        per_step += _padded(sizes.controller_inputs)
    return batch_size * (steps + 1 if keep else 2) * per_step + 16


def _padded(count: int) -> int:
    return (count + 15) // 16 * 16


def make_sizes(
    inputs: int,
    weights: Sequence[Tensor],
    start: Sequence[Tensor],
    lstm: bool,
    shifts: Sequence[int],
    scalar_shift: bool,
    backward_clip: float,
) -> Any:
    """The extension's own description of a network; `start` may be any state of it."""
    sizes = sizes_of(weights, start)
    return _loaded.module.Sizes(
        lstm=lstm,
        inputs=inputs,
        outputs=sizes.outputs,
        units=sizes.units,
        layers=sizes.layers,
        locations=sizes.locations,
        width=sizes.width,
        read_heads=sizes.read_heads,
        write_heads=sizes.write_heads,
        shifts=list(shifts),
        scalar_shift=scalar_shift,
        similarity_epsilon=SIMILARITY_EPSILON,
        sharpening_epsilon=SHARPENING_EPSILON,
        backward_clip=backward_clip,
    )


def _record(
    sizes: Any,
    x: Tensor,
    lengths: Tensor | None,
    start: Sequence[Tensor],
    tape: Tensor,
    with_memory: bool,
) -> dict[str, Tensor]:
    """Everything the heads did, copied out of the tape; the names are the trace's."""
    steps, batch_size = x.shape[:2]
    memory, read_weightings, write_weightings = start[:3]
    locations, width = memory.shape[1:]

    def zeros(*shape: int) -> Tensor:
        return x.new_zeros(steps, batch_size, *shape)

    record = {"hidden": zeros(sizes.units)}
    record["reads"] = zeros(read_weightings.shape[1], width)
    record["erases"] = zeros(write_weightings.shape[1], width)
    record["adds"] = zeros(write_weightings.shape[1], width)
    if with_memory:
        record["memory"] = zeros(locations, width)
    addresses = [*_addresses(list(record.values())), *([] if with_memory else [0])]
    per_head = {"keys": (width,), "shifts": (len(sizes.shifts),)}
    per_head |= dict.fromkeys(("content", "gated", "shifted", "weightings"), (locations,))
    for kind, weightings in (("read", read_weightings), ("write", write_weightings)):
        arrays = {
            f"{kind}_{name}": zeros(weightings.shape[1], *per_head.get(name, ()))
            for name in _HEAD_ARRAYS
        }
        addresses += _addresses(list(arrays.values()))
        record |= arrays
    function("record", x.dtype)(
        sizes, steps, batch_size, _address(lengths), tape.data_ptr(), addresses
    )
    return record


def _address(tensor: Tensor | None) -> int:
    return 0 if tensor is None else tensor.data_ptr()


def _addresses(tensors: Sequence[Tensor | None]) -> list[int]:
    return [_address(tensor) for tensor in tensors]


def _empty_like(tensors: Sequence[Tensor]) -> list[Tensor]:
    return [torch.empty_like(t, memory_format=torch.contiguous_format) for t in tensors]

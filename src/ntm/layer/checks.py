"""Checks of the layer's arguments. Each error names the argument and the expected value."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence

from ntm.common.fields import as_python, check_value
from ntm.config import SHARPENING_EPSILON
from ntm.engine import native, transforms

_WIDE_ENOUGH = {
    dtype
    for dtype in (torch.bfloat16, torch.float16, torch.float32, torch.float64)
    if torch.finfo(dtype).tiny <= SHARPENING_EPSILON
}


def require_positive(name: str, value: object) -> None:
    """Require an integer of at least 1; numpy's integers count, too."""
    check_value(name, as_python(value), int, {"at_least": 1})


def checked_limit(name: str, value: object) -> float | None:
    """Return a number above zero as a float; None and infinity mean no limit and give None."""
    if value is None:
        return None
    value = as_python(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
        raise ValueError(f"{name} must be a number above 0, or None for no limit; got {value!r}.")
    return None if value == math.inf else float(value)


def refuse_tracing() -> None:
    """Raise RuntimeError under torch.jit.trace, which would store the sizes of x as constants."""
    if transforms.traced():
        raise RuntimeError(
            "torch.jit.trace would silently fix the number of steps and sequences. Use "
            "torch.export.export(net, (x,)), or torch.onnx.export(net, (x,), dynamo=True)."
        )


def require_range(dtype: torch.dtype) -> None:
    """Require a dtype that can hold the epsilons of equations 6 and 9; float16 rounds them to 0."""
    if dtype not in _WIDE_ENOUGH:
        _refuse_proxy(dtype)
        raise TypeError(
            f"The network's parameters must be float32, float64 or bfloat16, got {dtype}, whose "
            f"range is too small for the addressing. Convert it with net.to(dtype)."
        )


def require_input(x: object, input_size: int, batch_first: bool, like: Tensor) -> None:
    """Require a batch, one sequence or a PackedSequence, with the parameters' dtype and device."""
    if isinstance(x, PackedSequence):
        _require_packed(x, input_size)
        _require_same_kind("x", x.data, like)
        return
    axes = "batch, time" if batch_first else "time, batch"
    if not isinstance(x, Tensor):
        _refuse_proxy(x)
        raise TypeError(f"x must be a tensor ({axes}, {input_size}), got {type(x).__name__}.")
    shape, time = x.shape, 1 if batch_first and x.dim() == 3 else 0
    if len(shape) not in {2, 3} or shape[-1] != input_size or shape[time] == 0:
        raise ValueError(
            f"x must have the shape ({axes}, {input_size}), with at least one step; got "
            f"{tuple(shape)}. One sequence alone may be (time, {input_size})."
        )
    _require_same_kind("x", x, like)


def _refuse_proxy(value: object) -> None:
    """Raise TypeError for a proxy of torch.fx: tracing replaces x by such an object."""
    if type(value).__module__.startswith("torch.fx."):
        raise TypeError(
            "torch.fx.symbolic_trace cannot follow this layer, which looks at the shape of x. Use "
            "torch.export.export(net, (x,))."
        )


def _require_packed(x: PackedSequence, input_size: int) -> None:
    if x.data.dim() != 2 or x.data.shape[1] != input_size:
        raise ValueError(
            f"x must be packed from sequences of {input_size} channels; its data are "
            f"{tuple(x.data.shape)}."
        )


def require_finite(x: Tensor, lengths: Tensor | None) -> None:
    """Raise ValueError if a sequence contains NaN or infinity; ignore the padding."""
    if transforms.hides_values(x) or native.surely_finite(x):
        return
    finite = x.isfinite().all(2)
    if lengths is not None:
        finite = finite | (torch.arange(x.shape[0], device=x.device).unsqueeze(1) >= lengths)
    if not finite.all():
        step, sequence = (~finite).nonzero()[0].tolist()
        raise ValueError(
            f"x must be finite, but it holds NaN or infinity, first at step {step} of sequence "
            f"{sequence}. Clean the input before calling the network."
        )


def checked_lengths(
    lengths: Tensor | Sequence[int] | None, batch_size: int, steps: int, device: torch.device
) -> Tensor | None:
    """Return lengths as a (batch,) int64 tensor on x's device, each from 0 to `steps`."""
    if lengths is None:
        return None
    tensor = _as_tensor("lengths", lengths)
    if tensor.shape != (batch_size,):
        raise ValueError(
            f"lengths must have one entry per sequence, ({batch_size},), got {tuple(tensor.shape)}."
        )
    integers = not (tensor.is_floating_point() or tensor.is_complex() or tensor.dtype == torch.bool)
    if not integers and len(tensor):  # an empty list becomes a tensor of floats
        raise TypeError(f"lengths must be integers, got {tensor.dtype}.")
    # Contiguous, because an engine reads the lengths as one block of numbers.
    tensor = tensor.to(device=device, dtype=torch.int64).contiguous()
    if not transforms.hides_values(tensor):
        _require_within(tensor, steps)
    return tensor


def _require_within(lengths: Tensor, steps: int) -> None:
    low, high = (int(lengths.min()), int(lengths.max())) if len(lengths) else (0, 0)
    if low < 0 or high > steps:
        raise ValueError(
            f"lengths must lie between 0 and {steps}, the steps of x; got {low} to {high}."
        )


def require_parts(
    state: object,
    kind: type[NamedTuple],
    shapes: Sequence[tuple[int, ...]],
    batch_size: int | None,
    like: Tensor,
) -> None:
    """Require a state of this class.

    shapes: shapes of the state's tensors, without the batch axis.
    batch_size: number of sequences; None for one sequence without a batch axis.
    """
    if not isinstance(state, kind):
        raise TypeError(
            f"state must be the {kind.__name__} that a call or initial_state returned, got "
            f"{type(state).__name__}."
        )
    batch = () if batch_size is None else (batch_size,)
    dtype, device = like.dtype, like.device
    for name, tensor, shape in zip(kind._fields, state, shapes, strict=True):
        fits = isinstance(tensor, Tensor) and tensor.shape == (*batch, *shape)
        # Here and not in a function: a network that runs step by step checks a state at every step.
        if not (fits and tensor.dtype == dtype and tensor.device == device):
            _refuse_part(f"state.{name}", tensor, (*batch, *shape), batch_size, like)


def _refuse_part(
    name: str, tensor: object, expected: tuple[int, ...], batch_size: int | None, like: Tensor
) -> None:
    if not isinstance(tensor, Tensor):
        raise TypeError(f"{name} must be a tensor, got {type(tensor).__name__}.")
    if tensor.shape != expected:
        many = "one sequence" if batch_size is None else f"a batch of {batch_size}"
        raise ValueError(
            f"{name} must have the shape {expected} for {many}, got {tuple(tensor.shape)}."
        )
    _require_same_kind(name, tensor, like)


def _as_tensor(name: str, values: Tensor | Sequence[int]) -> Tensor:
    if isinstance(values, Tensor):
        return transforms.as_plain(values)
    try:
        return torch.tensor(values)
    except (TypeError, ValueError, RuntimeError) as error:
        raise TypeError(f"{name} must be integers, one per sequence, got {values!r}.") from error


def _require_same_kind(name: str, tensor: Tensor, like: Tensor) -> None:
    if tensor.dtype != like.dtype:
        raise TypeError(
            f"{name} must be {like.dtype} like the network's parameters, got {tensor.dtype}. "
            f"Convert it, or the network with net.to(dtype)."
        )
    if tensor.device != like.device:
        raise ValueError(
            f"{name} must be on {like.device} like the network's parameters, got {tensor.device}."
        )

"""The input forms that torch.nn.LSTM takes, and its behaviour under autocast.

A network computes on a padded batch, time first. `padded` converts the caller's input: a batch,
one sequence without a batch axis, or a PackedSequence. `as_given` converts the results back.
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

import torch
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence, pad_packed_sequence

from ntm.engine import transforms
from ntm.states import mapped
from ntm.torch_names import tree_map_only

Sequences = Tensor | PackedSequence
Lengths = Tensor | Sequence[int] | None
Method = TypeVar("Method", bound=Callable[..., Any])
States = TypeVar("States", bound=NamedTuple)


def is_unbatched(x: Sequences) -> bool:
    """Return whether x is one sequence, (time, channels), whose state has no batch axis either."""
    return isinstance(x, Tensor) and x.dim() == 2


def padded(x: Sequences, lengths: Lengths, batch_first: bool) -> tuple[Tensor, Lengths]:
    """Return the sequences as (time, batch, channels), and their lengths."""
    if isinstance(x, PackedSequence):
        _require_none(lengths, "a PackedSequence has its own")
        return pad_packed_sequence(x._replace(data=transforms.as_plain(x.data)))
    x = transforms.as_plain(x)
    if is_unbatched(x):
        _require_none(lengths, "one sequence is as long as x")
        return x.unsqueeze(1), None
    return (x.transpose(0, 1) if batch_first else x), lengths


def batched(x: Sequences, state: States) -> States:
    """Return a given state as plain tensors, with a batch axis even if x has none."""
    if is_unbatched(x):
        return mapped(lambda part: transforms.as_plain(part).unsqueeze(0), state)
    return state if {*map(type, state)} == {Tensor} else mapped(transforms.as_plain, state)


def as_given(x: Sequences, logits: Tensor, state: Any, batch_first: bool) -> tuple[Any, Any]:
    """Convert logits, (time, batch, channels), and a state to the form of x."""
    if isinstance(x, PackedSequence):
        return _packed_like(x, logits), state
    if is_unbatched(x):
        return logits.squeeze(1), type(state)(*(part.squeeze(0) for part in state))
    return (logits.transpose(0, 1) if batch_first else logits), state


def weightings_as_given(x: Sequences, weightings: Tensor, batch_first: bool) -> Tensor:
    """Convert weightings, (time, batch, heads, N), to the form of x; a packed x changes nothing."""
    if isinstance(x, PackedSequence):
        return weightings
    if is_unbatched(x):
        return weightings.squeeze(1)
    return weightings.transpose(0, 1) if batch_first else weightings


def _packed_like(x: PackedSequence, logits: Tensor) -> PackedSequence:
    ordered = logits if x.sorted_indices is None else logits[:, x.sorted_indices]
    active = torch.arange(ordered.shape[1]) < x.batch_sizes.unsqueeze(1)
    return x._replace(data=ordered[active.to(logits.device)])


def _require_none(lengths: Lengths, reason: str) -> None:
    if lengths is not None:
        raise ValueError(f"lengths are for a padded batch; {reason}. Leave lengths out.")


def in_own_precision(method: Method) -> Method:
    """Return a method that computes in the parameters' dtype, also under autocast.

    Under autocast, x may be bfloat16, and every linear map would compute in bfloat16. Addressing
    needs more than the three digits of bfloat16. So x and the state are cast to the parameters'
    dtype, and autocast is off inside the method. float64 is not cast, as everywhere in autocast.
    """

    @functools.wraps(method)
    def wrapped(net: torch.nn.Module, x: Any, state: Any = None, *rest: Any, **named: Any) -> Any:
        device = _autocast_device(x) if transforms.autocasts() else None
        if device is None:
            return method(net, x, state, *rest, **named)
        dtype = next(net.parameters()).dtype
        x, state = tree_map_only(Tensor, lambda tensor: _cast(tensor, dtype), (x, state))
        with torch.autocast(device, enabled=False):
            return method(net, x, state, *rest, **named)

    return wrapped  # type: ignore[return-value]


def _autocast_device(x: object) -> str | None:
    values = x.data if isinstance(x, PackedSequence) else x
    if not isinstance(values, Tensor) or values.is_meta:
        return None
    device = values.device.type
    return device if torch.is_autocast_enabled(device) else None


def _cast(tensor: Tensor, dtype: torch.dtype) -> Tensor:
    narrow = tensor.is_floating_point() and tensor.dtype != torch.float64
    return tensor.to(dtype) if narrow else tensor

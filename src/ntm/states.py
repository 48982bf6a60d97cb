"""Operations on a state: named tensors whose first axis is the batch."""

from collections.abc import Callable, Sequence
from typing import Any, Self, TypeVar, overload

import torch
from torch import Tensor
from torch.serialization import add_safe_globals

from ntm.torch_names import register_named_tuple

Named = TypeVar("Named", bound=tuple[Tensor, ...])
Chosen = slice | Tensor | Sequence[int] | Sequence[bool]
Flags = Tensor | Sequence[bool]


def mapped(change: Callable[[Tensor], Tensor], state: Named) -> Named:
    """Return a state of the same class with a function applied to every tensor."""
    return _made(type(state), [change(part) for part in state])


def _made(kind: type[Named], parts: Sequence[Tensor]) -> Named:
    """Return a state with these tensors. Some versions of torch cannot compile `_make`."""
    make: Any = kind
    state: Named = make(*parts)
    return state


class BatchState(tuple[Tensor, ...]):
    """Methods of a state, a named tuple of tensors whose first axis is the batch."""

    __slots__ = ()
    _fields: Any

    @overload  # type: ignore[override]  # a slice chooses sequences, not parts
    def __getitem__(self, index: int) -> Tensor: ...
    @overload
    def __getitem__(self, index: Chosen) -> Self: ...
    def __getitem__(self, index: int | Chosen) -> Tensor | Self:
        """Choose sequences of the batch: `state[3:5]`, `state[mask]`, `state[[4, 0]]`.

        An integer selects one tensor, as in every named tuple: `state[0]` is the first part.
        """
        if _is_integer(index):
            return tuple.__getitem__(self, index)  # type: ignore[index]
        return self.choose(index)  # type: ignore[arg-type]

    def choose(self, index: Chosen) -> Self:
        """Return the state of some sequences: a slice, a mask (batch,) or a list of numbers.

        `state[index]` gives the same result; `choose` also compiles with every supported torch.
        """
        first = next(iter(self))
        if first.dim() < 3:
            raise IndexError(
                "The state of one sequence has no batch axis to choose sequences from. Name a "
                f"part, such as state.{self._fields[0]}, or run a batch."
            )
        chosen = index if isinstance(index, slice) else _checked_index(index, len(first))
        return mapped(lambda part: part[chosen], self)

    @classmethod
    def where(cls, done: Flags, fresh: Self, state: Self) -> Self:
        """Return `fresh` for the sequences that are done, and `state` for all others.

        done: (batch,) bool, a tensor or a list.

        Gradients flow into `fresh` and `state`, each at the sequences that come from it.
        """
        for name, given in (("fresh", fresh), ("state", state)):
            if not isinstance(given, cls):
                raise TypeError(f"{name} must be a {cls.__name__}, got {type(given).__name__}.")
        for name, new, old in zip(cls._fields, fresh, state, strict=True):
            _require_alike(name, new, old)
        first = next(iter(state))
        flags = _checked_flags(done, len(first)).to(first.device).view(-1, 1, 1)
        parts = zip(fresh, state, strict=True)
        return _made(cls, [torch.where(flags, new, old) for new, old in parts])

    def detach(self) -> Self:
        """Return the state without autograd history, for truncated backpropagation through time.

        The result shares memory with this state, as with `Tensor.detach`.
        """
        return mapped(Tensor.detach, self)

    def clone(self) -> Self:
        """Return a copy that shares no memory with this state. Gradients flow through the copy."""
        return mapped(Tensor.clone, self)

    def cpu(self) -> Self:
        """Return the state on the CPU."""
        return mapped(Tensor.cpu, self)

    def to(self, *args: Any, **kwargs: Any) -> Self:
        """Return the state on another device or in another dtype; arguments as in `Tensor.to`."""
        return mapped(lambda part: part.to(*args, **kwargs), self)

    def __repr__(self) -> str:
        return described(self)


def described(values: Any) -> str:
    """Describe named tensors in one line, with shapes instead of values."""
    named = values._asdict()
    shapes = {n: tuple(v.shape) if isinstance(v, Tensor) else v for n, v in named.items()}
    kinds = {f"{v.dtype} on {v.device}" for v in values if isinstance(v, Tensor)}
    listed = [f"{name}={shape}" for name, shape in shapes.items()]
    return f"{type(values).__name__}({', '.join([*listed, *sorted(kinds)])})"


def make_storable(kind: type[tuple[Any, ...]]) -> None:
    """Register a class for exported programs and for `torch.load(weights_only=True)`."""
    register_named_tuple(kind, serialized_type_name=f"ntm.{kind.__name__}")
    add_safe_globals([kind])


def _is_integer(index: Any) -> bool:
    if isinstance(index, int | slice | list):
        return isinstance(index, int)
    return hasattr(index, "__index__") and getattr(index, "ndim", 0) == 0


def _checked_index(chosen: Any, batch_size: int) -> Tensor:
    """Return the index as a tensor: a mask, (batch,) bool, or numbers of sequences, (count,)."""
    index = _as_tensor(chosen)
    if index is None or index.dim() != 1 or not _may_index(index):
        raise IndexError(
            f"Choose sequences of a state by a slice, a mask (batch,) or their numbers, and one "
            f"part by an integer or its name; got {_told(chosen, index)}."
        )
    if index.dtype == torch.bool and len(index) != batch_size:
        raise IndexError(f"A mask of this state must be ({batch_size},), got ({len(index)},).")
    return index if index.dtype == torch.bool else index.long()


def _checked_flags(done: Any, batch_size: int) -> Tensor:
    flags = _as_tensor(done)
    if flags is None or flags.shape != (batch_size,) or flags.dtype != torch.bool:
        raise ValueError(
            f"done must be true or false for each sequence, ({batch_size},) bool; got "
            f"{_told(done, flags)}."
        )
    return flags


def _require_alike(name: str, new: Tensor, old: Tensor) -> None:
    if new.dim() != 3 or new.shape != old.shape:
        raise ValueError(
            f"fresh.{name} and state.{name} must have the same shape with the batch first, got "
            f"{tuple(new.shape)} and {tuple(old.shape)}."
        )
    if new.dtype != old.dtype or new.device != old.device:
        raise ValueError(
            f"fresh.{name} and state.{name} must have one dtype and device, got {new.dtype} on "
            f"{new.device} and {old.dtype} on {old.device}. Convert one with state.to(...)."
        )


def _as_tensor(values: Any) -> Tensor | None:
    """Return a list or an array as a tensor; None for anything else."""
    if isinstance(values, Tensor):
        return values
    if isinstance(values, list) and not values:
        return torch.empty(0, dtype=torch.int64)
    if not (isinstance(values, list | range) or hasattr(values, "__array__")):
        return None
    try:
        return torch.as_tensor(values)
    except (TypeError, ValueError, RuntimeError):
        return None


def _may_index(index: Tensor) -> bool:
    """Return whether a tensor can be an index: a mask or signed integers.

    The function returns False for uint8, because torch would treat uint8 as a mask.
    """
    return index.dtype == torch.bool or (
        not index.is_floating_point() and not index.is_complex() and index.dtype.is_signed
    )


def _told(given: object, tensor: Tensor | None) -> str:
    if tensor is None:
        return repr(given)
    return f"{tensor.dtype} of the shape {tuple(tensor.shape)}"

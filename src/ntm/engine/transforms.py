"""Which transform of torch a call runs under: no engine but the reference computes them all.

Most of what is asked here has no public name in torch. All of it is asked in this file.
"""

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd import forward_ad

_PLAIN = (Tensor, nn.Parameter)
_core: Any = torch._C
_functorch: Any = torch._C._functorch


def none_active() -> bool:
    """Whether nothing of torch has to see a call's tensors: a quick question before the others."""
    return not (
        torch.compiler.is_compiling()
        or _core._len_torch_dispatch_stack()
        or _core._len_torch_function_stack()
        or forward_ad._current_level >= 0
        or _functorch.peek_interpreter_stack() is not None
        or _core._get_tracing_state() is not None
    )


def active(tensors: Iterable[Tensor]) -> str | None:
    """The transform that a call with these tensors runs under; None where there is none.

    Compilation is not meant: to a compiler the native engine is an operator like any other.
    """
    if torch.compiler.is_compiling():
        return None
    level = _functorch.peek_interpreter_stack()
    if level is not None:
        return f"torch.func.{level.key().name.lower()}"
    if traced():
        return "torch.jit.trace"
    if forward_ad._current_level >= 0 and has_tangent(tensors):
        return "forward-mode differentiation"
    return None


def has_tangent(tensors: Iterable[Tensor]) -> bool:
    """Whether one of the tensors carries a derivative in forward mode."""
    unpack: Any = torch._VF._unpack_dual
    return any(unpack(tensor, level=0)[1] is not None for tensor in tensors)


def hides_values(tensor: Tensor) -> bool:
    """Whether no decision may depend on the tensor's values, because a transform hides them.

    torch.jit.trace does not count: the layer refuses it before.
    """
    return (
        torch.compiler.is_compiling()
        or tensor.is_meta
        or type(tensor) not in _PLAIN
        or _functorch.peek_interpreter_stack() is not None
    )


def traced() -> bool:
    """Whether torch.jit.trace records."""
    return not torch.compiler.is_compiling() and _core._get_tracing_state() is not None


def autocasts() -> bool:
    """Whether autocast may be on: a quick question before the exact one."""
    return torch.compiler.is_compiling() or bool(_core._is_any_autocast_enabled())


def watched() -> bool:
    """Whether a mode of torch watches every operator: it must see the native engine as one."""
    return bool(_core._len_torch_dispatch_stack() or _core._len_torch_function_stack())


def as_plain(tensor: Tensor) -> Tensor:
    """Return torch's own tensor in place of a subclass that has the same memory.

    A class that computes in its own way, such as DTensor, has a `__torch_dispatch__` and stays.
    """
    kind = type(tensor)
    if kind in _PLAIN or kind.__torch_dispatch__ is not Tensor.__torch_dispatch__:
        return tensor
    return tensor.as_subclass(Tensor)


def is_plain(tensor: Tensor) -> bool:
    """Whether it is torch's own dense tensor, whose memory holds its values."""
    return type(tensor) in _PLAIN and not tensor.is_neg() and not tensor._is_zerotensor()

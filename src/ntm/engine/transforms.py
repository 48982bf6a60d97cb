"""Detection of torch's transforms. Only the reference engine computes under all of them.

Most of these questions have no public function in torch: see `ntm.torch_names`.
"""

from collections.abc import Iterable

import torch
from torch import Tensor, nn

from ntm import torch_names

_PLAIN = (Tensor, nn.Parameter)


def none_active() -> bool:
    """Return whether no transform or mode has to see a call's tensors; the quickest check."""
    return not (
        torch.compiler.is_compiling()
        or torch_names.dispatch_modes()
        or torch_names.function_modes()
        or torch_names.in_forward_mode()
        or torch_names.transform_level() is not None
        or torch_names.tracing_state() is not None
    )


def active(tensors: Iterable[Tensor]) -> str | None:
    """Return the transform under which a call with these tensors runs, or None.

    Compilation does not count: to a compiler, the native engine is an ordinary operator.
    """
    if torch.compiler.is_compiling():
        return None
    level = torch_names.transform_level()
    if level is not None:
        return f"torch.func.{level.key().name.lower()}"
    if traced():
        return "torch.jit.trace"
    if torch_names.in_forward_mode() and has_tangent(tensors):
        return "forward-mode differentiation"
    return None


def has_tangent(tensors: Iterable[Tensor]) -> bool:
    """Return whether one of the tensors carries a derivative in forward mode."""
    unpack = torch_names.unpack_dual
    return any(unpack(tensor, level=0)[1] is not None for tensor in tensors)


def hides_values(tensor: Tensor) -> bool:
    """Return whether a transform hides the tensor's values, so that no decision may depend on them.

    torch.jit.trace does not count: the layer raises an error for it earlier.
    """
    return (
        torch.compiler.is_compiling()
        or tensor.is_meta
        or type(tensor) not in _PLAIN
        or torch_names.transform_level() is not None
    )


def traced() -> bool:
    """Return whether torch.jit.trace is recording."""
    return not torch.compiler.is_compiling() and torch_names.tracing_state() is not None


def autocasts() -> bool:
    """Return whether autocast may be on: a quick check before the exact one."""
    return torch.compiler.is_compiling() or bool(torch_names.any_autocast())


def watched() -> bool:
    """Return whether a mode of torch watches all operators, including the native engine's."""
    return bool(torch_names.dispatch_modes() or torch_names.function_modes())


def as_plain(tensor: Tensor) -> Tensor:
    """Return a tensor of a subclass as torch's own tensor with the same memory.

    A class that computes in its own way, such as DTensor, has a `__torch_dispatch__` and stays as
    it is.
    """
    kind = type(tensor)
    if kind in _PLAIN or kind.__torch_dispatch__ is not Tensor.__torch_dispatch__:
        return tensor
    return tensor.as_subclass(Tensor)


def is_plain(tensor: Tensor) -> bool:
    """Return whether a tensor is plain and dense: no subclass, no lazy negation or zeros."""
    own = type(tensor) in _PLAIN and not tensor.is_neg()
    return own and not torch_names.is_zero_tensor(tensor)

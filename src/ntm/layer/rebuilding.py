"""Networks rebuilt by their class: from a config, as a larger copy, or from a folder.

A network of a subclass of `NTM` or `LSTMBaseline` stays in this subclass and keeps its additional
parts; otherwise, an error says why this is impossible.
"""

import copy
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import MethodType
from typing import Any, TypeVar

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from ntm.common.text import first_line

Net = TypeVar("Net", bound=nn.Module)

_HOOKS = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")
_PLAIN = (bool, int, float, str, tuple, list, type(None))


def build(kind: type[Net], config: Any, initialisation: Any, **others: Any) -> Net:
    """Return a freshly initialised network of this class with this config."""
    chosen = {} if initialisation is None else vars(initialisation)
    arguments = {**vars(config), **chosen, **others}
    try:
        inspect.signature(kind).bind(**arguments)
    except TypeError as error:
        raise TypeError(
            f"{kind.__name__}.from_config calls {kind.__name__}({', '.join(arguments)}), each by "
            f"name, and the call fails: {error}. Let __init__ take these arguments and pass them "
            f"on, or give {kind.__name__} its own from_config."
        ) from error
    net = kind(**arguments)
    if _differences(net.config, config):  # a config of another class may have the same sizes
        raise ValueError(
            f"{kind.__name__}.from_config must return a network with the given config, but "
            f"__init__ changes {', '.join(_differences(net.config, config))}. Pass the sizes on "
            f"unchanged."
        )
    return net


def _differences(ours: Any, theirs: Any) -> list[str]:
    return [name for name, value in vars(theirs).items() if getattr(ours, name, None) != value]


class _Unfilled(TorchFunctionMode):
    """Mode that skips normal_, which imports torch's compiler on the meta device (seconds)."""

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        if func in (nn.init.normal_, Tensor.normal_):
            return args[0] if args else (kwargs or {})["tensor"]
        return func(*args, **(kwargs or {}))


def unfilled(make: Callable[[], Net]) -> Net:
    """Return the network that `make` builds, with shapes but without values (meta device)."""
    with torch.device("meta"), _Unfilled():
        return make()


@contextmanager
def plain_defaults() -> Iterator[None]:
    """Create tensors as float32 on the CPU in this context; then restore defaults and seeds."""
    dtype = torch.get_default_dtype()
    torch.set_default_dtype(torch.float32)
    try:
        with torch.device("cpu"), torch.random.fork_rng(devices=[]):
            yield
    finally:
        torch.set_default_dtype(dtype)


def copied(net: Net) -> Net:
    """Return a copy of a network with its class, hooks, additional tensors and flags."""
    for name, module in net.named_modules():
        for method in replaced_methods(module):
            if not _is_bound_to(module, vars(module)[method]):
                raise ValueError(
                    f"{_place(name)} has its own {method}, which belongs to this network alone: "
                    f"a copy would call the method of the original. Define it in a subclass."
                )
    try:
        twin = copy.deepcopy(net)
    except RuntimeError as error:  # some wrappers keep computed tensors, which cannot be copied
        raise ValueError(f"The network cannot be copied: {first_line(error)}.") from error
    twin.zero_grad()
    return twin


def replaced_methods(module: nn.Module) -> list[str]:
    """Return the attributes of one module that replace a method of its class."""
    kind = type(module)
    return [name for name in vars(module) if callable(getattr(kind, name, None))]


def _is_bound_to(module: nn.Module, method: object) -> bool:
    return isinstance(method, MethodType) and method.__self__ is module


def require_independent(net: nn.Module, own: tuple[str, ...], make: Any, *configs: Any) -> None:
    """Raise an error if a tensor outside the `own` modules has two shapes for two configs."""
    further = {name for name in net.state_dict() if not name.startswith(own)}
    if not further:
        return
    try:
        small, large = (unfilled(lambda c=c: make(c)).state_dict() for c in configs)  # type: ignore[misc]
    except (TypeError, ValueError, RuntimeError):
        return  # the class needs more than a config: it decides itself
    for name in sorted(further & small.keys() & large.keys()):
        if small[name].shape != large[name].shape:
            raise ValueError(
                f"{name} of {type(net).__name__} depends on memory_locations, and nothing says "
                f"how it grows: give {type(net).__name__} its own resized method."
            )


def difference(net: nn.Module, fresh: nn.Module) -> str | None:
    """Describe the first difference between a network and a fresh network with the same config.

    Return a clause such as "cell has hooks", or None if there is no difference. Values of
    parameters and buffers are not compared.
    """
    theirs = dict(fresh.named_modules())
    for name, module in net.named_modules():
        other: Any = theirs.get(name)
        if type(other) is not type(module):
            return f"{_place(name)} is a {type(module).__name__}, put there later"
        for found in (_own_method(module, other), _hooks(module, other), _values(module, other)):
            if found is not None:
                return f"{_place(name)} has {found}"
    return None


def _own_method(module: nn.Module, other: nn.Module) -> str | None:
    added = sorted({*replaced_methods(module)} - {*replaced_methods(other)})
    return f"its own {added[0]}" if added else None


def _hooks(module: nn.Module, other: nn.Module) -> str | None:
    more = any(len(getattr(module, kind)) > len(getattr(other, kind)) for kind in _HOOKS)
    return "hooks" if more else None


def _values(module: nn.Module, other: nn.Module) -> str | None:
    """Describe the first plain attribute that differs, such as an argument outside the config."""
    ours, theirs = vars(module), vars(other)
    for name in ours.keys() & theirs.keys() - {"training", "batch_first"}:
        value, fresh = ours[name], theirs[name]
        compared = not name.startswith("_") and isinstance(value, _PLAIN)
        if compared and type(value) is type(fresh) and value != fresh:
            return f"{name}={value!r}, where its config gives {fresh!r}"
    return None


def _place(name: str) -> str:
    return name or "The network"

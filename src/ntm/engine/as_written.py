"""Detection of replaced functions, so that a user's replacement always takes effect.

The native engine computes section 3 in C++. It runs only while the methods of the modules, and the
functions that these methods call, are the package's own.
"""

import sys
from types import FunctionType, ModuleType
from typing import Any

from torch import nn

from ntm import torch_names

Owner = ModuleType | type[nn.Module]
_HOMES = frozenset({"ntm", "torch"}) | sys.stdlib_module_names
_methods: dict[type[nn.Module], dict[str, Any]] = {}
# Owners, names and values that every call compares. Three lists are fastest.
_owners: list[Owner] = []
_names: list[str] = []
_values: list[Any] = []


def remember(kind: type[nn.Module]) -> None:
    """Store the present methods of a class as the package's own."""
    methods = {name: v for name, v in vars(kind).items() if isinstance(v, FunctionType)}
    _methods[kind] = {name: None if _is_foreign(v) else v for name, v in methods.items()}


def watch(kind: type[nn.Module]) -> None:
    """Let `is_intact` compare a class's `forward` and everything that it calls, recursively."""
    _watch(kind, "forward", kind)


def _watch(owner: Owner, name: str, kind: type[nn.Module]) -> None:
    value = vars(owner).get(name)
    known = (owner, name) in zip(_owners, _names, strict=True)
    if known or not isinstance(value, FunctionType | float):
        return
    _owners.append(owner)
    _names.append(name)
    _values.append(None if _is_foreign(value) else value)
    if isinstance(value, FunctionType) and not _is_foreign(value):
        for called in value.__code__.co_names:
            _watch(sys.modules[value.__module__], called, kind)
            _watch(kind, called, kind)


def _is_foreign(value: object) -> bool:
    """Return whether a user's function replaced the package's own before this import."""
    if not isinstance(value, FunctionType):
        return False
    return value.__globals__["__name__"].partition(".")[0] not in _HOMES


def is_intact() -> bool:
    """Return whether no watched function was replaced: a quick check for every call."""
    try:
        return [*map(getattr, _owners, _names)] == _values
    except AttributeError:
        return False


def replaced_function() -> str | None:
    """Return the first watched name that is no longer the package's own, or None."""
    for owner, name, value in zip(_owners, _names, _values, strict=True):
        if getattr(owner, name, None) is not value:
            return _full_name(owner, name)
    return None


def replaced_method(kind: type[nn.Module]) -> str | None:
    """Return the first method of a class that was replaced or hides an inherited method."""
    now = {name: value for name, value in vars(kind).items() if callable(value)}
    added = (name for name in now if name not in _methods[kind] and hasattr(nn.Module, name))
    gone = (name for name, value in _methods[kind].items() if now.get(name) is not value)
    name = next(gone, None) or next(added, None)
    return None if name is None else _full_name(kind, name)


def _full_name(owner: Owner, name: str) -> str:
    place = "" if isinstance(owner, ModuleType) else f"{owner.__module__}."
    return f"{place}{owner.__name__}.{name}"


# torch.compile calls these functions once instead of tracing them.
for _question in (replaced_method, replaced_function):
    setattr(_question, torch_names.CONSTANT_MARK, True)

"""Names that are imported on first use.

The command line imports the package before it reads its options, and `ntm --help` must not wait
seconds for torch to load.
"""

import importlib
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any


def lazily(
    package: str,
    names: Mapping[str, Sequence[str]],
    submodules: Callable[[], Sequence[str]] = tuple,
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return `__getattr__` and `__dir__` for a package that has an `__all__`.

    names: for each module, the names that the package imports from it on first use.
    submodules: function that lists the submodules to import on first access (none).
    """
    homes = {name: module for module, some in names.items() for name in some}

    def load(name: str) -> Any:
        if name in homes:
            return getattr(importlib.import_module(homes[name]), name)
        if name in submodules():
            return importlib.import_module(f"{package}.{name}")
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return load, lambda: [*sys.modules[package].__all__, *submodules()]


def later(path: str, **options: Any) -> Callable[..., Any]:
    """Return a function that imports and calls "package.module:name"."""
    return partial(_call, path, **options)


def _call(path: str, *arguments: Any, **options: Any) -> Any:
    module, _, name = path.partition(":")
    return getattr(importlib.import_module(module), name)(*arguments, **options)

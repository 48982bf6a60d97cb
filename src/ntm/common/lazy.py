"""Names of a package that are imported when they are asked for.

The command line reads a package before its options, and `ntm --help` needs neither torch nor the
seconds that torch takes to load.
"""

import importlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any


def lazily(
    package: str,
    names: Mapping[str, Sequence[str]],
    submodules: Callable[[], Sequence[str]] = tuple,
) -> Callable[[str], Any]:
    """The `__getattr__` of a package.

    names: those of every module that it has any of.
    submodules: the modules that may be reached as attributes, without an import of their own.
    """
    homes = {name: module for module, some in names.items() for name in some}

    def load(name: str) -> Any:
        if name in homes:
            return getattr(importlib.import_module(homes[name]), name)
        if name in submodules():
            return importlib.import_module(f"{package}.{name}")
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return load

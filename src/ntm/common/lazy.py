"""Names of a package that are imported when they are asked for.

The command line reads a package before its options, and `ntm --help` needs neither torch nor the
seconds that torch takes to load.
"""

import importlib
from collections.abc import Callable, Mapping, Sequence


def lazily(package: str, names: Mapping[str, Sequence[str]]) -> Callable[[str], object]:
    """The `__getattr__` of a package. names: those of every module that it has any of."""
    homes = {name: module for module, some in names.items() for name in some}

    def load(name: str) -> object:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(importlib.import_module(homes[name]), name)

    return load

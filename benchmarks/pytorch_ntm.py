"""Import of a checkout of loudinthecloud/pytorch-ntm, for rivals.py.

The checkout is not changed. Its package is called `ntm` like this one, and its tasks use an
argument of attrs that has since been renamed. The import works around both in memory.
"""

import functools
import importlib
import importlib.abc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any

import attr

_PACKAGES = ("ntm", "tasks", "train")


def their_train(checkout: Path) -> ModuleType:
    """Import their `train` module without disturbing this package."""
    if not (checkout / "train.py").exists() or not (checkout / "ntm" / "aio.py").exists():
        sys.exit(f"{checkout} is not a checkout of pytorch-ntm: it lacks train.py or ntm/aio.py.")
    sys.dont_write_bytecode = True
    with _hidden(_PACKAGES), _found_in(checkout), _accepting_convert():
        return importlib.import_module("train")


@contextmanager
def _hidden(packages: tuple[str, ...]) -> Iterator[None]:
    """Import modules of these names anew within this context, and restore ours afterwards."""

    def loaded() -> list[str]:
        return [name for name in sys.modules if name.partition(".")[0] in packages]

    ours = {name: sys.modules.pop(name) for name in loaded()}
    try:
        yield
    finally:
        for name in loaded():
            del sys.modules[name]
        sys.modules.update(ours)


@contextmanager
def _found_in(folder: Path) -> Iterator[None]:
    """Look for packages in this folder first, within this context.

    `sys.path` would not be enough: the finder of an editable install comes before it.
    """

    class Finder(importlib.abc.MetaPathFinder):
        def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
            return PathFinder.find_spec(name, path or [str(folder)], target)

    finder = Finder()
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


@contextmanager
def _accepting_convert() -> Iterator[None]:
    """Let attrs accept `convert`, the former name of `converter`, within this context."""
    attrib: Any = attr.attrib

    @functools.wraps(attrib)
    def renamed(*arguments: Any, convert: Any = None, **options: Any) -> Any:
        return attrib(*arguments, converter=convert, **options)

    attr.attrib = renamed
    try:
        yield
    finally:
        attr.attrib = attrib

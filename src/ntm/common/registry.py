"""Registries: the package's own entries and entries from other packages, by name.

Another package registers an entry with an entry point of the same name:

    [project.entry-points."ntm.tasks"]
    reverse = "my_package.reverse:Reverse"

A Python file registers its entries when it is loaded. Entry points and files are imported on first
use. For a broken entry point, one line goes to standard error, and `find` raises an error.
"""

import hashlib
import importlib
import importlib.util
import sys
from collections import UserDict
from collections.abc import Callable
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar, cast

from ntm.common.text import first_line, unknown

Entry = TypeVar("Entry")
_FROM_FILE = "ntm_file_"
_PROGRAM = "__main__"


class Registry(UserDict[str, Entry]):
    """Entries by name, including entries from entry points.

    what: word for an entry in error messages.
    group: group of entry points, such as "ntm.tasks".
    require: function that raises TypeError or ValueError for an invalid entry.
    """

    def __init__(self, what: str, group: str, require: Callable[[object], None]) -> None:
        self._what, self._group, self._require = what, group, require
        self._entries: dict[str, Entry] = {}
        self._unlisted: dict[str, Entry] = {}
        self._unusable: dict[str, str] = {}
        self._complete = False

    def add(self, name: str, entry: Entry, listed: bool = True) -> Entry:
        """Register an entry and return it; the same definition, run again, replaces the entry.

        listed: whether the registry lists the entry; otherwise only `find` returns it (True).
        """
        if not listed:
            self._unlisted[name] = entry
            return entry
        known = self._entries.get(name, entry)
        if _definition(known) != _definition(entry):
            raise ValueError(
                f"The name {name!r} belongs to {'.'.join(_definition(known))}; "
                f"give {_definition(entry)[1]} a name of its own."
            )
        self._entries[name] = entry
        return entry

    def find(self, name: str | None, source: str | None = None) -> Entry:
        """Return the entry with this name; an error suggests the closest names.

        name: registered name, or a Python file that registers one entry.
        source: result of `source_of`, to import if the name is unknown (None).
        """
        if name is not None and name.endswith(".py"):
            return self._only_one_of(load_file(name))
        if name in self._unlisted:
            return self._unlisted[name]
        self._load_entry_points(asked=name)
        if name in self._unusable and name not in self._entries:
            raise ValueError(self._unusable[name])
        if name not in self and source is not None:
            _import(source, f"{self._what} {name!r}")
        if name not in self:
            raise ValueError(unknown(self._what, str(name), self))
        return self[str(name)]

    def _only_one_of(self, module: ModuleType) -> Entry:
        found = [e for e in self.values() if _definition(e)[0] == module.__name__]
        if len(found) != 1:
            raise ValueError(
                f"{module.__file__} must register one {self._what}; it registers {len(found)}."
            )
        return found[0]

    @property
    def data(self) -> dict[str, Entry]:  # type: ignore[override]  # where UserDict looks
        """All entries; the first use imports the entry points."""
        self._load_entry_points()
        return self._entries

    def _load_entry_points(self, asked: str | None = None) -> None:
        """Import all entry points on the first call; print a line for each one that fails.

        asked: name of an entry point whose failure the caller reports itself.
        """
        if self._complete:
            return
        self._complete = True  # set before the imports, which may ask for entries
        for point in entry_points(group=self._group):
            try:
                self._entries.setdefault(point.name, self._loaded(point))
            except Exception as error:  # foreign code may raise anything
                self._unusable[point.name] = self._reason(point, error)
                if point.name != asked:
                    print(f"ntm: {self._unusable[point.name]}", file=sys.stderr)

    def _loaded(self, point: EntryPoint) -> Entry:
        entry: Any = point.load()
        self._require(entry)
        if entry.name != point.name and entry.name not in self._entries:
            raise ValueError(f"it is called {entry.name!r}, which must be the entry point's name")
        return cast(Entry, entry)

    def _reason(self, point: EntryPoint, error: Exception) -> str:
        package = f" of {point.dist.name}" if point.dist else ""
        return (
            f"The {self._what} {point.name!r} cannot be used: its entry point {point.value}"
            f"{package} failed ({type(error).__name__}: {first_line(error)}); fix or remove it."
        )


def load_file(path: str | Path) -> ModuleType:
    """Import a Python file and return the module; a second call does not import again."""
    path = Path(path).resolve()
    name = f"{_FROM_FILE}{hashlib.sha256(str(path).encode()).hexdigest()[:12]}"
    if name in sys.modules:
        return sys.modules[name]
    if not path.is_file():
        raise ValueError(f"There is no file {path}.")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:  # the file may raise anything
        del sys.modules[name]
        reason = f"{type(error).__name__}: {error}".rstrip(".")
        raise ValueError(f"{path} cannot be imported ({reason}); fix it first.") from error
    return module


def source_of(entry: Any) -> str | None:
    """Return the file or module of an entry; None for the package's own entries.

    A class of a script or a notebook cannot be imported; its source is `__main__:Class`.
    """
    module, name = _definition(entry)
    if module.startswith(_FROM_FILE):
        return str(sys.modules[module].__file__)
    if module in {_PROGRAM, "__mp_main__"}:  # __mp_main__: in a process of multiprocessing
        return f"{_PROGRAM}:{name}"
    return None if module.partition(".")[0] == "ntm" else module


def is_importable(source: str) -> bool:
    """Return whether another program can import a source that `source_of` returned."""
    return not source.startswith(f"{_PROGRAM}:")


def _import(source: str, what: str) -> None:
    if not is_importable(source):
        raise ValueError(
            f"The {what} is the class {source.partition(':')[2]} of a script or a notebook, which "
            f"cannot be imported here; put the class into a file or a module, and import it first "
            f'or name it in config.json ("from").'
        )
    try:
        load_file(source) if source.endswith(".py") else importlib.import_module(source)
    except (ImportError, ValueError) as error:
        raise ValueError(
            f"The {what} comes from {source}, which cannot be imported ({error}); put it back, or "
            f"install it."
        ) from error


def _definition(entry: Any) -> tuple[str, str]:
    kind = entry if isinstance(entry, type) else type(entry)
    return kind.__module__, kind.__qualname__

"""Folder of runs, as requests may read it: by names of runs, and never outside the folder."""

import json
import os
import re
import stat
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from itertools import islice
from pathlib import Path
from time import monotonic
from typing import Any, Generic, TypeVar

from ntm.common.registry import is_importable, source_of
from ntm.models import MODELS
from ntm.runs import Run, RunError
from ntm.runs.settings import SOURCE
from ntm.studio.errors import RefusedError
from ntm.tasks import TASKS

NAME_PATTERN = "^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$"
# Limits; of a larger folder only a part is shown.
MOST_RUNS = 2000
_MOST_ENTRIES = 20_000
# Seconds per call to read new configs.
_TIME_TO_READ = 0.7
_LARGEST_CONFIG = 20_000
_LARGEST_NUMBER = 20_000

Value = TypeVar("Value")


class RunsFolder:
    """Runs directly in a folder, which need not exist yet.

    A name in a request contains no slash and starts with no dot, so it cannot leave the folder.

    is_whole: whether the last call of `names` returned all runs.
    is_read: whether the last call of `runs` returned all of `names`.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.is_whole = self.is_read = True
        self._runs: Cache[Run | RunError] = Cache()

    def names(self) -> list[str]:
        """Return the names of the runs, usable or not."""
        names, self.is_whole = self._entries(_is_run)
        return names

    def files(self, suffix: str) -> tuple[list[str], bool]:
        """Return the names of plain files with a suffix, and whether these are all; no links."""
        return self._entries(
            lambda entry: entry.name.endswith(suffix) and entry.is_file(follow_symlinks=False)
        )

    def _entries(self, wanted: Callable[[os.DirEntry[str]], bool]) -> tuple[list[str], bool]:
        """Return the sorted names of the wanted entries, and whether these are all."""
        try:
            with os.scandir(self.path) as entries:
                named = (entry for entry in islice(entries, _MOST_ENTRIES) if is_name(entry.name))
                names = sorted(entry.name for entry in named if wanted(entry))
                return names[:MOST_RUNS], len(names) <= MOST_RUNS and not any(entries)
        except OSError:
            return [], True

    def has_run(self, name: str) -> bool:
        """Return whether there is a run with this name, listed or not."""
        return is_name(name) and _is_run(self.path / name)

    def has_file(self, name: str) -> bool:
        """Return whether a plain file has this name, listed or not; a link does not count."""
        try:
            return is_name(name) and stat.S_ISREG(os.lstat(self.path / name).st_mode)
        except OSError:
            return False

    def run(self, name: str) -> Run:
        """Return the run with this name; raise RefusedError if there is none."""
        if not self.has_run(name):
            raise RefusedError(404, "There is no run of that name in the folder.")
        run = self._opened(name)
        if isinstance(run, RunError):
            raise RefusedError(404, str(run))
        return run

    def runs(self) -> Iterator[tuple[str, Run | RunError]]:
        """Yield every run with its name, or the error that makes it unusable.

        New runs are read for a limited time; the next call reads the rest.
        """
        deadline, late = monotonic() + _TIME_TO_READ, 0
        for name in self.names():
            if monotonic() > deadline and not self._runs.knows(self._config_of(name)):
                late += 1
            else:
                yield name, self._opened(name)
        self.is_read = late == 0

    def file(self, name: str, file: str) -> Path | None:
        """Return a file of a run; None if it is unreadable, no plain file or outside the folder."""
        path = self.path / name / file
        if _is_plain(path):
            return path
        try:
            real = path.resolve(strict=True)
            inside = real.is_relative_to(self.path.resolve(strict=True))
            plain = stat.S_ISREG(real.stat().st_mode) and os.access(real, os.R_OK)
            return path if inside and plain else None
        except (OSError, RuntimeError):  # no such file, or links in a circle
            return None

    def is_link(self, name: str) -> bool:
        """Return whether a run is a link to another folder."""
        return (self.path / name).is_symlink()

    def is_taken(self, name: str) -> bool:
        """Return whether anything in the folder has this name."""
        return os.path.lexists(self.path / name)

    def _config_of(self, name: str) -> Path:
        return self.path / name / "config.json"

    def _opened(self, name: str) -> Run | RunError:
        """Return a run, or the error that makes it unusable."""
        try:
            if self.file(name, "config.json") is None:
                return RunError(f"The config.json of {name} is not a plain file in the folder.")
            config = self._config_of(name)
            return self._runs.get(config, lambda: _tried(config))
        except OSError as error:  # the file has disappeared in the meantime
            return RunError(f"The config.json of {name} cannot be used: {error}")


def _tried(config: Path) -> Run | RunError:
    """Return a run, or an error that was never raised and so keeps no frames alive."""
    name = config.parent.name
    try:
        if config.stat().st_size > _LARGEST_CONFIG:
            raise RunError(f"The config.json of {name} is too long for a config.")
        return _checked(config)
    except RunError as error:
        return RunError(str(error))
    except Exception as error:  # a broken foreign file must not hide the other runs
        return RunError(f"The config.json of {name} cannot be used: {error}")


def _checked(config: Path) -> Run:
    """Return the run of a config; refuse a config with unknown code or a task of absurd size.

    The size is checked before the run is opened: a million bits would make a million channels.
    """
    sections = json.loads(config.read_bytes())
    _require_known_code(sections, config.parent.name)
    for key, value in sections.get("task", {}).items():
        if isinstance(value, int) and value > _LARGEST_NUMBER:
            raise RunError(
                f"The config.json of {config.parent.name} has task.{key}={value}; the studio opens "
                f"tasks with numbers up to {_LARGEST_NUMBER:,}."
            )
    return Run(config.parent)


def _require_known_code(sections: dict[str, Any], run: str) -> None:
    """Refuse a config whose task or model would import code that the studio does not know."""
    for what, known in (("task", TASKS), ("model", MODELS)):
        section = sections.get(what, {})
        name, source = str(section.get("name")), section.get(SOURCE)
        own = source_of(known[name]) if name in known else None
        # A class of a script cannot be imported: only a class that is already known can be used.
        same = source == own or (own and isinstance(source, str) and not is_importable(source))
        if not same or name.endswith(".py"):
            raise RunError(
                f"The {what} of {run} comes from {source or name}, and the studio runs no code "
                f"that a folder names. If the code is yours, start the studio with --code FILE, or "
                f"install a package that contains it (entry points ntm.tasks, ntm.families)."
            )


def _is_plain(path: Path) -> bool:
    """Return whether a file of a folder can be read without following a link.

    This is a shortcut for most files: following links takes ten times as long, and there may be
    thousands of runs.
    """
    try:
        kinds = (os.lstat(path.parent).st_mode, os.lstat(path).st_mode)
        return stat.S_ISDIR(kinds[0]) and stat.S_ISREG(kinds[1]) and os.access(path, os.R_OK)
    except OSError:
        return False


def is_name(text: str) -> bool:
    """Return whether a run may have this name."""
    return re.fullmatch(NAME_PATTERN.strip("^$"), text) is not None


def _is_run(entry: os.DirEntry[str] | Path) -> bool:
    try:
        return entry.is_dir() and Path(entry, "config.json").exists()
    except OSError:  # links in a circle, or no permission
        return False


class Cache(Generic[Value]):
    """Values made from files; a value is replaced when its file changes.

    size: number of values to keep, the last used ones. It must exceed the length of the list of
    runs: in a smaller cache, every pass over the list would drop each value before its next use.
    """

    def __init__(self, size: int = 2 * MOST_RUNS) -> None:
        self._size = size
        self._kept: OrderedDict[Path, tuple[Hashable, Value]] = OrderedDict()
        self._lock = threading.Lock()

    def knows(self, file: Path) -> bool:
        """Return whether there is a value for a file, perhaps from an earlier state of the file."""
        return file in self._kept

    def get(self, file: Path, make: Callable[[], Value]) -> Value:
        """Return the value of `make`, which is called at most once per state of the file."""
        found = file.stat()
        identity = (found.st_dev, found.st_ino, found.st_mtime_ns, found.st_size)
        with self._lock:
            if file not in self._kept or self._kept[file][0] != identity:
                self._kept[file] = identity, make()
            self._kept.move_to_end(file)
            while len(self._kept) > self._size:
                self._kept.popitem(last=False)
            return self._kept[file][1]

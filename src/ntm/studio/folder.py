"""Folder of runs for requests: runs are found by name, and no file outside the folder is read."""

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

    The class accepts only names without a slash and without a dot at the start, so a request cannot
    reach files outside the folder.

    is_whole: whether the last call of `names` returned all runs.
    is_read: whether the last call of `runs` returned all of `names`.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.is_whole = self.is_read = True
        self._runs: Cache[Run | RunError] = Cache()

    def names(self) -> list[str]:
        """Return the names of the runs, including runs that cannot be opened."""
        names, self.is_whole = self._entries(_is_run)
        return names

    def files(self, suffix: str) -> tuple[list[str], bool]:
        """Return the names of files (no links) with a suffix, and whether the list is complete."""
        return self._entries(
            lambda entry: entry.name.endswith(suffix) and entry.is_file(follow_symlinks=False)
        )

    def _entries(self, wanted: Callable[[os.DirEntry[str]], bool]) -> tuple[list[str], bool]:
        """Return the sorted names of the wanted entries, and whether the list is complete."""
        try:
            with os.scandir(self.path) as entries:
                named = (entry for entry in islice(entries, _MOST_ENTRIES) if is_name(entry.name))
                names = sorted(entry.name for entry in named if wanted(entry))
                return names[:MOST_RUNS], len(names) <= MOST_RUNS and not any(entries)
        except OSError:
            return [], True

    def has_run(self, name: str) -> bool:
        """Return whether there is a run with this name, even if `names` leaves it out."""
        return is_name(name) and _is_run(self.path / name)

    def has_file(self, name: str) -> bool:
        """Return whether a file (no link) has this name, even if `files` leaves it out."""
        try:
            return is_name(name) and stat.S_ISREG(os.lstat(self.path / name).st_mode)
        except OSError:
            return False

    def run(self, name: str) -> Run:
        """Return the run with this name; raise RefusedError if there is none or it is unusable."""
        if not self.has_run(name):
            raise RefusedError(404, "There is no run of that name in the folder.")
        run = self._opened(name)
        if isinstance(run, RunError):
            raise RefusedError(404, str(run))
        return run

    def runs(self) -> Iterator[tuple[str, Run | RunError]]:
        """Yield the name of every run and the run, or the error that makes the run unusable.

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
        """Return a file of a run; None if it is missing, unreadable or outside the folder."""
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
        """Return a run, or the error that makes the run unusable."""
        try:
            if self.file(name, "config.json") is None:
                return RunError(f"The config.json of {name} is not a plain file in the folder.")
            config = self._config_of(name)
            return self._runs.get(config, lambda: _tried(config))
        except OSError as error:  # the file has disappeared in the meantime
            return RunError(f"The config.json of {name} cannot be used: {error}")


def _tried(config: Path) -> Run | RunError:
    """Return a run or a new RunError; an error that was raised would keep its frames in memory."""
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
    """Return the run of a config; raise RunError for unknown code or a task of absurd size.

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
    """Raise RunError if a task or model needs code that the studio has not loaded."""
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
    """Return whether a file is readable and neither the file nor its folder is a link.

    This quick check is enough for most files: to follow links takes ten times as long, and there
    may be thousands of runs.
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

    size: number of values to keep; values that were not used for longest are dropped. The size must
    exceed the number of runs: otherwise, a pass over all runs drops every value before it is used.
    """

    def __init__(self, size: int = 2 * MOST_RUNS) -> None:
        self._size = size
        self._kept: OrderedDict[Path, tuple[Hashable, Value]] = OrderedDict()
        self._lock = threading.Lock()

    def knows(self, file: Path) -> bool:
        """Return whether there is a value for a file, even if the file has changed since then."""
        return file in self._kept

    def get(self, file: Path, make: Callable[[], Value]) -> Value:
        """Return the value for a file; call `make` if there is none or the file has changed."""
        found = file.stat()
        identity = (found.st_dev, found.st_ino, found.st_mtime_ns, found.st_size)
        with self._lock:
            if file not in self._kept or self._kept[file][0] != identity:
                self._kept[file] = identity, make()
            self._kept.move_to_end(file)
            while len(self._kept) > self._size:
                self._kept.popitem(last=False)
            return self._kept[file][1]

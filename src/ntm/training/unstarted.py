"""The folder of a run that never started, which is left as it was found."""

import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType

from ntm.runs import Run


class Place:
    """A folder for a run, as it is before anything is written there; it need not exist.

    As a context: an error before the run has started removes all that is new. A folder that held a
    run already stays as it is.
    """

    def __init__(self, path: str | Path) -> None:
        self._path, self._has_run = Path(path), Run.exists(path)
        self._missing = [p for p in (self._path, *self._path.parents) if not p.exists()]
        self._known = set(self._path.iterdir()) if self._path.is_dir() else set()
        self.has_started: Callable[[], bool] = lambda: False

    def __enter__(self) -> "Place":
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        if isinstance(error, Exception) and not (self._has_run or self.has_started()):
            with suppress(OSError):  # the error that ended the run is the one to report
                self._restore()

    def _restore(self) -> None:
        for entry in self._path.iterdir():
            if entry not in self._known:
                shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
        for folder in self._missing:
            folder.rmdir()

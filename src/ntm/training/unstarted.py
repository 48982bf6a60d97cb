"""The folder of a run that never started, which is left as it was found."""

import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType

from ntm.runs import Run
from ntm.runs.folder import FILES


class Place:
    """A folder for a run, as it is before anything is written there; it need not exist.

    As a context: an error before the run has started removes the files of the run that are new. A
    folder that held a run already stays as it is, and so does every other file.
    """

    def __init__(self, path: str | Path) -> None:
        self._path, self._has_run = Path(path), Run.exists(path)
        self._missing = [p for p in (self._path, *self._path.parents) if not p.exists()]
        self._own = [p for p in (self._path / name for name in FILES) if not p.exists()]
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
        for entry in self._own:
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink(missing_ok=True)
        for folder in self._missing:
            folder.rmdir()

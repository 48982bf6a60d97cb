"""Clean-up of the folder of a run that never started."""

import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType

from ntm.runs import Run
from ntm.runs.folder import FILES


class Place:
    """Folder for a run, before the run writes to it; the folder need not exist.

    Use it as a context manager: if an error occurs before the run has started, the new files of the
    run are removed. All other files stay, and so does a folder that already held a run.
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
            with suppress(OSError):  # report the error that ended the run instead
                self._restore()

    def _restore(self) -> None:
        for entry in self._own:
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink(missing_ok=True)
        for folder in self._missing:
            folder.rmdir()

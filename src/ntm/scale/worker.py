"""A process that trains one job after another, started as `python -m ntm.scale.worker`.

Jobs arrive as lines of JSON on standard input; statuses and outcomes are written as lines of JSON
to standard output. When the input ends, a run in progress writes a checkpoint and the process
exits: workers do not outlive a killed sweep.
"""

import json
import os
import queue
import signal
import sys
import threading
import time
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

import torch

from ntm.common.text import first_line
from ntm.runs import Run, RunError, Settings
from ntm.scale.jobs import RESULTS, Job, JobEnd, failure
from ntm.scale.processes import allow_requests_to_stop, tell
from ntm.training import Progress
from ntm.training.begin import train
from ntm.training.display import Status

_PATIENCE = 20.0  # seconds for a stopped process to release its folder


def request_for(job: Job) -> dict[str, Any]:
    """Return a job as plain data, for a worker on any machine."""
    return {"settings": job.settings.to_json(), "folder": str(job.folder.resolve())}


def train_request(request: Mapping[str, Any], progress: Progress) -> JobEnd:
    """Start or resume a run with `training.threads` threads (0: one thread); return its end.

    An error is not raised: it becomes the reason of a failed outcome.
    """
    folder = Path(request["folder"])
    try:
        settings = Settings.from_json(request["settings"])
        torch.set_num_threads(settings.training.threads or 1)
        _await_release(folder)
        result = train(settings, folder, resume=True, progress=progress, raises=False)
    except (RunError, ValueError, OSError) as error:
        return failure(str(error))
    except Exception as error:
        return failure(_where(error))
    finished = result.ending in {"finished", "solved"}
    reason = None if finished else f"{result.ending.capitalize()}."
    facts = {name: getattr(result, name) for name in RESULTS}
    return {"state": "finished" if finished else "interrupted", "reason": reason, **facts}


def _await_release(folder: Path) -> None:
    """Wait until the worker of a killed sweep has saved and released the folder."""
    deadline = time.monotonic() + _PATIENCE
    while Run.exists(folder):
        try:
            with Run(folder).locked():
                return
        except RunError:
            if time.monotonic() >= deadline:
                raise
            time.sleep(0.1)


def _where(error: Exception) -> str:
    """Return an unexpected error as one line, with file and line number."""
    *_, last = traceback.extract_tb(error.__traceback__)
    said = first_line(error)
    return f"{type(error).__name__}: {said} ({Path(last.filename).name}, line {last.lineno})"


class _Telling(Progress):
    """Progress as lines of JSON."""

    interval = 1.0

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream

    def update(self, status: Status) -> None:
        """Write the progress of the run."""
        tell(self._stream, {"status": status._asdict()})


def main() -> None:
    """Train the jobs from standard input until the input ends."""
    # Redirect all prints to standard error; only this module writes to the real output.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    requests: queue.SimpleQueue[str] = queue.SimpleQueue()
    allow_requests_to_stop()
    threading.Thread(target=_listen, args=(requests,), daemon=True).start()
    while True:
        ending = train_request(json.loads(requests.get()), _Telling(answers))
        tell(answers, {"outcome": ending})


def _listen(requests: "queue.SimpleQueue[str]") -> None:
    for line in sys.stdin:
        requests.put(line)
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    main()

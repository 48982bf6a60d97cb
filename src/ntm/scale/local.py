"""Jobs on this machine: worker processes with one thread each, which may be killed at any time."""

import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Self

from ntm.scale.jobs import INTERRUPTED, RETRIES, Board, Facts, Job, failure
from ntm.scale.worker import request_for, tell
from ntm.training.progress import Status


class LocalExecutor:
    """Executor that runs the open jobs of a board in worker processes, and restarts killed workers.

    workers: number of processes; None for the number that fits on the available cores (None).
    """

    def __init__(self, board: Board, workers: int | None = None) -> None:
        self._board = board
        self._waiting: queue.SimpleQueue[int] = queue.SimpleQueue()
        for number in board.open:
            self._waiting.put(number)
        count = min(workers or default_workers(board), len(board.open))
        self._workers = [Worker() for _ in range(count)]
        self._threads = [
            threading.Thread(target=self._serve, args=(worker,), daemon=True)
            for worker in self._workers
        ]
        self._stopping = threading.Event()
        self._turn = threading.Event()

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()
        for worker in self._workers:
            worker.stop()
        for thread in self._threads:
            thread.join()

    def stop(self) -> None:
        """Ask all runs to end with a checkpoint, at the next call of `advance`."""
        self._stopping.set()
        self._turn.set()

    def advance(self, seconds: float) -> bool:
        """Wait until a job ends, or at most `seconds`; return False once all jobs have ended."""
        self._turn.wait(seconds)
        self._turn.clear()
        if self._stopping.is_set():
            for worker in self._workers:
                worker.stop()
        return any(thread.is_alive() for thread in self._threads)

    def _serve(self, worker: "Worker") -> None:
        with worker:
            while not self._stopping.is_set():
                try:
                    number = self._waiting.get_nowait()
                except queue.Empty:
                    break
                self._board.settle(number, self._train(worker, number))
                self._turn.set()
        self._turn.set()

    def _train(self, worker: "Worker", number: int) -> Facts:
        """Train a job to its end; if its process is killed, start another, up to RETRIES times."""
        board, reason = self._board, None
        for _attempt in range(1 + RETRIES):
            board.begin(number, reason)
            try:
                return worker.train(board.job(number), partial(board.update, number))
            except WorkerKilledError as error:
                reason = f"Resumed from its checkpoint: {error}"
            except WorkerError as error:
                return failure(str(error))
            if self._stopping.is_set():
                return INTERRUPTED
        return failure(f"Its worker was killed {1 + RETRIES} times.")


def default_workers(board: Board) -> int:
    """Return the number of workers that fit on the cores, given the threads per job."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    threads = max((board.job(n).settings.training.threads for n in board.open), default=1)
    return max(1, (cores or 1) // max(1, threads))


class WorkerError(Exception):
    """A worker process that ended by itself; the message is its last output."""


class WorkerKilledError(WorkerError):
    """A worker process that was killed by a signal; the message names the signal."""


class Worker:
    """A worker process, started on demand and restarted after its death."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._errors = tempfile.TemporaryFile("w+", errors="replace")  # noqa: SIM115  # closed on leaving
        self._stopped = False
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self._process is not None:
            self._process.communicate()
        self._errors.close()

    def train(self, job: Job, report: Callable[[Status], None]) -> Facts:
        """Train a job until the job or the process ends."""
        process = self._running()
        assert process.stdin is not None
        try:
            tell(process.stdin, request_for(job))
            for message in _messages(process):
                if "outcome" in message:
                    return dict(message["outcome"])
                report(Status(**message["status"]))
        except BrokenPipeError:
            pass
        raise self._death(process)

    def stop(self) -> None:
        """Ask the process to save and exit, once; it will not be started again."""
        with self._lock:
            if not self._stopped and self._process is not None:
                self._process.terminate()
            self._stopped = True

    def _running(self) -> "subprocess.Popen[str]":
        with self._lock:
            if self._stopped:
                raise WorkerKilledError("Interrupted.")
            if self._process is None or self._process.poll() is not None:
                self._process = self._started()
            return self._process

    def _started(self) -> "subprocess.Popen[str]":
        # Use a new session: Ctrl-C reaches only the sweep, which then asks its workers to stop.
        return subprocess.Popen(
            [sys.executable, "-m", "ntm.scale.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
            env=os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(sys.path)},
            start_new_session=True,
        )

    def _death(self, process: "subprocess.Popen[str]") -> WorkerError:
        process.communicate()
        code = process.returncode
        if code < 0:
            name = signal.Signals(-code).name
            return WorkerKilledError(f"its worker was killed by {name}.")
        self._errors.seek(0)
        said = self._errors.read().strip().splitlines() or ["nothing"]
        return WorkerError(f"Its worker ended with code {code} and said: {said[-1]}")


def _messages(process: "subprocess.Popen[str]") -> Iterator[dict[str, Any]]:
    assert process.stdout is not None
    for line in process.stdout:
        if line.endswith("\n"):  # a killed worker may leave half a line
            yield json.loads(line)

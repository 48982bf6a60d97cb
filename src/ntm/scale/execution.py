"""Execution of jobs: in worker processes on this machine, or on a Ray cluster."""

import os
import queue
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from functools import partial
from typing import Self

from ntm.scale.jobs import INTERRUPTED, RETRIES, Board, Job, JobEnd, Outcome, Standing, failure
from ntm.scale.processes import TrainingProcess
from ntm.scale.ray_cluster import RayExecutor
from ntm.scale.worker import request_for
from ntm.training.display import Status
from ntm.training.signals import calling_on_signals

_TICK = 1.0  # seconds between two calls of `on_event`

OnEvent = Callable[[Sequence[Standing]], None]


def execute(
    jobs: Iterable[Job],
    workers: int | None = None,
    ray: str | None = None,
    on_event: OnEvent | None = None,
) -> list[Outcome]:
    """Train all jobs; return their outcomes in the order of `jobs`.

    workers: number of processes on this computer, each with `training.threads` threads, at least
        one (None: the number that fits on the cores).
    ray: address of a Ray cluster, or "auto" for this computer's cluster (None: no cluster).
    on_event: function called with the status of every job, about once a second and at the end
        (None: no calls).

    A finished run stays unchanged; an unfinished run is resumed. A folder that holds another run
    raises a FolderError before any job starts. A failed job does not stop the others. If a worker
    is killed, another worker resumes from the last checkpoint. After SIGINT or SIGTERM, every
    running job writes a checkpoint and ends, and no other job starts. All these jobs count as
    interrupted; a second call with the same jobs continues them.
    """
    if workers is not None and workers < 1:
        raise ValueError(f"workers is {workers}; it takes at least 1.")
    board = Board(tuple(jobs))
    tell = on_event or (lambda _standings: None)
    if board.open:
        with (
            LocalExecutor(board, workers) if ray is None else RayExecutor(board, ray) as executor,
            calling_on_signals(lambda _number: executor.stop()),
        ):
            while executor.advance(_TICK):
                tell(board.standings)
    tell(board.standings)
    return board.outcomes


class LocalExecutor:
    """Executor that runs the open jobs of a board in worker processes, and restarts killed workers.

    workers: number of processes; None for the number that fits on the available cores (None).
    """

    def __init__(self, board: Board, workers: int | None = None) -> None:
        count = min(workers or default_workers(board), len(board.open))
        self._board, self._stopping = board, False
        self._workers = [Worker() for _ in range(count)]
        self._idle: queue.SimpleQueue[Worker] = queue.SimpleQueue()
        for worker in self._workers:
            self._idle.put(worker)
        self._threads = ThreadPoolExecutor(count)  # each follows one job at a time
        self._unfinished: set[Future[None]] = set()

    def __enter__(self) -> Self:
        self._unfinished = {self._threads.submit(self._train, n) for n in self._board.open}
        return self

    def __exit__(self, *error: object) -> None:
        self._stop_workers()
        self._threads.shutdown()
        for worker in self._workers:
            worker.close()

    def stop(self) -> None:
        """Ask all runs to end with a checkpoint, at the next `advance`; for signal handlers."""
        self._stopping = True

    def advance(self, seconds: float) -> bool:
        """Wait until a job ends, or at most `seconds`; return False once all jobs have ended."""
        if self._stopping:
            self._stop_workers()
        ended, self._unfinished = wait(self._unfinished, seconds, FIRST_COMPLETED)
        for future in ended:
            if not future.cancelled():
                future.result()  # raises an error that is not about the job
        return bool(self._unfinished)

    def _stop_workers(self) -> None:
        for future in self._unfinished:
            future.cancel()  # unless it has started
        for worker in self._workers:
            worker.stop()

    def _train(self, number: int) -> None:
        worker = self._idle.get()
        self._board.settle(number, self._trained(worker, number))
        self._idle.put(worker)

    def _trained(self, worker: "Worker", number: int) -> JobEnd:
        """Train a job to its end; if the process is killed, restart it, up to RETRIES times."""
        board, reason = self._board, None
        for _attempt in range(1 + RETRIES):
            board.begin(number, reason)
            ending = worker.train(board.job(number), partial(board.update, number))
            if ending is not None:
                return ending
            reason = f"Resumed from its checkpoint: its worker was killed by {worker.killed_by}."
        return failure(f"Its worker was killed {1 + RETRIES} times.")


def default_workers(board: Board) -> int:
    """Return the number of workers that fit on the cores, given the threads per job."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    threads = max((board.job(n).settings.training.threads for n in board.open), default=1)
    return max(1, (cores or 1) // max(1, threads))


class Worker:
    """A process that trains one job after another; `train` starts it if it is not running."""

    def __init__(self) -> None:
        self._process: TrainingProcess | None = None
        self._stopped = False
        self._lock = threading.Lock()

    @property
    def killed_by(self) -> str | None:
        """Name of the signal that killed the process."""
        return None if self._process is None else self._process.killed_by

    def train(self, job: Job, report: Callable[[Status], None]) -> JobEnd | None:
        """Train a job until the job or the process ends; return None if the process was killed."""
        process = self._running()
        if process is None:
            return INTERRUPTED
        with suppress(BrokenPipeError):
            process.tell(request_for(job))
            for message in process.messages():
                if "outcome" in message:
                    return dict(message["outcome"])
                report(Status(**message["status"]))
        process.wait()
        if process.stopping:
            return INTERRUPTED
        return None if process.killed_by else failure(f"Its worker failed: {process.failure}")

    def stop(self) -> None:
        """Ask the process to write a checkpoint and exit; it will not be started again."""
        with self._lock:
            self._stopped = True
            if self._process is not None:
                self._process.stop()

    def close(self) -> None:
        """Wait for the process to end."""
        if self._process is not None:
            self._process.wait()
            self._process.close()

    def _running(self) -> TrainingProcess | None:
        """Return the process, and start it first if none is running; return None after `stop`."""
        with self._lock:
            if self._stopped:
                return None
            if self._process is None or not self._process.running:
                self.close()
                variables = {"OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
                self._process = TrainingProcess("-m", "ntm.scale.worker", talks=True, **variables)
            return self._process

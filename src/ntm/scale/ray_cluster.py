"""Jobs on a Ray cluster: Ray tasks that send their checkpoints back.

A Ray task trains in a temporary folder on its node. After each checkpoint it sends the files to the
ledger, an actor on the node of the sweep, and the sweep writes them to the run's folder. When a
worker or a node dies, Ray restarts its tasks elsewhere, and the tasks resume from the checkpoints
in the ledger. No shared file system is needed. The run folders can be resumed with or without Ray,
even after the cluster is lost.
"""

import logging
import os
import socket
import tempfile
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Self

from ntm.common.files import remove_leftovers, write_atomically
from ntm.common.text import first_line
from ntm.runs import RunError
from ntm.scale.jobs import INTERRUPTED, RETRIES, Board, JobEnd, failure
from ntm.scale.worker import request_for, train_request
from ntm.training.display import Progress, Status

_REPORTS = 500  # per second from all tasks: one Python process can easily answer this many

Parcel = dict[str, bytes]
"""Content of the files of a run folder, by relative path."""


class News(NamedTuple):
    """Reports of the Ray tasks since the last request, by the number of the job."""

    starts: dict[int, int]
    """Number of times that the Ray task has started."""
    statuses: dict[int, Status]
    parcels: dict[int, Parcel]


class Ledger:
    """Ray actor with the newest files of every run, and the reports since the sweep last asked."""

    def __init__(self) -> None:
        self._parcels: dict[int, Parcel] = {}
        self._sequences: dict[int, int] = {}
        self._starts: dict[int, int] = {}
        self._news = News({}, {}, {})

    def keep(self, number: int, parcel: Parcel) -> None:
        """Store the folder from which a Ray task resumes its run."""
        self._parcels[number] = parcel

    def begin(self, number: int) -> Parcel | None:
        """Record that a Ray task starts or restarts; return its folder to resume from, or None."""
        self._starts[number] = self._starts.get(number, 0) + 1
        self._news.starts[number] = self._starts[number]
        return self._parcels.get(number)

    def report(self, number: int, status: Status, parcel: Parcel | None) -> None:
        """Record the progress of a Ray task, and its folder if it has saved a checkpoint."""
        self._news.statuses[number] = status
        # A node that was considered dead may still send an older state than its successor.
        if parcel is not None and status.sequences >= self._sequences.get(number, 0):
            self._sequences[number] = status.sequences
            self._parcels[number] = self._news.parcels[number] = parcel

    def news(self) -> News:
        """Return the reports since the last call."""
        news, self._news = self._news, News({}, {}, {})
        return news

    def forget(self, number: int) -> None:
        """Drop the parcel of a run that has ended and whose folder is complete."""
        self._parcels.pop(number, None)


def train_on_node(
    ledger: Any, number: int, request: dict[str, Any], interval: float
) -> tuple[JobEnd, Parcel]:
    """Train a job in a scratch folder, as a Ray task; return the ending and the files of the run.

    ledger: actor that receives progress and checkpoints.
    number: number of the job.
    request: result of `request_for`.
    interval: seconds between two reports to the ledger.
    """
    with tempfile.TemporaryDirectory(prefix="ntm-") as scratch, ThreadPoolExecutor(1) as thread:
        folder = Path(scratch) / "run"
        unpack(_call(thread, ledger.begin, number).result() or {}, folder)
        report = partial(_call, thread, ledger.report, number)
        shipping = _Shipping(report, folder, interval)
        facts = train_request(request | {"folder": str(folder)}, shipping)
        reason = facts["reason"] and facts["reason"].replace(str(folder), request["folder"])
        return {**facts, "reason": reason}, pack(folder)


def _call(thread: ThreadPoolExecutor, method: Any, *arguments: Any) -> Future[Any]:
    """Call a method of an actor from a thread.

    If the main thread of a task waited for the answer, Ray would give its core to another task.
    """
    import ray

    return thread.submit(lambda: ray.get(method.remote(*arguments)))


class _Shipping(Progress):
    """Progress that reports to the ledger, and sends the folder after every new checkpoint."""

    def __init__(
        self,
        report: Callable[[Status, Parcel | None], Future[Any]],
        folder: Path,
        interval: float,
    ) -> None:
        self._report, self._folder, self.interval = report, folder, interval
        self._shipped = newest_record(folder)
        self._sent: Future[Any] | None = None

    def update(self, status: Status) -> None:
        """Report the progress of the run, after the previous report has arrived."""
        if self._sent is not None:
            self._sent.result()
        newest = newest_record(self._folder)
        parcel = None if newest == self._shipped else pack(self._folder)
        self._shipped, self._sent = newest, self._report(status, parcel)


class RayExecutor:
    """Executor that runs the open jobs of a board as tasks of a Ray cluster.

    address: address of a cluster, such as 10.0.0.1:6379, or "auto" for the cluster of this machine.
    """

    def __init__(self, board: Board, address: str) -> None:
        self._board, self._address = board, address
        self._numbers: dict[Any, int] = {}
        self._stopping = threading.Event()
        self._cancelled = False

    def __enter__(self) -> Self:
        self._ray = _imported()
        self._connected = _connect(self._ray, self._address)
        self._ledger = self._on_this_node(Ledger)
        for number in self._board.open:
            self._submit(number)
        return self

    def __exit__(self, *error: object) -> None:
        for reference in self._numbers:
            self._ray.cancel(reference, force=True)
        self._ray.kill(self._ledger)
        if self._connected:
            self._ray.shutdown()

    def stop(self) -> None:
        """Ask all runs to write a checkpoint and end, at the next call of `advance`."""
        self._stopping.set()

    def advance(self, seconds: float) -> bool:
        """Wait until a job ends, or at most `seconds`; return False once all jobs have ended."""
        if self._stopping.is_set() and not self._cancelled:
            self._cancelled = True
            for reference in self._numbers:  # ends a waiting task, interrupts a running one
                self._ray.cancel(reference)
        ended, _ = self._ray.wait(list(self._numbers), timeout=seconds)
        try:
            # Handle news before ended tasks: an older parcel must not replace a final one.
            self._hear(self._ray.get(self._ledger.news.remote()))
        except self._ray.exceptions.RayError as error:
            raise RunError(
                f"The Ray cluster is lost ({first_line(error)}); "
                f"the same command resumes from the checkpoints that have arrived."
            ) from error
        for reference in ended:
            self._settle(self._numbers.pop(reference), reference)
        return bool(self._numbers)

    def _on_this_node(self, actor: type) -> Any:
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        here = NodeAffinitySchedulingStrategy(
            self._ray.get_runtime_context().get_node_id(), soft=False
        )
        return self._ray.remote(actor).options(num_cpus=0, scheduling_strategy=here).remote()

    def _submit(self, number: int) -> None:
        job = self._board.job(number)
        if job.folder.exists():
            self._ledger.keep.remote(number, pack(job.folder))
        training = job.settings.training
        task = self._ray.remote(train_on_node).options(
            num_cpus=max(1, training.threads),
            num_gpus=int(training.device.startswith("cuda")),
            max_retries=RETRIES,
            scheduling_strategy="SPREAD",
        )
        interval = max(1.0, len(self._board.open) / _REPORTS)
        self._numbers[task.remote(self._ledger, number, request_for(job), interval)] = number

    def _hear(self, news: News) -> None:
        board = self._board
        for number, starts in news.starts.items():
            again = "Resumed from its checkpoint: its worker or node died."
            board.begin(number, again if starts > 1 else None)
        for number, status in news.statuses.items():
            board.update(number, status)
        for number, parcel in news.parcels.items():
            unpack(parcel, board.job(number).folder)

    def _settle(self, number: int, reference: Any) -> None:
        board, exceptions = self._board, self._ray.exceptions
        try:
            facts, parcel = self._ray.get(reference)
        except exceptions.TaskCancelledError:
            facts = INTERRUPTED
        except exceptions.RayError as error:
            facts = failure(f"Ray gave up on it: {first_line(error)}")
        else:
            unpack(parcel, board.job(number).folder)
        board.settle(number, facts)
        self._ledger.forget.remote(number)


def _imported() -> Any:
    # Output of the nodes would break the table; the standing of a run shows that a node died.
    os.environ.setdefault("RAY_DEDUP_LOGS_SKIP_REGEX", ".")
    try:
        import ray
    except ImportError as error:
        raise RunError(
            f"A cluster needs Ray ({error}): pip install 'neural-turing-machines[scale]'"
        ) from error
    return ray


def _connect(ray: Any, address: str) -> bool:
    """Join the cluster; return False if this process already belongs to a cluster."""
    if ray.is_initialized():
        return False
    try:
        _knock(address)
        ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
    except (OSError, RuntimeError, ValueError) as error:
        raise RunError(
            f"There is no Ray cluster at {address!r} ({first_line(error)}). "
            f"Start one with: ray start --head"
        ) from error
    return True


def _knock(address: str) -> None:
    """Raise an error within seconds if no server answers; Ray would try for many minutes."""
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if colon:
        socket.create_connection((host.strip("[]"), int(port)), timeout=10).close()


def pack(folder: Path) -> Parcel:
    """Read all files of a run, except locks and temporary files."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in files
        if not path.name.startswith(".")
    }


def unpack(parcel: Parcel, folder: Path) -> None:
    """Write a parcel to a folder; even if this is interrupted, the run can be resumed.

    The JSON file completes a checkpoint, so JSON files are written last. After them, checkpoints
    that are not in the parcel are removed.
    """
    for name in sorted(parcel, key=lambda n: n.startswith("checkpoint/") and n.endswith(".json")):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not (path.exists() and path.read_bytes() == parcel[name]):
            write_atomically(path, parcel[name])
    for path in (folder / "checkpoint").glob("*"):
        if f"checkpoint/{path.name}" not in parcel:
            path.unlink()
    remove_leftovers(folder)


def newest_record(folder: Path) -> str | None:
    """Return the name of the newest checkpoint's JSON file; None if there is no checkpoint."""
    return max((path.name for path in (folder / "checkpoint").glob("*.json")), default=None)

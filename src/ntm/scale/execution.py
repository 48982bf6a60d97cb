"""Execution of jobs on this machine or on a Ray cluster."""

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol, Self

from ntm.scale.jobs import Board, Job, Outcome, Standing
from ntm.scale.local import LocalExecutor
from ntm.training.signals import calling_on_signals

_TICK = 1.0  # seconds between two calls of `on_event`

OnEvent = Callable[[Sequence[Standing]], None]


def execute(
    jobs: Iterable[Job],
    workers: int | None = None,
    ray: str | None = None,
    on_event: OnEvent | None = None,
) -> list[Outcome]:
    """Train all jobs; return their outcomes in the same order.

    workers: number of processes on this machine, with one thread each; None: one per core (None).
    ray: address of a Ray cluster, or "auto" for the cluster of this machine; None for none (None).
    on_event: function called with the standing of every job, about once a second and at the end
        (None).

    A finished run stays unchanged; an unfinished run is resumed. A folder that holds another run
    raises a FolderError before any job starts. A failed job does not stop the others. If a worker
    is killed, another worker resumes from the last checkpoint. SIGINT and SIGTERM end all runs with
    a checkpoint; these runs count as interrupted, and the same call resumes them.
    """
    if workers is not None and workers < 1:
        raise ValueError(f"workers is {workers}; it takes at least 1.")
    board = Board(tuple(jobs))
    tell = on_event or (lambda _standings: None)
    if board.open:
        with (
            _executor(board, workers, ray) as executor,
            calling_on_signals(lambda _number: executor.stop()),
        ):
            while executor.advance(_TICK):
                tell(board.standings)
    tell(board.standings)
    return board.outcomes


class Executor(Protocol):
    """Interface of a class that runs the open jobs of a board."""

    def __enter__(self) -> Self:
        """Start the jobs."""

    def __exit__(self, *error: object) -> None:
        """Stop all processes."""

    def stop(self) -> None:
        """Ask all runs to end with a checkpoint; safe to call from a signal handler."""

    def advance(self, seconds: float) -> bool:
        """Wait until a job ends, or at most `seconds`; return False once all jobs have ended."""


def _executor(board: Board, workers: int | None, ray: str | None) -> Executor:
    if ray is None:
        return LocalExecutor(board, workers)
    from ntm.scale.ray_cluster import RayExecutor

    return RayExecutor(board, ray)

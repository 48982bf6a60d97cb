"""Run jobs on this machine or on a Ray cluster."""

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
    """Train all jobs; how each ended, in their order.

    workers: processes on this machine, each on one thread; None for one per core.
    ray: the address of a Ray cluster, or "auto" for the one that this machine belongs to.
    on_event: called about once a second, and at the end, with where every job stands.

    A finished run is kept as it is; an unfinished one is resumed. A folder that holds another run
    is a FolderError before anything has begun. A failed job does not stop the others. A killed
    worker costs the work since its run's last checkpoint, from which another worker resumes. SIGINT
    and SIGTERM end all runs with a checkpoint; they count as interrupted, and the same call resumes
    them.
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
    """Something that runs the open jobs of a board."""

    def __enter__(self) -> Self:
        """Begin."""

    def __exit__(self, *error: object) -> None:
        """Leave no process behind."""

    def stop(self) -> None:
        """Ask all runs to end with a checkpoint; may be called by a signal handler."""

    def advance(self, seconds: float) -> bool:
        """Let jobs run until one ends, for at most that long; False once all have ended."""


def _executor(board: Board, workers: int | None, ray: str | None) -> Executor:
    if ray is None:
        return LocalExecutor(board, workers)
    from ntm.scale.ray_cluster import RayExecutor

    return RayExecutor(board, ray)

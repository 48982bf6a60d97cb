"""A job: the settings and the folder of a run, where it stands and how it ended."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from ntm.runs import FolderError, Run, Settings, read_metrics
from ntm.runs.facts import validated
from ntm.runs.folder import open_run
from ntm.training.progress import Status

State = Literal["waiting", "running", "finished", "failed", "interrupted"]


@dataclass(frozen=True)
class Job:
    """One run: what to train, and the folder to do it in."""

    settings: Settings
    folder: Path

    @property
    def name(self) -> str:
        """The name of its folder."""
        return self.folder.name

    @property
    def sequences(self) -> int:
        """Sequences to train on, in whole batches; an upper bound if it has trials."""
        return self.settings.training.most_sequences


Facts = Mapping[str, Any]
"""What a worker says of a job that has ended: fields of `Standing`, at least state and reason."""

RESULTS = ("sequences", "bits", "best_bits", "seconds")
"""What a run reports at its end; fields of `Standing` and of `ntm.training.Result`."""
RETRIES = 3
"""How often a job begins again whose worker was killed."""
INTERRUPTED: Facts = {"state": "interrupted", "reason": "Interrupted."}


def failure(reason: str) -> Facts:
    """The facts of a job that failed."""
    return {"state": "failed", "reason": reason}


@dataclass(frozen=True)
class Standing:
    """Where a job stands and, in the end, its outcome."""

    job: Job
    state: State = "waiting"
    """An interrupted job stopped cleanly; it can be resumed."""
    sequences: int = 0
    """Sequences trained on so far, of `job.sequences`."""
    bits: float | None = None
    """Mean cost per sequence in the last report; None before there is one."""
    speed: float = 0.0
    """Current sequences per second; 0 unless it is running."""
    reason: str | None = None
    """Why it failed, was interrupted or was started again, as a sentence."""
    best_bits: float | None = None
    """The lowest validation cost, known once the job has ended."""
    seconds: float = 0.0
    """Training time over all processes of the run, known once the job has ended."""

    @property
    def ended(self) -> bool:
        """Whether this is its outcome."""
        return self.state not in {"waiting", "running"}

    def to_json(self) -> dict[str, Any]:
        """The outcome as plain data."""
        settings = self.job.settings
        names = {"task": settings.task.name, "model": settings.model_name}
        run = {"folder": str(self.job.folder), **names, "seed": settings.training.seed}
        known = ("state", "reason", *RESULTS)
        beyond = {"validate_beyond": settings.training.validate_beyond}
        return run | {name: getattr(self, name) for name in known} | beyond


Outcome = Standing
"""Of a job that has ended: finished, failed or interrupted."""


class Board:
    """Where all jobs stand. Executors write to it, callers read it.

    Making one reads the folders of the jobs: a finished run is kept as it is, and a folder that
    holds another run is an error before anything has begun.
    """

    def __init__(self, jobs: Sequence[Job]) -> None:
        require_own_folders(jobs)
        self.standings = [Standing(job) for job in jobs]
        for number, job in enumerate(jobs):
            self._read_folder(number, job)

    @property
    def open(self) -> list[int]:
        """The numbers of the jobs that have not ended."""
        return [number for number, now in enumerate(self.standings) if not now.ended]

    @property
    def outcomes(self) -> list[Outcome]:
        """How the jobs ended, in their order; those that never began count as interrupted."""
        for number in self.open:
            self.settle(number, INTERRUPTED)
        return self.standings

    def job(self, number: int) -> Job:
        """The job of that number."""
        return self.standings[number].job

    def begin(self, number: int, reason: str | None = None) -> None:
        """A job has been given to a worker, again if there is a reason."""
        self._change(number, state="running", reason=reason)

    def update(self, number: int, status: Status) -> None:
        """A running job has progressed."""
        known = {"sequences": status.sequences, "bits": status.bits, "speed": status.speed}
        self._change(number, state="running", **known)

    def settle(self, number: int, facts: Facts) -> None:
        """A job has ended; what the facts do not mention stays as it is."""
        self._change(number, speed=0.0, **facts)

    def _change(self, number: int, **facts: Any) -> None:
        now = self.standings[number]
        if not now.ended:  # a node that was taken for dead may still report
            self.standings[number] = replace(now, **facts)

    def _read_folder(self, number: int, job: Job) -> None:
        if not Run.exists(job.folder):
            return
        run = open_run(job.folder, job.settings, resume=True)
        facts = run.facts("latest")
        trained = int(facts.get("sequences", 0))
        if trained > job.sequences:
            raise FolderError(
                f"{job.folder} was trained on {trained:,} sequences, more than the "
                f"{job.sequences:,} asked for; ask for as many, or choose another folder."
            )
        lines = [line for line in read_metrics(run.metrics) if line["sequences"] <= trained]
        last = lines[-1] if lines else {}
        self._change(number, sequences=trained, bits=last.get("bits"))
        wanted = job.settings.training.sequences
        finished = facts.get("of_this_start", 0) >= wanted or trained == job.sequences
        if finished or _is_solved(job.settings, trained, lines):
            best, seconds = validated(run.facts("best")), last.get("seconds", 0.0)
            self._change(number, state="finished", best_bits=best, seconds=seconds)


def require_own_folders(jobs: Iterable[Job]) -> None:
    """Refuse two jobs in one folder."""
    seen: set[Path] = set()
    for job in jobs:
        folder = job.folder.resolve()
        if folder in seen:
            raise ValueError(f"Two jobs have the folder {job.folder}; give each its own.")
        seen.add(folder)


def _is_solved(settings: Settings, trained: int, lines: Sequence[dict[str, Any]]) -> bool:
    chosen = settings.training
    if not (chosen.stop_when_solved and lines and lines[-1]["sequences"] == trained):
        return False
    worse = (line["sequences"] for line in reversed(lines) if line["bits"] >= chosen.solved_bits)
    return trained - int(next(worse, 0)) >= chosen.solved_window

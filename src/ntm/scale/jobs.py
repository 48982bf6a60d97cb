"""Jobs: settings, folder, progress and outcome of a run."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from ntm.runs import FolderError, Run, Settings, read_metrics
from ntm.runs.facts import validated
from ntm.runs.folder import create_or_resume
from ntm.training.display import Status

JobState = Literal["waiting", "running", "finished", "failed", "interrupted"]


@dataclass(frozen=True)
class Job:
    """One run to train: its settings and its folder."""

    settings: Settings
    folder: Path

    @property
    def name(self) -> str:
        """Name of the folder."""
        return self.folder.name

    @property
    def sequences(self) -> int:
        """Number of sequences to train on, in whole batches; the maximum for a job with trials."""
        return self.settings.training.most_sequences


JobEnd = Mapping[str, Any]
"""Report on a job that has ended: fields of `Standing`, at least state and reason."""

RESULTS = ("sequences", "bits", "best_bits", "seconds")
"""Fields of `Standing` that a run reports at its end, also fields of `ntm.training.Result`."""
RETRIES = 3
"""Number of times that a job is restarted after its worker was killed."""
INTERRUPTED: JobEnd = {"state": "interrupted", "reason": "Interrupted."}


def failure(reason: str) -> JobEnd:
    """Return the facts of a failed job."""
    return {"state": "failed", "reason": reason}


@dataclass(frozen=True)
class Standing:
    """Progress of a job and, at the end, its outcome."""

    job: Job
    state: JobState = "waiting"
    """State of the job; an interrupted job can be resumed."""
    sequences: int = 0
    """Number of training sequences so far, out of `job.sequences`."""
    bits: float | None = None
    """Mean cost per sequence in the last report; None before the first report."""
    speed: float = 0.0
    """Current sequences per second; 0 unless the job is running."""
    reason: str | None = None
    """Sentence that says why the job failed, was interrupted or was restarted."""
    best_bits: float | None = None
    """Lowest validation cost; None until the job has ended."""
    seconds: float = 0.0
    """Training time over all processes of the run; 0 until the job has ended."""

    @property
    def ended(self) -> bool:
        """Whether the job has ended."""
        return self.state not in {"waiting", "running"}

    def to_json(self) -> dict[str, Any]:
        """Return the outcome as plain data."""
        (task, model), training = self.job.settings.network, self.job.settings.training
        return {
            "folder": str(self.job.folder),
            "task": task,
            "model": model,
            "seed": training.seed,
            **{name: getattr(self, name) for name in ("state", "reason", *RESULTS)},
            "validate_beyond": training.validate_beyond,
        }


Outcome = Standing
"""Standing of a job that has ended: finished, failed or interrupted."""


class Board:
    """Standings of all jobs. Executors write to the board, callers read it.

    The constructor reads the folders of the jobs: a finished run stays unchanged, and a folder that
    holds another run raises an error before any job starts.
    """

    def __init__(self, jobs: Sequence[Job]) -> None:
        require_own_folders(jobs)
        self.standings = [Standing(job) for job in jobs]
        for number, job in enumerate(jobs):
            self._read_folder(number, job)

    @property
    def open(self) -> list[int]:
        """Numbers of the jobs that have not ended."""
        return [number for number, now in enumerate(self.standings) if not now.ended]

    @property
    def outcomes(self) -> list[Outcome]:
        """Outcomes in the order of the jobs; a job that has not ended counts as interrupted."""
        for number in self.open:
            self.settle(number, INTERRUPTED)
        return self.standings

    def job(self, number: int) -> Job:
        """Return the job with this number."""
        return self.standings[number].job

    def begin(self, number: int, reason: str | None = None) -> None:
        """Record that a worker has started a job; a reason explains a restart."""
        self._change(number, state="running", reason=reason)

    def update(self, number: int, status: Status) -> None:
        """Record the progress of a running job."""
        known = {"sequences": status.sequences, "bits": status.bits, "speed": status.speed}
        self._change(number, state="running", **known)

    def settle(self, number: int, facts: JobEnd) -> None:
        """Record that a job has ended; fields that are not in `facts` stay unchanged."""
        self._change(number, speed=0.0, **facts)

    def _change(self, number: int, **facts: Any) -> None:
        now = self.standings[number]
        if not now.ended:  # a node that was considered dead may still report
            self.standings[number] = replace(now, **facts)

    def _read_folder(self, number: int, job: Job) -> None:
        if not Run.exists(job.folder):
            return
        run = create_or_resume(job.folder, job.settings, resume=True)
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
    """Raise ValueError if two jobs have one folder."""
    for folder, count in Counter(job.folder.resolve() for job in jobs).items():
        if count > 1:
            raise ValueError(f"Two jobs have the folder {folder}; give each its own.")


def _is_solved(settings: Settings, trained: int, lines: Sequence[dict[str, Any]]) -> bool:
    chosen = settings.training
    if not (chosen.stop_when_solved and lines and lines[-1]["sequences"] == trained):
        return False
    worse = (line["sequences"] for line in reversed(lines) if line["bits"] >= chosen.solved_bits)
    return trained - int(next(worse, 0)) >= chosen.solved_window

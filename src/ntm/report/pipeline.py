"""Pipeline of a reproduction: train, measure, draw and report. It can be resumed."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from ntm.report.collection import STAGES as MEASURING
from ntm.report.collection import collect
from ntm.report.layout import Results
from ntm.report.measure import Effort
from ntm.report.page import write_report
from ntm.report.progress import Stages
from ntm.runs import Run, RunError, Settings, find_runs, run_name
from ntm.scale import Job, execute

STAGES = ("train", *MEASURING)


class Reproduction(NamedTuple):
    """Outcome of a reproduction."""

    results: Results
    failures: Sequence[str]
    """One sentence per failed run."""


def reproduce(
    wanted: Sequence[Settings],
    out: str | Path,
    *,
    taken: Iterable[str | Path] = (),
    effort: Effort | None = None,
    workers: int | None = None,
    progress: Stages | None = None,
) -> Reproduction:
    """Train the missing runs, measure all runs, and write a report.

    wanted: settings of every run. Runs are trained in folders of out/runs.
    taken: folders of existing runs. If they contain a network (a task and a model), their runs of
        it are used as they are and the network is not trained again.
    workers: number of processes that train at a time (None: one per core).
    """
    progress = progress or Stages(STAGES)
    out = Path(out)
    existing = find_runs(taken)
    there = {run.settings.network for run in existing}
    jobs = [
        Job(settings, out / "runs" / run_name(settings))
        for settings in wanted
        if settings.network not in there
    ]
    failures = _train(jobs, workers, progress)
    trained = [Run(job.folder) for job in jobs if (job.folder / "model.safetensors").exists()]
    results = collect([*existing, *trained], out, effort or Effort(), progress)
    write_report(results, failures)
    return Reproduction(results, failures)


def _train(jobs: Sequence[Job], workers: int | None, progress: Stages) -> list[str]:
    """Train the jobs and return a sentence about each failed job."""
    progress.begin("train", len(jobs))
    outcomes = execute(jobs, workers, on_event=progress.training) if jobs else []
    if any(outcome.state == "interrupted" for outcome in outcomes):
        raise KeyboardInterrupt
    failures = [f"{o.job.name}: {o.reason}" for o in outcomes if o.state == "failed"]
    for failure in failures:
        progress.note(failure)
    if jobs and len(failures) == len(jobs):
        raise RunError(f"Every run failed; the first: {failures[0]}")
    return failures

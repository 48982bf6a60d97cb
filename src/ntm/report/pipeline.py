"""Pipelines of `ntm results` and `ntm reproduce`: train, measure, draw and report.

Every result is written as soon as it is known, with a key that identifies its inputs. A result
whose key is unchanged is not computed again, so an interrupted process can simply be restarted.
"""

import hashlib
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ntm import paper, pretrained
from ntm.common.files import write_atomically
from ntm.engine.machine import machine, threads
from ntm.evaluation.curves import CostCurve
from ntm.figures.runs import MissingError, RunFolders
from ntm.paper.gallery import figures_of, redraw_figures
from ntm.report import measure
from ntm.report.measure import Effort, Json
from ntm.report.page import readme, report
from ntm.report.progress import Stages
from ntm.report.records import Results, RunRecord, is_up_to_date, store_json, store_run
from ntm.runs import FolderError, Run, RunError, Settings, find_runs, packaged, run_name
from ntm.scale import Job, execute
from ntm.tasks import Task

MEASURING = ("evaluate", "analyse", "draw", "report")
"""Stages of `ntm results`."""
STAGES = ("train", *MEASURING)
"""Stages of `ntm reproduce`."""


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

    wanted: settings of every run. Each run is trained in a folder in out/runs.
    taken: folders of existing runs. If one of these runs has the task and the model of a wanted
        run, the wanted run is not trained; the existing run is measured instead.
    workers: number of processes that train at a time (None: the number that fits on the cores).
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
    write_atomically(results.report, report(results, failures).encode())
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


def collect(runs: Sequence[Run], out: str | Path, effort: Effort, progress: Stages) -> Results:
    """Measure runs and write a folder of results, or add the runs to an existing folder.

    If the folder already contains a run of the same name, the run is measured again only if it has
    changed. Figures show all runs of the folder.
    """
    results = Results(Path(out))
    _require_own_names(runs)
    results.data.mkdir(parents=True, exist_ok=True)
    if runs:
        results.write_machine(machine())
    # On one thread, so that no number depends on the number of threads. On a busy machine, several
    # threads would wait for each other and be slower than one.
    with threads(1):
        for run in progress.each("evaluate", runs, _name):
            _evaluate(run, results.data / _name(run), effort, progress)
        with_heads = [run for run in runs if run.settings.family.describe(run.settings.model).heads]
        for run in progress.each("analyse", with_heads, _name):
            _analyse(run, results.data / _name(run), effort)
        _draw(runs, results, progress)
    for _ in progress.each("report", [results.readme], str):
        write_atomically(results.readme, readme(results).encode())
    return results


def _name(run: Run) -> str:
    return run.path.resolve().name


def _evaluate(run: Run, folder: Path, effort: Effort, progress: Stages) -> None:
    store_run(run, folder)
    file, key = folder / "evaluation.json", measure.evaluation_key(run, effort)
    if not is_up_to_date(file, key):
        store_json(file, {"key": key, **measure.evaluate_run(run, effort, progress.doing)})


def _analyse(run: Run, folder: Path, effort: Effort) -> None:
    file, key = folder / "analysis.json", measure.analysis_key(run, effort)
    if not is_up_to_date(file, key):
        store_json(file, {"key": key, **measure.analyse_run(run, effort)})


def _draw(runs: Sequence[Run], results: Results, progress: Stages) -> None:
    records = results.records()
    progress.begin("draw", len(figures_of(record.task for record in records)))
    file, key = results.figures / "figures.json", _figures_key(runs, results)
    if not records or is_up_to_date(file, key):
        return
    results.figures.mkdir(parents=True, exist_ok=True)
    file.unlink(missing_ok=True)  # the new figures will not match it
    drawn = []
    for outcome in redraw_figures(RecordedRuns(records, runs), results.figures, ["svg"]):
        progress.doing(outcome.figure.title)
        progress.done()
        named = {"number": outcome.figure.number, "name": outcome.figure.stem}
        drawn.append({**named, "lacking": list(outcome.lacking)})
    store_json(file, {"key": key, "figures": drawn})


def _figures_key(runs: Iterable[Run], results: Results) -> Json:
    """Return a key that changes if a figure may change: weights, records, experiments."""
    from matplotlib import __version__

    made_from = {_name(run): list(measure.weights_digests(run).values()) for run in runs}
    files = [*results.data.glob("*/*"), *packaged.FOLDER.glob("*.safetensors")]
    for file in sorted([*files, *Path(paper.__file__).parent.glob("*/experiment.toml")]):
        made_from[f"{file.parent.name}/{file.name}"] = [measure.digest(file)]
    digest = hashlib.sha256(json.dumps(made_from, sort_keys=True).encode()).hexdigest()
    return {"runs": digest, "matplotlib": __version__}


def _require_own_names(runs: Iterable[Run]) -> None:
    seen: dict[str, Path] = {}
    for run in runs:
        if (other := seen.setdefault(_name(run), run.path)) is not run.path:
            raise FolderError(
                f"{other} and {run.path} have the same name; results are stored by folder name, so "
                f"rename one of them."
            )


class RecordedRuns(RunFolders):
    """Runs of a folder of results.

    Learning curves and costs come from the records, so a figure shows every run of the folder.
    Networks come from `runs`; for a task and model without a run, the packaged network is used.
    """

    def __init__(self, records: Sequence[RunRecord], runs: Sequence[Run]) -> None:
        at_hand = {run.settings.network for run in runs}
        recorded = {record.settings.network for record in records}
        packaged = [
            name
            for name in pretrained.names()
            if pretrained.settings(name).network in recorded - at_hand
        ]
        super().__init__([*(run.path for run in runs), *packaged])
        self._records = records

    @property
    def tasks(self) -> list[str]:
        """Names of the tasks that have a record."""
        return list(dict.fromkeys(record.task for record in self._records))

    def task(self, name: str) -> Task:
        """Return a task with the settings of its first record."""
        return self._of_task(name)[0].settings.task

    def learning_curves(self, task: str) -> dict[str, list[CostCurve]]:
        """Return the learning curves by model; x is in thousands of sequences."""
        curves: dict[str, list[CostCurve]] = {}
        for record in self._of_task(task):
            curve = record.own_curve
            if curve is None:
                self.lacking.append(f"the curve of the chosen start of {record.name}")
            elif len(curve.bits):
                shown = CostCurve(curve.sequences / 1000, curve.bits)
                curves.setdefault(record.model, []).append(shown)
        if not curves:
            raise MissingError(f"learning curves of {task}")
        return curves

    def costs(self, task: str, axis: str, values: Sequence[int]) -> dict[str, list[CostCurve]]:
        """Return the mean costs along an axis of the task, by model: one curve per run."""
        costs: dict[str, list[CostCurve]] = {}
        for record in self._of_task(task):
            bits = [float(record.at({axis: value})["mean_bits"]) for value in values]
            curve = CostCurve(np.array(values, dtype=float), np.array(bits))
            costs.setdefault(record.model, []).append(curve)
        return costs

    def _of_task(self, task: str) -> list[RunRecord]:
        found = [record for record in self._records if record.task == task]
        if not found:
            raise MissingError(f"a run of {task}: ntm train {task}")
        return found

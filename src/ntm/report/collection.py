"""Collection of results from run folders: measure each run, draw the figures, make the tables.

Every result is written as soon as it is known, with a key that identifies its inputs. A result
whose key is unchanged is not computed again, so an interrupted process can simply be restarted.
"""

import hashlib
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from ntm import paper, pretrained
from ntm.engine.machine import machine, threads
from ntm.paper.gallery import figures_of, redraw_figures
from ntm.report import measure
from ntm.report.layout import Results
from ntm.report.measure import Effort
from ntm.report.page import write_readme
from ntm.report.progress import Stages
from ntm.report.recorded import RecordedRuns
from ntm.report.records import is_up_to_date, store_json, store_run
from ntm.runs import FolderError, Run

STAGES = ("evaluate", "analyse", "draw", "report")


def collect(runs: Sequence[Run], out: str | Path, effort: Effort, progress: Stages) -> Results:
    """Measure runs and write a folder of results, or add the runs to an existing folder.

    Runs that the folder already contains, by name, are measured again if they changed. Figures show
    all runs of the folder.
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
        with_heads = [run for run in runs if run.settings.family.has_memory]
        for run in progress.each("analyse", with_heads, _name):
            _analyse(run, results.data / _name(run), effort)
        _draw(runs, results, progress)
    for _ in progress.each("report", [results.readme], str):
        write_readme(results)
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


def _figures_key(runs: Iterable[Run], results: Results) -> dict[str, Any]:
    """Return a key of everything that figures depend on: weights, records and experiments."""
    from matplotlib import __version__

    made_from = {_name(run): list(measure.weights_digests(run).values()) for run in runs}
    files = [*results.data.glob("*/*"), *pretrained.FOLDER.glob("*.safetensors")]
    for file in sorted([*files, *Path(paper.__file__).parent.glob("*.toml")]):
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
        made_from[f"{file.parent.name}/{file.name}"] = [digest]
    digest = hashlib.sha256(json.dumps(made_from, sort_keys=True).encode()).hexdigest()
    return {"runs": digest, "matplotlib": __version__}


def _require_own_names(runs: Iterable[Run]) -> None:
    seen: dict[str, Path] = {}
    for run in runs:
        name = _name(run)
        if name in seen:
            raise FolderError(
                f"{seen[name]} and {run.path} have the same name; results are stored by folder "
                f"name, so rename one of them."
            )
        seen[name] = run.path

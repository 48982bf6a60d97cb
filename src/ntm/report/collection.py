"""From run folders to results: measure each run, draw the figures, make the tables.

Every result is written at once, with a key that says what it was made from. Results that are up to
date are not computed again, so a process that was killed can simply be restarted.
"""

import hashlib
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from ntm.bench.results import machine
from ntm.bench.timing import threads
from ntm.figures.gallery import draw_figures, figures_of
from ntm.report import measure
from ntm.report.layout import Results, figure_title
from ntm.report.measure import Effort
from ntm.report.progress import Stages
from ntm.report.readme import write_readme
from ntm.report.records import is_up_to_date, store_json, store_run
from ntm.runs import FolderError, Run

STAGES = ("evaluate", "analyse", "draw", "report")


def collect(runs: Sequence[Run], out: str | Path, effort: Effort, progress: Stages) -> Results:
    """Measure runs and make a folder of results of them, or add them to one.

    Runs that the folder knows already, by their names, are measured again if they changed.
    """
    results = Results(Path(out))
    _require_own_names(runs)
    results.data.mkdir(parents=True, exist_ok=True)
    if runs:
        results.write_machine(machine())
    # On one thread, so that no number depends on the number of threads; on a busy machine, several
    # threads that wait for one another are slower than one.
    with threads(1):
        _evaluate(runs, results, effort, progress)
        _analyse(runs, results, effort, progress)
        _draw(runs, results, progress)
    progress.begin("report", 1)
    progress.doing(str(results.readme))
    write_readme(results)
    progress.done()
    return results


def _evaluate(runs: Sequence[Run], results: Results, effort: Effort, progress: Stages) -> None:
    progress.begin("evaluate", len(runs))
    for run in runs:
        name = run.path.resolve().name
        progress.doing(name)
        folder, key = results.data / name, measure.evaluation_key(run, effort)
        store_run(run, folder)
        if not is_up_to_date(folder / "evaluation.json", key):
            measured = measure.evaluate_run(run, effort, progress.doing)
            store_json(folder / "evaluation.json", {"key": key, **measured})
        progress.doing(name)
        progress.done()


def _analyse(runs: Sequence[Run], results: Results, effort: Effort, progress: Stages) -> None:
    with_heads = [run for run in runs if run.settings.family.has_memory]
    progress.begin("analyse", len(with_heads))
    for run in with_heads:
        name = run.path.resolve().name
        progress.doing(name)
        file, key = results.data / name / "analysis.json", measure.analysis_key(run, effort)
        if not is_up_to_date(file, key):
            store_json(file, {"key": key, **measure.analyse_run(run, effort)})
        progress.done()


def _draw(runs: Sequence[Run], results: Results, progress: Stages) -> None:
    progress.begin("draw", len(figures_of(run.settings.task.name for run in runs)))
    file, key = results.figures / "figures.json", _figures_key(runs)
    if not runs or is_up_to_date(file, key):
        return
    results.figures.mkdir(parents=True, exist_ok=True)
    file.unlink(missing_ok=True)  # it no longer describes what is drawn from here on
    drawn = []
    for outcome in draw_figures([run.path for run in runs], results.figures, ["svg"]):
        progress.doing(figure_title(outcome.figure))
        progress.done()
        named = {"number": outcome.figure.number, "name": outcome.figure.stem}
        drawn.append({**named, "lacking": list(outcome.lacking)})
    store_json(file, {"key": key, "figures": drawn})


def _figures_key(runs: Iterable[Run]) -> dict[str, Any]:
    """What decides the figures: the weights and the learning curves."""
    from matplotlib import __version__

    made_from = {
        run.path.resolve().name: [
            *measure.weights_digests(run).values(),
            hashlib.sha256(_content(run.metrics)).hexdigest(),
        ]
        for run in runs
    }
    digest = hashlib.sha256(json.dumps(made_from, sort_keys=True).encode()).hexdigest()
    return {"runs": digest, "matplotlib": __version__}


def _content(file: Path) -> bytes:
    return file.read_bytes() if file.exists() else b""


def _require_own_names(runs: Iterable[Run]) -> None:
    seen: dict[str, Path] = {}
    for run in runs:
        name = run.path.resolve().name
        if name in seen:
            raise FolderError(
                f"{seen[name]} and {run.path} have the same name; results are stored by folder "
                f"name, so rename one of them."
            )
        seen[name] = run.path

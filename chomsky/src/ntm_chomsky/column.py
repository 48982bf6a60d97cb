"""The column of the benchmark's table: train networks on the tasks and score them.

    runs/chomsky/parity-check-ntm-lstm-100/     run folder, and score.json
    runs/chomsky/scores.csv                     one line per run
    runs/chomsky/table.md                       the table

A second call continues where the first one stopped, and trains and scores only what is missing.
"""

import csv
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, get_type_hints

from ntm.paper import experiments, full_runs, quick_runs
from ntm.runs import Run, run_name
from ntm.scale import Job, execute
from ntm_chomsky import ALL, StringTask
from ntm_chomsky.score import LENGTHS, mean_accuracy, score

QUICK = ("parity-check", "reverse-string", "duplicate-string")
"""One task per level."""
_QUICK_LENGTHS = LENGTHS[::17]


@dataclass(frozen=True)
class Score:
    """Score of one run."""

    task: str
    model: str
    seed: int
    accuracy: float
    """Mean accuracy per symbol over the lengths, in percent."""
    trained_locations: int
    """Memory locations in training; 0 for a network without a memory."""
    locations: int
    """Memory locations in the measurement."""
    sequences: int
    """Training sequences, over all starts."""
    seconds: float
    """Training time."""


COLUMNS: dict[str, Any] = get_type_hints(Score)
"""Fields of a score and their types."""


def column(
    out: Path,
    tasks: Sequence[str] | None = None,
    models: Sequence[str] | None = None,
    seeds: int = 5,
    first_seed: int = 100,
    quick: bool = False,
    workers: int | None = None,
) -> list[Score]:
    """Train and score networks that are missing in a folder; return all scores of the folder.

    tasks: names of tasks (None: all; with `quick`, one per level).
    models: names of models (None: every model that the task's experiment has).
    seeds: number of runs per network, with seeds from `first_seed` on (5, from 100 on).
    quick: train for seconds, and score at four lengths (False).
    workers: number of runs at a time (None: one per core).
    """
    networks = chosen_networks(tasks or (QUICK if quick else None), models)
    make = quick_runs if quick else full_runs
    jobs = [
        Job(settings, out / run_name(settings)) for settings in make(networks, seeds, first_seed)
    ]
    outcomes = execute(jobs, workers)
    failed = [outcome for outcome in outcomes if outcome.state != "finished"]
    if failed:
        raise RuntimeError(f"{failed[0].job.folder} is not finished: {failed[0].reason}")
    for job in jobs:
        scored(job.folder, _QUICK_LENGTHS if quick else LENGTHS)
    return [scored(file.parent) for file in sorted(out.glob("*/score.json"))]


def chosen_networks(
    tasks: Sequence[str] | None = None, models: Sequence[str] | None = None
) -> list[tuple[str, str]]:
    """Return pairs of task and model that have a setting."""
    known = [task.name for task in ALL]
    networks = {e.task: e.networks for e in experiments() if e.task in known}
    if not networks:
        raise ValueError("The plug-in is not installed; install it with pip install ./chomsky.")
    for name in tasks or ():
        if name not in known:
            raise ValueError(f"There is no task {name!r}; choose from {', '.join(known)}.")
    found = [(task, model) for task in tasks or known for model in networks[task]]
    chosen = [pair for pair in found if models is None or pair[1] in models]
    if not chosen:
        raise ValueError("No setting exists for these tasks and models; name other models.")
    return chosen


def scored(folder: Path, lengths: Iterable[int] = LENGTHS) -> Score:
    """Return the score of a run, and write it to the run's folder the first time."""
    file = folder / "score.json"
    if not file.exists():
        record = _measured(Run(folder), lengths)
        new = file.with_suffix(".new")
        new.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
        new.replace(file)
    record = json.loads(file.read_text(encoding="utf-8"))
    return Score(**{name: record[name] for name in COLUMNS})


def _measured(run: Run, lengths: Iterable[int]) -> dict[str, Any]:
    settings = run.settings
    assert isinstance(settings.task, StringTask)
    by_length = score(run.load_model()[0], settings.task, lengths)
    last = json.loads(run.metrics.read_text(encoding="utf-8").splitlines()[-1])
    found = Score(
        *settings.network,
        seed=settings.training.seed,
        accuracy=mean_accuracy(by_length),
        trained_locations=_locations(settings.trained_model),
        locations=_locations(settings.model),
        sequences=last["sequences"],
        seconds=last["seconds"],
    )
    return asdict(found) | {"by_length": by_length}


def _locations(config: Any) -> int:
    return getattr(config, "memory_locations", 0)


def write_scores(scores: Iterable[Score], file: Path) -> None:
    """Write scores as a table of comma-separated values."""
    with file.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, COLUMNS, lineterminator="\n")
        writer.writeheader()
        for found in scores:
            rounded = {"accuracy": round(found.accuracy, 2), "seconds": round(found.seconds)}
            writer.writerow(asdict(found) | rounded)


def read_scores(file: Path) -> list[Score]:
    """Read scores that `write_scores` wrote."""
    with file.open(encoding="utf-8", newline="") as stream:
        return [
            Score(**{name: kind(row[name]) for name, kind in COLUMNS.items()})
            for row in csv.DictReader(stream)
        ]

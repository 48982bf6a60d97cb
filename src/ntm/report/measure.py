"""Measurements of a run: costs within and beyond the trained range, and the heads."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ntm.evaluation import evaluate
from ntm.paper import experiment_of
from ntm.paper.analysis import analyse
from ntm.runs import Run, RunError
from ntm.runs.folder import Weights
from ntm.tasks.cases import Case, case_name

Json = dict[str, Any]

WEIGHTS: tuple[Weights, ...] = ("best", "latest")


@dataclass(frozen=True)
class Effort:
    """Number of sequences for the measurements of each run, and their seed."""

    sequences: int = 1000
    """Number of fresh sequences for each cost."""
    watched: int = 200
    """Number of sequences for the analysis of the heads."""
    seed: int = 1
    """Seed of the sequences: every run is measured on equal sequences."""


QUICK = Effort(sequences=100, watched=60)


def evaluation_key(run: Run, effort: Effort) -> Json:
    """Return all inputs of an evaluation; if they are unchanged, the evaluation is up to date."""
    chosen = {"sequences": effort.sequences, "seed": effort.seed}
    return chosen | {"cases": [dict(at) for at in cases(run)], "weights": weights_digests(run)}


def analysis_key(run: Run, effort: Effort) -> Json:
    """Return all inputs of an analysis; if they are unchanged, the analysis is up to date."""
    return {"sequences": effort.watched, "seed": effort.seed, "weights": weights_digests(run)}


def evaluate_run(run: Run, effort: Effort, note: Callable[[str], None]) -> Json:
    """Measure the costs of a run's best and latest weights at every case of its task.

    note: called with a description of each measurement as it starts.
    """
    measured: dict[int, Json] = {}
    answer: Json = {}
    for weights in WEIGHTS:
        if not run.weights_file(weights).exists():
            continue
        model, facts = run.load_model(weights)
        trained = int(facts["sequences"])
        # Best and latest weights after the same number of sequences are equal, unless the best
        # weights are a running mean.
        if trained not in measured or run.settings.training.average_share:
            measured[trained] = {"cases": []}
            for at in cases(run):
                note(f"{run.path.name}, {weights} weights, {case_name(at)}")
                cost = evaluate(model, run.settings.task.at(**at), effort.sequences, effort.seed)
                measured[trained]["cases"].append({"at": dict(at), **cost.to_json()})
        known = {k: facts[k] for k in ("sequences", "validation_bits", "beyond_bits") if k in facts}
        answer[weights] = known | measured[trained]
    if not answer:
        raise RunError(f"{run.path} has no weights yet; train it longer.")
    return answer


def analyse_run(run: Run, effort: Effort) -> Json:
    """Analyse the heads of a run's best weights; return findings about the paper's claims."""
    model, _ = run.load_model()
    return analyse(model, run.settings.task, effort.watched, effort.seed).to_json()


def cases(run: Run) -> tuple[Case, ...]:
    """Return the sizes at which a run is evaluated."""
    return experiment_of(run.settings.task.name).cases


def weights_digests(run: Run) -> dict[str, str]:
    """Return the checksums of a run's files of weights, for "best" and "latest"."""
    files = {weights: run.weights_file(weights) for weights in WEIGHTS}
    return {weights: digest(file) for weights, file in files.items() if file.exists()}


def digest(file: Path) -> str:
    """Return the checksum of a file."""
    return hashlib.sha256(file.read_bytes()).hexdigest()

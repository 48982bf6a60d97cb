"""All that is measured of one run: its costs within and beyond training, and what its heads do."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ntm.evaluation import analyse, evaluate
from ntm.training import FolderError, Run, RunError
from ntm.training.run import Weights

Axes = dict[str, int]
Json = dict[str, Any]

TRAINED_RANGE: Axes = {}
CASES: dict[str, tuple[Axes, ...]] = {
    "copy": (TRAINED_RANGE, *({"length": length} for length in (10, 20, 30, 50, 120))),
    "repeat-copy": (
        TRAINED_RANGE,
        {"length": 20, "repeats": 10},
        {"length": 10, "repeats": 20},
    ),
    "associative-recall": (
        TRAINED_RANGE,
        *({"items": items} for items in (6, 8, 10, 12, 15, 20)),
    ),
    "ngrams": (TRAINED_RANGE,),
    "priority-sort": (TRAINED_RANGE,),
}
"""What each task is evaluated at: the range it is trained on, and every axis the paper names."""

WEIGHTS: tuple[Weights, ...] = ("best", "latest")


@dataclass(frozen=True)
class Effort:
    """How much is measured of each run."""

    sequences: int = 1000
    """Fresh sequences for each cost."""
    watched: int = 200
    """Sequences during which the heads are watched."""
    seed: int = 1
    """Decides the sequences; the same for every run."""


QUICK = Effort(sequences=100, watched=60)


def evaluation_key(run: Run, effort: Effort) -> Json:
    """What decides an evaluation; one that was made with an equal key need not be made again."""
    return {
        "sequences": effort.sequences,
        "seed": effort.seed,
        "cases": [dict(axes) for axes in cases(run)],
        "weights": weights_digests(run),
    }


def analysis_key(run: Run, effort: Effort) -> Json:
    """What decides an analysis."""
    return {"sequences": effort.watched, "seed": effort.seed, "weights": weights_digests(run)}


def evaluate_run(run: Run, effort: Effort, note: Callable[[str], None]) -> Json:
    """The costs of a run's best and latest weights at every case of its task.

    note: is told what is being measured.
    """
    measured: dict[int, Json] = {}
    answer: Json = {}
    for weights in WEIGHTS:
        if not run.weights_file(weights).exists():
            continue
        model, facts = run.load_model(weights)
        trained = int(facts["sequences"])
        # The latest weights may be the best, unless these are a mean over many moments.
        if trained not in measured or run.settings.training.average_share:
            measured[trained] = {
                "cases": [
                    _case(model, run, axes, effort, note, f"{weights} weights")
                    for axes in cases(run)
                ]
            }
        known = {k: facts[k] for k in ("sequences", "validation_bits") if k in facts}
        answer[weights] = known | measured[trained]
    if not answer:
        raise RunError(f"{run.path} has no weights yet; train it longer.")
    return answer


def analyse_run(run: Run, effort: Effort) -> Json:
    """What the heads of a run's best weights do, beside the paper's claims."""
    model, _ = run.load_model()
    return analyse(model, run.settings.task, effort.watched, effort.seed).to_json()


def cases(run: Run) -> tuple[Axes, ...]:
    """What a run is evaluated at; its task must be one of the paper's."""
    task = run.settings.task.name
    if task not in CASES:
        raise FolderError(
            f"{run.path} is a run of {task}; results are of the paper's tasks: {', '.join(CASES)}."
        )
    return CASES[task]


def case_name(axes: Mapping[str, int]) -> str:
    """A case in words: trained range, length 120."""
    return ", ".join(f"{axis} {value}" for axis, value in axes.items()) or "trained range"


def weights_digests(run: Run) -> dict[str, str]:
    """The checksums of the weights that a run has."""
    files = {weights: run.weights_file(weights) for weights in WEIGHTS}
    return {
        weights: hashlib.sha256(file.read_bytes()).hexdigest()
        for weights, file in files.items()
        if file.exists()
    }


def _case(
    model: Any, run: Run, axes: Axes, effort: Effort, note: Callable[[str], None], weights: str
) -> Json:
    note(f"{run.path.name}, {weights}, {case_name(axes)}")
    task = run.settings.task.at(**axes)
    return {"at": axes, **evaluate(model, task, effort.sequences, effort.seed).to_json()}

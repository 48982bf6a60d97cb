"""Publish a run as a network of the package: measure it, and write its weights and its card.

python -m ntm.paper.publishing RUN... publishes the best of these runs for each network. A network
that was trained with structured data (drawings) is measured on random bits, as in the paper.
"""

import math
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ntm.common.lazy import later
from ntm.evaluation import evaluate, resized
from ntm.models import Model
from ntm.paper.experiment import AbilityCase
from ntm.paper.registry import experiment_of
from ntm.runs import Run, RunError, Settings
from ntm.runs.facts import validated
from ntm.runs.packaged import FOLDER, SEED, SEQUENCES, Ability, Card, facts, load, name_of
from ntm.runs.weights import write_weights
from ntm.tasks import Task


def publish(run: Run, folder: Path = FOLDER) -> Path:
    """Write the best weights of a run as a packaged network and return the file."""
    net, known = run.load_model("best")
    if not run.settings.family.capabilities.published:
        raise RunError(f"{run.path} trains a baseline; only an NTM can be published.")
    settings = with_fair_bits(run.settings)
    bits = evaluate(net, settings.task, SEQUENCES, SEED).mean_bits
    if not math.isfinite(bits):
        raise RunError(f"{run.path} costs {bits} bits per sequence; publish another run.")
    trained, costs = known["sequences"], (known["validation_bits"], bits)
    return _write(net, Card(settings, trained, *costs, made_by=made_by(run)), folder)


def with_fair_bits(settings: Settings) -> Settings:
    """Return settings whose task draws random bits only, as in the paper."""
    if not getattr(settings.task, "structured", 0.0):
        return settings
    return settings.with_(task={"structured": 0.0})


def made_by(run: Run) -> str:
    """Return the commands that train a network, from its first random weights on."""
    command: str = later("ntm.report.groups:command_of")(run.settings)
    first = run.settings.training.start_from
    return command if first is None else f"{made_by(Run(first))} && {command}"


def measure_again(name: str, folder: Path = FOLDER) -> Path:
    """Write a new card for a network that comes with the package, and keep its weights."""
    return _write(load(name), facts(name), folder)


def _write(net: Model, card: Card, folder: Path) -> Path:
    file = folder / f"{name_of(card.settings)}.safetensors"
    measured = card._replace(abilities=tuple(measure(net, card.settings.task)))
    write_weights(file, net.state_dict(), measured.to_json())
    return file


def publish_best(runs: Iterable[Run], folder: Path = FOLDER) -> list[Path]:
    """Publish the run of each NTM with the lowest validation cost.

    The validation cost includes the cost beyond the trained range, if the run measured it.
    """
    chosen: dict[str, tuple[float, Run]] = {}
    for run in runs:
        if not run.settings.family.capabilities.published:
            continue
        known = run.load_model("best")[1]
        name, bits = name_of(run.settings), validated(known)
        if bits is not None and (name not in chosen or bits < chosen[name][0]):
            chosen[name] = bits, run
    return [publish(run, folder) for _, run in chosen.values()]


def measure(net: Model, task: Task) -> list[Ability]:
    """Measure a network within and beyond the range of its task."""
    cases = (AbilityCase(sequences=SEQUENCES), *experiment_of(task.name).abilities)
    return [_ability(net, task, case) for case in cases]


def _ability(trained: Model, task: Task, case: AbilityCase) -> Ability:
    net: Any = resized(trained, case.memory_locations)
    found = evaluate(net, task.at(**case.at), case.sequences, SEED, batch_size=20)
    above = found.bits_above_optimal
    bits = found.mean_bits if above is None else above
    locations = net.config.memory_locations
    return Ability(dict(case.at), locations, case.sequences, bits, found.perfect)


if __name__ == "__main__":
    for path in publish_best(map(Run, sys.argv[1:])):
        print(path)

"""Publish a run as a network of the package: measure it, and write its weights and its card.

python -m ntm.paper.publishing RUN... publishes the best of these runs for each network.
"""

import json
import math
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from safetensors import torch as safetensors

from ntm.common.files import write_atomically
from ntm.evaluation import enlarged, evaluate
from ntm.models import Model
from ntm.paper.experiment import AbilityCase
from ntm.paper.registry import experiment_of
from ntm.pretrained import FOLDER, SEED, SEQUENCES, Ability, facts, load, name_of
from ntm.runs import Run, RunError, Settings
from ntm.runs.facts import validated
from ntm.runs.formats import FORMAT
from ntm.tasks import Task


def publish(run: Run, folder: Path = FOLDER) -> Path:
    """Write the best weights of a run as a pretrained network and return the file."""
    net, known = run.load_model("best")
    if not run.settings.family.has_memory:
        raise RunError(f"{run.path} trains a baseline; only an NTM can be published.")
    bits = evaluate(net, run.settings.task, SEQUENCES, SEED).mean_bits
    if not math.isfinite(bits):
        raise RunError(f"{run.path} costs {bits} bits per sequence; publish another run.")
    values: dict[str, Any] = {
        "settings": run.settings.to_json(),
        "trained_sequences": known["sequences"],
        "validation_bits": known["validation_bits"],
        "mean_bits": bits,
    }
    return _write(net, run.settings, values, folder)


def measure_again(name: str, folder: Path = FOLDER) -> Path:
    """Write a new card for a network that comes with the package, and keep its weights."""
    known = facts(name)
    values = {**known._asdict(), "settings": known.settings.to_json()}
    return _write(load(name), known.settings, values, folder)


def _write(net: Model, settings: Settings, values: dict[str, Any], folder: Path) -> Path:
    values["format"] = FORMAT
    values["abilities"] = [ability._asdict() for ability in measure(net, settings.task)]
    content = safetensors.save(net.state_dict(), metadata={"ntm": json.dumps(values)})
    file = folder / f"{name_of(settings)}.safetensors"
    write_atomically(file, content)
    return file


def publish_best(runs: Iterable[Run], folder: Path = FOLDER) -> list[Path]:
    """Publish the run of each NTM with the lowest validation cost.

    The validation cost includes the cost beyond the trained range, if the run measured it.
    """
    chosen: dict[str, tuple[float, Run]] = {}
    for run in runs:
        if not run.settings.family.has_memory:
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
    net: Any = enlarged(trained, case.memory_locations)
    found = evaluate(net, task.at(**case.at), case.sequences, SEED, batch_size=20)
    above = found.bits_above_optimal
    bits = found.mean_bits if above is None else above
    locations = net.config.memory_locations
    return Ability(dict(case.at), locations, case.sequences, bits, found.perfect)


if __name__ == "__main__":
    for path in publish_best(map(Run, sys.argv[1:])):
        print(path)

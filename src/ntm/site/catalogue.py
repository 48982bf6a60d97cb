"""The catalogue: all tasks, models and networks that the page shows, as plain data.

tasks       by name: the texts of the experiment, and
    axes                names of the sizes of a problem, such as length
    smallest            smallest useful size along each axis
    defaults            the task's settings
    parts               parts of a drawn problem; see ntm.tasks.problems
    channels            names of the channels for every choice of options, for vectors of one bit
    readable_bits       smallest cost that can be read off the paper's learning curves
models      title and colours by name
networks    packaged and untrained networks; for each
    task_settings       settings of the task on which the network was trained
    config              sizes of the network
    file                file with the weights, or null
baselines   networks for comparison, in the form of `networks`; the page does not list them
training    settings for training, by task, model and section
streams     seed of the first block of each random stream, by seed of the run; see ntm.runs.stream
limits      largest problems and memories that are shown
"""

from dataclasses import asdict, fields
from itertools import product
from typing import Any

from ntm import pretrained
from ntm.models import MODELS
from ntm.paper import paper_settings, settings_for
from ntm.paper.baseline import FILE, as_ntm, baseline, baseline_settings
from ntm.runs import Settings
from ntm.runs.settings import SECTIONS
from ntm.runs.stream import stream_start
from ntm.studio import guide, networks, problems
from ntm.studio.curves import readable_bits
from ntm.tasks import TASKS, Task, make_task

_SEEDS = range(1, 33)


def catalogue() -> dict[str, Any]:
    """Return the catalogue, as the module describes it."""
    known, packaged = guide.to_json(), _packaged()
    tasks = list(dict.fromkeys(network["task"] for network in packaged))
    return {
        "tasks": {
            task: known["tasks"][task]
            | task_facts(make_task(task))
            | {"readable_bits": readable_bits(task)}
            for task in tasks
        },
        "models": known["models"],
        "networks": [*packaged, *map(_untrained, tasks)],
        "baselines": [_baseline()],
        "training": {task: _training(task) for task in tasks},
        "streams": {
            name: {seed: stream_start(name, seed) for seed in _SEEDS}
            for name in ("weights", "training")
        },
        "limits": {
            "max_steps": problems.MAX_STEPS,
            "max_cells": problems.MAX_CELLS,
            "max_locations": networks.MAX_LOCATIONS,
            "max_values": networks.MAX_VALUES,
        },
    }


def task_facts(task: Task) -> dict[str, Any]:
    """Return the facts that come from the task's class: axes, settings, parts and channels."""
    return {
        "axes": task.axes,
        "smallest": {axis: task.smallest(axis) for axis in task.axes},
        "defaults": asdict(task),
        "parts": [asdict(part) for part in task.parts],
        "channels": _channels(type(task)),
    }


def _channels(task: type[Task]) -> list[dict[str, Any]]:
    """Return the names of the channels for every choice of options, for vectors of one bit."""
    choices = {f.name: _choices(f) for f in fields(task)}
    options = {name: values for name, values in choices.items() if values}
    one_bit = {"bits": 1} if "bits" in choices else {}
    named = []
    for values in product(*options.values()):
        chosen = dict(zip(options, values, strict=True))
        made = task(**one_bit, **chosen)
        channels = {"inputs": made.input_channels, "outputs": made.output_channels}
        named.append({"options": chosen, **channels})
    return named


def _choices(setting: Any) -> tuple[Any, ...]:
    """Return all values of a flag or of a setting with a list of choices; else ()."""
    if isinstance(setting.default, bool):
        return (False, True)
    return tuple(setting.metadata.get("choices", ()))


def _packaged() -> list[dict[str, Any]]:
    """Return the packaged networks, in the order of their tasks."""
    tasks = list(TASKS)
    cards = {name: pretrained.facts(name) for name in pretrained.names()}
    return sorted(
        (
            _network(f"pretrained:{name}", name, known.settings)
            | {"sequences": known.trained_sequences, "bits": known.mean_bits}
            | {"file": f"{name}.safetensors"}
            for name, known in cards.items()
        ),
        key=lambda network: tasks.index(network["task"]),
    )


def _untrained(task: str) -> dict[str, Any]:
    network = _network(f"untrained:{task}", f"{task}, untrained", paper_settings(task))
    return network | {"sequences": 0, "bits": None, "file": None}


def _baseline() -> dict[str, Any]:
    """Return the entry of an LSTM trained to copy, in the form of an NTM for the page's engine."""
    lstm, facts = baseline()
    network = _network("baseline:copy", "LSTM", baseline_settings())
    del network["initialisation"]  # it has weights
    return network | {
        "config": asdict(as_ntm(lstm).config),
        "sequences": facts["sequences"],
        "bits": facts["validation_bits"],
        "file": FILE.name,
    }


def _network(network_id: str, title: str, settings: Settings) -> dict[str, Any]:
    return {
        "id": network_id,
        "title": title,
        "task": settings.task.name,
        "task_settings": asdict(settings.task),
        "model": settings.model_name,
        "config": asdict(settings.model),
        "initialisation": asdict(settings.initialisation),
    }


def _training(task: str) -> dict[str, Any]:
    """Return the settings of `ntm train` for a task, for each model that trains in the browser."""
    families = (name for name, family in MODELS.items() if family.capabilities.browser)
    settings = {model: settings_for(task, model) for model in families}
    return {
        model: {section: asdict(getattr(chosen, section)) for section in SECTIONS}
        for model, chosen in settings.items()
    }

"""Settings from experiments: the paper's three tables, its protocol, and ours.

The paper's parameter counts imply other input and output widths, and more shifts, than its text
describes. `paper_tables` uses the widths of the counts, so that sizes can be compared.
`paper_settings` uses the widths of the text: each task's default encoding and three shifts.

`settings_for` returns the settings of `ntm train`: the same networks with our training protocol.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import torch

from ntm.common.fields import check_value
from ntm.models import MODELS, family
from ntm.models.family import ModelConfig
from ntm.paper.experiment import Changes, Experiment, Plan, Widths
from ntm.paper.registry import experiment_of, experiments
from ntm.runs import OptimiserSettings, Settings, TrainingSettings
from ntm.tasks import TASKS, Task

_QUICK_REPORTS = 20
ON_COUNTS = """
Counted at the widths that the paper's counts imply (copy: 10 inputs, 9 outputs; repeat copy: 8, 7;
recall: 8, 6; n-grams: 1, 1; sort: 10, 8), with seven shifts, four for n-grams. The LSTMs match to
the parameter, except for sort: the paper's 384,424 is most likely 348,424 with two digits swapped.
The paper does not give enough detail to count its NTMs exactly."""
# Settings for most tasks and models. There is only one start: several starts are compared beyond
# the trained range, and a task may have no axis for the comparison.
_ANYWHERE: Changes = {
    "training": {"sequences": 20_000, "validate_every": 2_000},
    "optimiser": {"backward_clip": 1.0},
}


@dataclass(frozen=True)
class PaperNetwork:
    """Row of one of the paper's tables."""

    task: str
    model: str
    config: ModelConfig
    """Sizes, with the widths and shifts that the printed parameter count implies."""
    learning_rate: float
    parameters: int
    """Parameter count printed in the paper."""


def paper_tables() -> list[PaperNetwork]:
    """Return the rows of the paper's three tables: one table per model, one row per task."""
    return [
        PaperNetwork(
            experiment.task,
            model,
            _config(model, plan, experiment.widths),
            plan.learning_rate,
            plan.parameters,
        )
        for model in MODELS
        for experiment in experiments()
        if (plan := experiment.networks.get(model)) and plan.parameters and experiment.widths
    ]


def paper_network(task: str, model: str) -> PaperNetwork | None:
    """Return the row for a task and a model, or None if the paper has none."""
    rows = (row for row in paper_tables() if (row.task, row.model) == (task, model))
    return next(rows, None)


def paper_settings(task: str | Task, model: str = "ntm-ff") -> Settings:
    """Return the paper's settings for a task and a model; for other tasks, copy's settings.

    The initialisation is ours, because the paper does not give one.
    """
    return _settings(task, model)[0]


def settings_for(task: str | Task, model: str = "ntm-ff") -> Settings:
    """Return the settings of `ntm train` for a task and a model."""
    settings, plan = _settings(task, model)
    return settings.with_(**plan.tuned)


def select(
    tasks: Iterable[str] | None = None, models: Iterable[str] | None = None
) -> list[tuple[str, str]]:
    """Return pairs of task and model in the order of the experiments.

    tasks: names of tasks (None: every task with an experiment).
    models: names of models (None: all).
    """
    known = [experiment.task for experiment in experiments()]
    chosen = known if tasks is None else [TASKS.find(task).name for task in tasks]
    kinds = list(MODELS) if models is None else [family(model).name for model in models]
    ordered = dict.fromkeys([*known, *chosen])
    return [(task, kind) for task in ordered if task in chosen for kind in MODELS if kind in kinds]


def full_runs(
    networks: Iterable[tuple[str, str]], seeds: int = 1, first_seed: int = 0
) -> list[Settings]:
    """Return the settings of `ntm train` for these tasks and models, one per seed.

    seeds: number of seeds, counted from `first_seed`.
    """
    check_value("seeds", seeds, int, {"at_least": 1})
    return [
        settings_for(*network).with_(training={"seed": seed})
        for network in networks
        for seed in range(first_seed, first_seed + seeds)
    ]


def quick_runs(
    networks: Iterable[tuple[str, str]], seeds: int = 1, first_seed: int = 0
) -> list[Settings]:
    """Return short versions of `full_runs`: minutes in all, too short for the paper's results."""
    full = full_runs(networks, seeds, first_seed)
    return [settings.with_(training=_quick(settings)) for settings in full]


def _quick(settings: Settings) -> dict[str, Any]:
    plan = _plan(experiment_of(settings.task.name), settings.model_name)
    return {
        "sequences": plan.quick,
        "batch_size": plan.quick_batch,
        "starts": 1,
        "report_every": plan.quick // _QUICK_REPORTS,
        "validate_every": plan.quick // 4,
        "checkpoint_seconds": 10.0,
    }


def _settings(task: str | Task, model: str) -> tuple[Settings, Plan]:
    if isinstance(task, str):
        task = TASKS.find(task)()
    model = family(model).name
    experiment = experiment_of(task.name)
    plan = _plan(experiment, model)
    config = _config(model, plan, Widths(task.input_size, task.output_size, (-1, 0, 1)))
    rate = OptimiserSettings(learning_rate=plan.learning_rate)
    training = TrainingSettings(sequences=experiment.sequences)
    settings = Settings(task, config, rate, training, model_name=model)
    return settings.with_(initialisation=plan.start), plan


def _plan(experiment: Experiment, model: str) -> Plan:
    """Return the experiment's plan for a model; if it has none, copy's with general settings."""
    if model in experiment.networks:
        return experiment.networks[model]
    known = experiments()[0].networks
    tuned = _ANYWHERE if family(model).capabilities.tuned else {}
    return replace(known.get(model, Plan()), tuned=tuned)


def _config(model: str, plan: Plan, widths: Widths) -> ModelConfig:
    kind = family(model)
    shifts = {"shifts": widths.shifts} if hasattr(kind.config, "shifts") else {}
    return kind.config(widths.inputs, widths.outputs, **kind.fixed, **plan.sizes, **shifts)


def parameter_counts() -> list[dict[str, Any]]:
    """Return a row per network of the paper's tables: the printed count and ours."""
    rows = []
    with torch.device("meta"):  # counting needs no initialised weights
        for network in paper_tables():
            kind = family(network.model)
            model = kind.build(network.config, kind.initialisation(), "auto")
            ours = sum(parameter.numel() for parameter in model.parameters())
            names = {"task": network.task, "model": network.model}
            counts = {"paper": network.parameters, "ours": ours}
            rows.append(names | counts | {"difference": ours - network.parameters})
    return rows

"""Groups of runs that differ only in the seed, in the paper's order, and their commands."""

import itertools
import shlex
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from ntm.common.fields import as_text
from ntm.models import MODELS
from ntm.paper import Experiment, experiment_of, experiments, paper_settings, settings_for
from ntm.report.records import RunRecord
from ntm.runs import FolderError, Settings

# These settings change only the choice of the stored weights and the resolution of the curve.
_BOOKKEEPING = {
    f"training.{name}"
    for name in (
        *("engine", "device", "threads", "report_every", "validate_every"),
        *("validation_sequences", "checkpoint_seconds", "picture_seconds", "stop_after_seconds"),
    )
}
_OPTIONS = {
    "training.seed": "--seed",
    "training.sequences": "--sequences",
    "training.batch_size": "--batch-size",
}


class SeedGroup(NamedTuple):
    """Runs whose settings are equal except for the seed, in the order of their seeds."""

    records: Sequence[RunRecord]

    @property
    def settings(self) -> Settings:
        """Settings of the runs, with the seed of the first run."""
        return self.records[0].settings

    @property
    def task(self) -> str:
        """Name of the task."""
        return self.records[0].task

    @property
    def model(self) -> str:
        """Name of the model, as on the command line."""
        return self.records[0].model

    @property
    def name(self) -> str:
        """Title of the network, with the settings that differ from the defaults of `ntm train`."""
        base, words = _nearest(self.settings)
        changes = departures(self.settings, base)
        listed = ", ".join(f"{key.partition('.')[2]} {value}" for key, value in changes.items())
        return "; ".join(part for part in (self.settings.family.title, words, listed) if part)

    @property
    def seeds(self) -> str:
        """Seeds as text, such as "0 to 9" or "0, 2, 5"."""
        seeds = [record.seed for record in self.records]
        if len(seeds) > 1 and seeds == list(range(seeds[0], seeds[-1] + 1)):
            return f"{seeds[0]} to {seeds[-1]}"
        return ", ".join(map(str, seeds))

    @property
    def command(self) -> str:
        """Command that trains a run of this group; the letter S stands for the seed."""
        return command_of(self.settings, "S")


def command_of(settings: Settings, seed: str | None = None) -> str:
    """Return the command that trains a run with these settings.

    seed: seed to use in the command (None: the seed of the settings).
    """
    base, words = _nearest(settings)
    seed = seed or str(settings.training.seed)
    changes = changed_settings(settings, base) | {"training.seed": seed}
    options = ["--paper"] if words else []
    options += [f"{_OPTIONS[key]} {changes[key]}" for key in _OPTIONS if key in changes]
    others = [f"{key}={value}" for key, value in changes.items() if key not in _OPTIONS]
    options += [f"--set {shlex.quote(change)}" for change in others]
    return " ".join([f"ntm train {settings.task.name} --model {settings.model_name}", *options])


def grouped(records: Iterable[RunRecord], task: str) -> list[SeedGroup]:
    """Return the groups of a task, ordered by model and by number of changed settings."""
    found: dict[str, list[RunRecord]] = {}
    for record in records:
        if record.task == task:
            found.setdefault(_without_seed(record.settings), []).append(record)
    for some in found.values():
        some.sort(key=lambda record: record.seed)
        _require_different_seeds(some)
    ordered = sorted(found.values(), key=lambda some: _order(some[0]))
    return [SeedGroup(some) for some in ordered]


def by_experiment(records: Sequence[RunRecord]) -> list[tuple[Experiment, list[SeedGroup]]]:
    """Return the groups of every experiment with runs; the paper's experiments come first."""
    tasks = dict.fromkeys([*(e.task for e in experiments()), *(r.task for r in records)])
    found = [(experiment_of(task), grouped(records, task)) for task in tasks]
    return [(experiment, groups) for experiment, groups in found if groups]


def changed_settings(settings: Settings, base: Settings) -> dict[str, str]:
    """Return the settings that differ from `base`, as typed on the command line."""
    ours, theirs = settings.flat(), base.flat()
    unseen = {"training.checkpoint_seconds", "training.picture_seconds"}
    return {
        key: as_text(value)
        for key, value in ours.items()
        if value != theirs[key] and key not in unseen
    }


def departures(settings: Settings, base: Settings) -> dict[str, str]:
    """Return the settings that differ from `base` and may change the learned weights."""
    harmless = {*_BOOKKEEPING, "training.seed", "training.sequences"}
    return {k: v for k, v in changed_settings(settings, base).items() if k not in harmless}


def paper_departures(settings: Settings) -> dict[str, str]:
    """Return the settings that differ from the paper's and may change the learned weights."""
    return departures(settings, paper_settings(*settings.network))


def _nearest(settings: Settings) -> tuple[Settings, str]:
    """Return the defaults nearest to the settings, ours or the paper's, and words ("" for ours)."""
    ours, paper = settings_for(*settings.network), paper_settings(*settings.network)
    if len(departures(settings, paper)) < len(departures(settings, ours)):
        return paper, "the paper's protocol"
    return ours, ""


def _without_seed(settings: Settings) -> str:
    left_out = {*_BOOKKEEPING, "training.seed"}
    return repr([pair for pair in settings.flat().items() if pair[0] not in left_out])


def _order(record: RunRecord) -> tuple[Any, ...]:
    changes = departures(record.settings, _nearest(record.settings)[0])
    return list(MODELS).index(record.model), len(changes), str(changes), record.sequences


def _require_different_seeds(records: Sequence[RunRecord]) -> None:
    for one, other in itertools.pairwise(records):
        if one.seed == other.seed:
            raise FolderError(
                f"{one.name} and {other.name} are the same run with seed {one.seed}; "
                f"delete one of them."
            )

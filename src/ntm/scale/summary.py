"""Summary of many runs: median and range over the seeds of each combination of settings."""

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from ntm.common.text import spread
from ntm.runs import Settings
from ntm.scale.jobs import Outcome, State


class Spread(NamedTuple):
    """Median and range of numbers."""

    median: float
    lowest: float
    highest: float

    @classmethod
    def of(cls, values: Iterable[float | None]) -> "Spread | None":
        """Return the spread of the values that are not None; None if there are none."""
        known = [value for value in values if value is not None]
        return cls(statistics.median(known), min(known), max(known)) if known else None

    def __str__(self) -> str:
        return spread(self, lambda value: f"{value:.2f}" if value >= 1 else f"{value:.3g}")


@dataclass(frozen=True)
class Group:
    """Runs that differ only in their seed."""

    task: str
    model: str
    settings: Mapping[str, Any]
    """Settings that differ from other groups with this task and model: section.key and value."""
    outcomes: tuple[Outcome, ...]

    @property
    def finished(self) -> list[Outcome]:
        """Runs that finished."""
        return [outcome for outcome in self.outcomes if outcome.state == "finished"]

    @property
    def bits(self) -> Spread | None:
        """Spread of the cost per sequence in the last reports of the finished runs."""
        return Spread.of(outcome.bits for outcome in self.finished)

    @property
    def best_bits(self) -> Spread | None:
        """Spread of the lowest validation costs of finished runs, with the cost at `beyond`."""
        return Spread.of(outcome.best_bits for outcome in self.finished)

    @property
    def beyond(self) -> str:
        """Sizes whose cost is added to every validation, such as length=120; empty for none."""
        return self.outcomes[0].job.settings.training.validate_beyond

    def to_json(self) -> dict[str, Any]:
        """Return the group as plain data."""
        numbers = {"bits": self.bits, "best_bits": self.best_bits}
        return {
            "task": self.task,
            "model": self.model,
            "settings": dict(self.settings),
            "seeds": len(self.outcomes),
            "finished": len(self.finished),
            "validate_beyond": self.beyond,
            **{name: values and values._asdict() for name, values in numbers.items()},
        }


@dataclass(frozen=True)
class Summary:
    """All groups and all runs of a sweep."""

    groups: tuple[Group, ...]
    outcomes: tuple[Outcome, ...]

    def ended(self, state: State) -> list[Outcome]:
        """Return the runs that ended in this state."""
        return [outcome for outcome in self.outcomes if outcome.state == state]

    def to_json(self) -> dict[str, Any]:
        """Return the summary as plain data."""
        return {
            "groups": [group.to_json() for group in self.groups],
            "runs": [outcome.to_json() for outcome in self.outcomes],
        }


def summarise(outcomes: Iterable[Outcome]) -> Summary:
    """Group outcomes that differ only in their seed, in the order of their first appearance."""
    outcomes = tuple(outcomes)
    groups: dict[Settings, list[Outcome]] = {}
    for outcome in outcomes:
        groups.setdefault(_without_seed(outcome.job.settings), []).append(outcome)
    differing = _differing(list(groups))
    return Summary(
        tuple(
            Group(*settings.network, differing[settings], tuple(members))
            for settings, members in groups.items()
        ),
        outcomes,
    )


def _without_seed(settings: Settings) -> Settings:
    return replace(settings, training=replace(settings.training, seed=0))


def _differing(groups: Sequence[Settings]) -> dict[Settings, dict[str, Any]]:
    """Return, for each group, the settings that differ between groups of its task and model."""
    flat = {settings: settings.flat() for settings in groups}
    shown = {}
    for settings, values in flat.items():
        kin = [other for s, other in flat.items() if s.network == settings.network]
        shown[settings] = {
            key: value
            for key, value in values.items()
            if any(other.get(key) != value for other in kin)
        }
    return shown

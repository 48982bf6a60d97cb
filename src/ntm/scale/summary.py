"""Summary of many runs: median and range over the seeds of each combination of settings."""

import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TextIO

from ntm.common.fields import as_text
from ntm.common.text import spread
from ntm.runs import Settings
from ntm.scale.jobs import JobState, Outcome
from ntm.terminal.table import Table


class Spread(NamedTuple):
    """Median and range of numbers."""

    median: float
    lowest: float
    highest: float

    @classmethod
    def of(cls, values: Iterable[float | None]) -> "Spread | None":
        """Return the spread of the values, ignoring None; None if no value is left."""
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
        """Spread of the finished runs' lowest validation costs, including the cost at `beyond`."""
        return Spread.of(outcome.best_bits for outcome in self.finished)

    @property
    def beyond(self) -> str:
        """Sizes whose cost is added to the validation cost, such as length=120; empty if none."""
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

    def ended(self, state: JobState) -> list[Outcome]:
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
    found = zip(groups, differing, groups.values(), strict=True)
    return Summary(
        tuple(Group(*settings.network, own, tuple(some)) for settings, own, some in found), outcomes
    )


def _without_seed(settings: Settings) -> Settings:
    return replace(settings, training=replace(settings.training, seed=0))


def _differing(groups: Sequence[Settings]) -> Iterator[dict[str, Any]]:
    """Yield, for each group, the settings that differ between groups of its task and model."""
    flat = [(settings.network, settings.flat()) for settings in groups]
    for network, values in flat:
        kin = [other for their, other in flat if their == network]
        yield {k: v for k, v in values.items() if any(other.get(k) != v for other in kin)}


def print_summary(summary: Summary, stream: TextIO) -> None:
    """Print the median and range of every group, and the runs that did not finish."""
    # Validation costs with and without the cost at a larger size cannot be compared.
    mixed = any(group.beyond for group in summary.groups)
    Table.of([_row(group, mixed) for group in summary.groups], texts=4).print(stream)
    for outcome in summary.ended("failed"):
        at = f"{outcome.job.name} failed at {outcome.sequences:,} sequences."
        print(at, outcome.reason, file=stream)
    if left := summary.ended("interrupted"):
        count = f"{len(left)} of {len(summary.outcomes)}"
        print(f"{count} runs were interrupted; the same command resumes them.", file=stream)


def _row(group: Group, mixed: bool) -> dict[str, str]:
    settings = [f"{key.partition('.')[2]}={as_text(v)}" for key, v in group.settings.items()]
    return {
        "task": group.task,
        "model": group.model,
        "settings": ", ".join(settings),
        "finished": f"{len(group.finished)} of {len(group.outcomes)}",
        "bits at the end": str(group.bits or "-"),
        "best validation": str(group.best_bits or "-"),
        **({"with the cost at": group.beyond or "-"} if mixed else {}),
    }

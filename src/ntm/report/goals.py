"""What is aimed at: for most tasks, clearly better than the paper. Every run counts."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from ntm.paper.published import bits_text
from ntm.report.groups import Group, grouped
from ntm.report.measure import TRAINED_RANGE, Axes, case_name
from ntm.report.records import Record
from ntm.report.table import Table
from ntm.report.tables import (
    TITLES,
    Threshold,
    cost,
    needed,
    percent,
    share,
    spread,
)

NTMS = ("ntm-ff", "ntm-lstm")
LONG_COPY: Axes = {"length": 120}
LONG_REPEAT: Axes = {"length": 20, "repeats": 10}

Reached = Callable[[Record], bool]


class Goal(NamedTuple):
    """Something that a run reaches or does not."""

    task: str
    model: str
    at: Axes
    text: str
    reached: Reached
    perfect: bool = False
    """It is about the share of sequences without a wrong bit, not about bits."""


def _trained_goal(task: str, model: str, bits: float, within: int | None = None) -> Goal:
    """Fresh sequences of the trained range cost less than that, soon enough."""
    above = " above the optimum" if task == "ngrams" else ""
    text = f"below {bits:g} bit{'' if bits == 1 else 's'}{above}" + (
        f" within {within:,} sequences" if within else ""
    )
    return Goal(task, model, TRAINED_RANGE, text, lambda record: _is_below(record, bits, within))


def _is_below(record: Record, bits: float, within: int | None) -> bool:
    """In the evaluation; or, by a time that weights were not kept of, in the learning curve."""
    if within is None or record.best_at <= within:
        return cost(record) < bits
    first = needed(record, Threshold(bits))
    return first is not None and first <= within


def _recall_goal(items: int, bits: float) -> Goal:
    at = {"items": items}
    text = f"at most the paper's {bits:g} bits"
    reached: Reached = lambda record: cost(record, at) <= bits  # noqa: E731
    return Goal("associative-recall", "ntm-ff", at, text, reached)


def _long_repeats(record: Record) -> bool:
    return cost(record, LONG_REPEAT) < 1


def _perfect(least: float) -> Reached:
    return lambda record: share(record, LONG_COPY) >= least


GOALS: tuple[Goal, ...] = (
    *(_trained_goal("copy", model, 0.01, within=20_000) for model in NTMS),
    *(
        Goal("copy", model, LONG_COPY, "99 % or more without a wrong bit", _perfect(0.99), True)
        for model in NTMS
    ),
    *(_trained_goal("repeat-copy", model, 0.1, within=200_000) for model in NTMS),
    *(Goal("repeat-copy", model, LONG_REPEAT, "below 1 bit", _long_repeats) for model in NTMS),
    _trained_goal("associative-recall", "ntm-ff", 0.01, within=50_000),
    _trained_goal("associative-recall", "ntm-lstm", 0.01),
    *(_recall_goal(items, bits) for items, bits in ((10, 0.14), (15, 1.47), (20, 8.0))),
    *(_trained_goal("ngrams", model, 1.0) for model in NTMS),
    *(_trained_goal("priority-sort", model, 15.0) for model in NTMS),
)


def goals_table(records: Sequence[Record]) -> Table:
    """What was aimed at, and by how many seeds it is reached."""
    rows = [
        (
            f"{TITLES[goal.task]}, {case_name(goal.at)}",
            goal.text,
            group.name,
            _goal_value(goal, group),
            f"{sum(map(goal.reached, group.records))} of {len(group.records)}",
        )
        for goal in GOALS
        for group in grouped(records, goal.task)
        if group.model == goal.model
    ]
    header = ("task", "goal", "network", "here: median (range)", "reached by seeds")
    return Table("", header, rows, texts=3, note="Best weights of every run; no seed is left out.")


def _goal_value(goal: Goal, group: Group) -> str:
    if goal.perfect:
        return spread([share(record, goal.at) for record in group.records], percent)
    return spread([cost(record, goal.at) for record in group.records], bits_text)

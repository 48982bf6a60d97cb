"""Goals of the experiments, and the number of runs that reach them. Every run counts."""

from collections.abc import Sequence

from ntm.common.text import percent, spread
from ntm.paper.experiment import Goal
from ntm.report.groups import SeedGroup, by_experiment
from ntm.report.records import Record
from ntm.report.tables import above_optimum, cost, costs_text, needed, share
from ntm.tasks.cases import TRAINED_RANGE, case_name
from ntm.terminal.table import Table


def goals_table(records: Sequence[Record]) -> Table:
    """Return every goal and the number of seeds that reach it."""
    rows = [
        (
            f"{experiment.title}, {case_name(goal.at)}",
            _in_words(goal, above_optimum(groups)),
            group.name,
            _value(goal, group),
            f"{sum(reaches(goal, record) for record in group.records)} of {len(group.records)}",
        )
        for experiment, groups in by_experiment(records)
        for goal in experiment.goals
        for model in goal.models
        for group in groups
        if group.model == model
    ]
    header = ("task", "goal", "network", "here: median (range)", "reached by seeds")
    return Table("", header, rows, texts=3, note="Best weights of every run; no seed is left out.")


def reaches(goal: Goal, record: Record) -> bool:
    """Return whether a run reaches a goal."""
    if goal.perfect is not None:
        return share(record, goal.at) >= goal.perfect
    if goal.published is not None:
        return cost(record, goal.at) <= goal.published
    assert goal.below is not None
    if goal.within is None or record.best_at <= goal.within:
        return cost(record, goal.at) < goal.below
    # The weights of that moment were not stored, so the learning curve decides.
    first = needed(record, goal.below)
    return first is not None and first <= goal.within


def _in_words(goal: Goal, above: str) -> str:
    if goal.perfect is not None:
        return f"{percent(goal.perfect)} or more without a wrong bit"
    if goal.published is not None:
        return f"at most the paper's {goal.published:g} bits"
    bits = f"below {goal.below:g} bit{'' if goal.below == 1 else 's'}"
    within = f" within {goal.within:,} sequences" if goal.within else ""
    return f"{bits}{above if goal.at == TRAINED_RANGE else ''}{within}"


def _value(goal: Goal, group: SeedGroup) -> str:
    if goal.perfect is None:
        return costs_text(group, goal.at)
    return spread([share(record, goal.at) for record in group.records], percent)

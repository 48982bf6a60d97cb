"""Tables made from records: the paper's numbers, and our costs and times over all seeds."""

import statistics
from collections.abc import Iterable, Sequence
from importlib import resources

from ntm.common.text import bits_text, duration, percent, spread, sure
from ntm.evaluation.curves import first_below
from ntm.paper import experiment_of, paper_network, published
from ntm.paper.experiment import Experiment, Goal
from ntm.paper.verdicts import goal_in_words, meets
from ntm.report.groups import SeedGroup, by_experiment, paper_departures
from ntm.report.records import RunRecord
from ntm.tasks.cases import TRAINED_RANGE, Case, case_name
from ntm.terminal.table import COMMAND, Table

HOW_TO_READ = (resources.files("ntm.report") / "templates/how-to-read.md").read_text().rstrip()
_GOALS_NOTE = (
    "Best weights of every run; no seed is left out. In brackets: Wilson's 95 % interval for the "
    "share of all seeds that reach the goal. Few seeds tell little: 3 of 3 leaves 44 to 100 %."
)


def how_measured(records: Iterable[RunRecord]) -> str:
    """Return a sentence that says over how many sequences each cost is averaged."""
    counts = sorted({int(record.at(TRAINED_RANGE)["sequences"]) for record in records})
    some = " to ".join(f"{count:,}" for count in dict.fromkeys((counts[0], counts[-1])))
    return f"Each cost is the mean over {some} fresh sequences, the same ones for every run."


def cost(record: RunRecord, at: Case = TRAINED_RANGE, weights: str = "best") -> float:
    """Return the mean cost in bits per sequence; if the optimum is known, the bits above it."""
    case = record.at(at, weights)
    return float(case["bits_above_optimal" if "bits_above_optimal" in case else "mean_bits"])


def share(record: RunRecord, at: Case) -> float:
    """Return the share of sequences without a wrong bit."""
    return float(record.at(at)["perfect"])


def above_optimum(groups: Sequence[SeedGroup]) -> str:
    """Return " above the optimum" if the optimum of the task is known, else an empty text."""
    return " above the optimum" if groups[0].settings.task.optimum is not None else ""


def needed(record: RunRecord, bits: float, window: int = 1000) -> int | None:
    """Return the number of sequences until the learning curve is first below a cost, or None.

    window: number of sequences over which the cost is averaged.
    """
    curve, optimum = record.curve, record.settings.task.optimum or 0.0
    return first_below(curve.sequences, curve.bits - optimum, bits, window)


def trained_range_table(experiment: Experiment, groups: Sequence[SeedGroup]) -> Table:
    """Return a table of costs on the trained range, with number of sequences and time."""
    note = (
        f"Bits per sequence{above_optimum(groups)}. Solved: the number of seeds whose best weights "
        f"reach the goal of the trained range, after any number of sequences. "
        f"Sequences to below {experiment.threshold:g}: "
        f"until the mean cost of {experiment.window:,} training sequences is first lower; later "
        f"rises are ignored."
    )
    return Table.of([_trained_range_row(experiment, group) for group in groups], texts=2, note=note)


def _trained_range_row(experiment: Experiment, group: SeedGroup) -> dict[str, str]:
    task, model, records = group.task, group.model, group.records
    seen = [record.sequences for record in records]
    return {
        "network": group.name,
        "seeds": group.seeds,
        "the paper": known(published.final_cost(task, model)),
        "best weights": costs_text(group),
        "solved (95 % interval)": solved(experiment, group),
        "latest weights": costs_text(group, weights="latest"),
        f"sequences to below {experiment.threshold:g}": _needed(experiment, records),
        "in the paper": _needed_in_the_paper(experiment, model),
        "sequences seen": spread(seen, lambda count: f"{int(count):,}"),
        "the paper there": known(published.cost_at(task, model, round(statistics.median(seen)))),
        "time per run": spread([record.seconds for record in records], duration),
        COMMAND: f"`{group.command}`",
    }


def solved(experiment: Experiment, group: SeedGroup) -> str:
    """Return how many seeds solve the task, with the 95 % interval; empty if there is no goal."""
    for goal in experiment.goals:
        if group.model in goal.models and goal.at == TRAINED_RANGE:
            costs = [(cost(record), share(record, TRAINED_RANGE)) for record in group.records]
            return sure(sum(meets(goal, *found) for found in costs), len(costs))
    return ""


def beyond_table(experiment: Experiment, groups: Sequence[SeedGroup]) -> Table | None:
    """Return a table of our costs and the paper's beyond the trained range; None if empty."""
    cases = experiment.beyond
    if not cases:
        return None
    rows = []
    for group in groups:
        readings = [published.cost_of_case(group.task, group.model, case) for case in cases]
        if any(readings):
            rows.append((group.name, "bits, the paper", *map(known, readings)))
        rows.append((group.name, "bits, here", *(costs_text(group, case) for case in cases)))
        right = (spread([share(r, case) for r in group.records], percent) for case in cases)
        rows.append((group.name, "without a wrong bit, here", *right))
    return Table("", ("network", "", *map(case_name, cases)), rows, texts=2)


def costs_text(group: SeedGroup, at: Case = TRAINED_RANGE, weights: str = "best") -> str:
    """Return the costs of a group as text: the median and the range."""
    return spread([cost(record, at, weights) for record in group.records], bits_text)


def runs_table(experiment: Experiment, groups: Sequence[SeedGroup]) -> Table:
    """Return a table with a row for every run, including runs that failed to learn."""
    records = [record for group in groups for record in group.records]
    added = any(record.settings.training.validate_beyond for record in records)
    also = " (with training.validate_beyond: plus the cost beyond the range)" if added else ""
    note = f"Validation: bits per sequence. The best weights have the lowest validation cost{also}."
    if experiment.beyond:
        note += " Beyond the trained range: bits (share without a wrong bit), best weights."
    return Table.of([_run_row(record, experiment.beyond) for record in records], note=note)


def _run_row(record: RunRecord, beyond: Sequence[Case]) -> dict[str, str]:
    validation = record.validation_bits
    return {
        "run": f"`{record.name}`",
        "sequences": f"{record.sequences:,}",
        "time": duration(record.seconds),
        "validation": bits_text(validation) if validation < float("inf") else "",
        "best weights at": f"{record.best_at:,}",
        "best weights": bits_text(cost(record)),
        "latest weights": bits_text(cost(record, weights="latest")),
        **{
            case_name(at): f"{bits_text(cost(record, at))} ({percent(share(record, at))})"
            for at in beyond
        },
    }


def heads_table(group: SeedGroup) -> Table | None:
    """Return a table of findings about heads and the paper's claims; None without analyses."""
    found = [record.analysis["findings"] for record in group.records if record.analysis is not None]
    rows = [
        {
            "finding": first["name"],
            "the paper's words": f'"{first["claim"]}"' if first["claim"] else "",
            "measured": first["measures"],
            "value": spread([f["value"] for f in (first, *others)], "{:.3f}".format),
            "verdict": _verdict([f["verdict"] for f in (first, *others)]),
        }
        for first, *others in zip(*found, strict=True)
    ]
    note = "A claim holds from 0.9 and holds partly from 0.5."
    return Table.of(rows, title=group.name, texts=3, note=note) if found else None


def settings_table(groups: Iterable[SeedGroup]) -> Table:
    """Return a table of the sizes and settings of every network."""
    return Table.of([_settings_row(group) for group in groups], texts=4)


def _settings_row(group: SeedGroup) -> dict[str, str]:
    settings, printed = group.settings, paper_network(group.task, group.model)
    changes = paper_departures(settings)
    departures = ", ".join(f"`{key}={value}`" for key, value in changes.items())
    return {
        "task": experiment_of(group.task).title,
        "network": settings.family.title,
        "sizes": settings.family.sizes(settings.model),
        "departures from the paper's settings": departures or "none",
        "learning rate": f"{settings.optimiser.learning_rate:g}",
        "batch size": str(settings.training.batch_size),
        "sequences": f"{settings.training.sequences:,}",
        "parameters, the paper": f"{printed.parameters:,}" if printed else "",
        "seeds": group.seeds,
    }


def _needed_in_the_paper(experiment: Experiment, model: str) -> str:
    if published.final_cost(experiment.task, model) is None:
        return ""
    bits, window = experiment.threshold, experiment.window
    count = published.sequences_needed(experiment.task, model, bits, window)
    return "not" if count is None else f"{count:,}"


def known(reading: published.Reading | None) -> str:
    """Return a number of the paper as text; empty if the paper gives none."""
    return "" if reading is None else str(reading)


def _needed(experiment: Experiment, records: Sequence[RunRecord]) -> str:
    counts = [needed(record, experiment.threshold, experiment.window) for record in records]
    reached = [count for count in counts if count is not None]
    if not reached:
        return "not"
    text = spread(reached, lambda count: f"{int(count):,}")
    return text if len(reached) == len(counts) else f"{text}, {len(reached)} of {len(counts)} seeds"


def _verdict(verdicts: Sequence[str]) -> str:
    if len(verdicts) == 1:
        return verdicts[0]
    return f"holds in {verdicts.count('holds')} of {len(verdicts)}"


def goals_table(records: Sequence[RunRecord]) -> Table:
    """Return a table of goals, with the number of seeds that reach each goal."""
    rows = [
        (
            f"{experiment.title}, {case_name(goal.at)}",
            _goal_in_words(goal, above_optimum(groups)),
            group.name,
            _goal_value(goal, group),
            sure(sum(reaches(goal, record) for record in group.records), len(group.records)),
        )
        for experiment, groups in by_experiment(records)
        for goal in experiment.goals
        for model in goal.models
        for group in groups
        if group.model == model
    ]
    header = ("task", "goal", "network", "here: median (range)", "reached by seeds (95 % interval)")
    return Table("", header, rows, texts=3, note=_GOALS_NOTE)


def reaches(goal: Goal, record: RunRecord) -> bool:
    """Return whether a run reaches a goal."""
    bits, perfect = cost(record, goal.at), share(record, goal.at)
    if goal.within is None or goal.below is None or record.best_at <= goal.within:
        return meets(goal, bits, perfect)
    # The weights of that moment were not stored, so the learning curve decides.
    first = needed(record, goal.below)
    return first is not None and first <= goal.within


def _goal_in_words(goal: Goal, above: str) -> str:
    within = f" within {goal.within:,} sequences" if goal.within else ""
    return f"{goal_in_words(goal, above)}{within}"


def _goal_value(goal: Goal, group: SeedGroup) -> str:
    if goal.perfect is None:
        return costs_text(group, goal.at)
    return spread([share(record, goal.at) for record in group.records], percent)

"""Table of scores beside the published ones, as Markdown."""

import csv
from collections.abc import Iterable
from importlib.resources import files
from itertools import groupby
from statistics import median

from ntm_chomsky import ALL
from ntm_chomsky.column import Score

_OURS = ("level", "task", "network", "maximum", "median", "seeds")
_HOW = ("locations", "sequences", "minutes")


def markdown(scores: Iterable[Score]) -> str:
    """Return one row per task and model: our scores, and the published scores of the task."""
    published = published_scores()
    names = [*_OURS, *_HOW, *next(iter(published.values()))]
    lines = [_line(names), _line(["---"] * len(names))]
    order = [task.name for task in ALL]
    ranked = sorted(scores, key=lambda found: (order.index(found.task), found.model))
    for (task, _model), group in groupby(ranked, lambda found: (found.task, found.model)):
        lines.append(_line([*_summary(list(group)), *published[task].values()]))
    return "\n".join(lines) + "\n"


def _summary(scores: list[Score]) -> list[str]:
    first = scores[0]
    level = next(task.level for task in ALL if task.name == first.task)
    accuracies = [found.accuracy for found in scores]
    return [
        level,
        f"`{first.task}`",
        first.model,
        _percent(max(accuracies)),
        _percent(median(accuracies)),
        str(len(scores)),
        _memory(first),
        f"{median(found.sequences for found in scores):,.0f}",
        f"{median(found.seconds for found in scores) / 60:.1f}",
    ]


def _memory(score: Score) -> str:
    """Return the number of memory locations; two numbers if the memory grows after training."""
    trained, measured = score.trained_locations, score.locations
    if trained != measured:
        return f"{trained} -> {measured}"
    return str(measured) if measured else "none"


def _percent(value: float) -> str:
    """Return a percentage with one digit, rounded down: only a faultless network has 100."""
    return f"{int(value * 10) / 10:g}"


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def published_scores() -> dict[str, dict[str, str]]:
    """Return the scores of the paper's table 2 by task and network, in percent."""
    text = files("ntm_chomsky").joinpath("published.csv").read_text(encoding="utf-8")
    return {row.pop("task"): row for row in csv.DictReader(text.splitlines())}

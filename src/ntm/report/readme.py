"""README.md of a folder of results: every table, from the data beside it and nothing else."""

from collections.abc import Sequence

from ntm.report import tables
from ntm.report.goals import goals_table
from ntm.report.groups import Group, in_paper_order
from ntm.report.layout import FIGURE_TASKS, Results, figure_title
from ntm.runs.files import write_atomically

_INTRODUCTION = """# Results

Written by `ntm results`, which measures run folders, and by nobody's hand: `data/` has what every
number below is made from, and `ntm results --out` this folder makes this page again. Costs are
bits per sequence on fresh sequences."""


def write_readme(results: Results) -> None:
    """Make the page from the data."""
    write_atomically(results.readme, readme(results).encode())


def readme(results: Results) -> str:
    """The page as text: the same for the same data."""
    records = results.records()
    parts = [_INTRODUCTION, _machine(results)]
    if records:
        parts += [tables.how_measured(records), tables.HOW_TO_READ]
        parts += ["## Goals", goals_table(records).as_markdown()]
    for task, groups in in_paper_order(records).items():
        parts += _task(results, task, groups)
    if not records:
        parts.append("There are no runs here yet.")
    return "\n\n".join(part for part in parts if part) + "\n"


def _machine(results: Results) -> str:
    on = results.machine()
    if not on:
        return ""
    return (
        f"Measured on {on['processor']}, {on['cores']} cores, {on['instructions']} instructions, "
        f"with torch {on['torch']} and ntm {on['ntm']}."
    )


def _task(results: Results, task: str, groups: Sequence[Group]) -> list[str]:
    beyond = tables.beyond_table(task, groups)
    parts = [f"## {tables.TITLES[task]}", tables.trained_range_table(task, groups).as_markdown()]
    if beyond is not None:
        parts += ["Beyond the trained range:", beyond.as_markdown()]
    parts += ["Every run:", tables.runs_table(task, groups).as_markdown()]
    for number in FIGURE_TASKS[task]:
        file = results.figure(number)
        if file.exists():
            parts.append(f"![Figure {number}: {figure_title(number)}](figures/{file.name})")
    return parts

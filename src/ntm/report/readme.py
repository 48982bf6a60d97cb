"""README.md of a folder of results: every table, made from the data beside it."""

from collections.abc import Sequence

from ntm.common.files import write_atomically
from ntm.paper.experiment import Experiment
from ntm.report import tables
from ntm.report.goals import goals_table
from ntm.report.groups import SeedGroup, by_experiment
from ntm.report.layout import Results, figure_title

_INTRODUCTION = """# Results

Written by `ntm results`, which measures run folders, never by hand: `data/` has what every number
below is made from, and `ntm results --out` this folder makes this page again. Costs are bits per
sequence on fresh sequences."""


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
    for experiment, groups in by_experiment(records):
        parts += _task(results, experiment, groups)
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


def _task(results: Results, experiment: Experiment, groups: Sequence[SeedGroup]) -> list[str]:
    beyond = tables.beyond_table(experiment, groups)
    trained = tables.trained_range_table(experiment, groups)
    parts = [f"## {experiment.title}", trained.as_markdown()]
    if beyond is not None:
        parts += ["Beyond the trained range:", beyond.as_markdown()]
    parts += ["Every run:", tables.runs_table(experiment, groups).as_markdown()]
    for figure in experiment.figures:
        file = results.figure(figure)
        if file.exists():
            parts.append(f"![{figure_title(figure)}](figures/{file.name})")
    return parts

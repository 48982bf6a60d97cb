"""README.md of a folder of results: every table, made from the data beside it."""

from ntm.common.files import write_atomically
from ntm.report import tables
from ntm.report.goals import goals_table
from ntm.report.groups import by_experiment
from ntm.report.layout import Results
from ntm.report.rendering import rendered


def write_readme(results: Results) -> None:
    """Make the page from the data."""
    write_atomically(results.readme, readme(results).encode())


def readme(results: Results) -> str:
    """The page as text: the same for the same data."""
    records = results.records()
    return rendered(
        "results.md",
        results=results,
        machine=results.machine(),
        records=records,
        goals=goals_table(records),
        found=by_experiment(records),
        tables=tables,
    )

"""Pages of a folder of results, made from its data.

README.md contains every table. report.html also contains the figures and the paper's statements,
and needs no other file.
"""

import base64
from collections.abc import Sequence
from typing import Any

from ntm.common.files import write_atomically
from ntm.common.text import duration
from ntm.paper import settings_for
from ntm.paper.experiment import FigureSpec
from ntm.paper.registry import MACHINE
from ntm.report import tables
from ntm.report.captions import numbers_beside
from ntm.report.goals import goals_table
from ntm.report.groups import SeedGroup, by_experiment
from ntm.report.layout import Results
from ntm.report.records import Record, read_json
from ntm.report.rendering import rendered
from ntm.terminal.table import Table


def write_readme(results: Results) -> None:
    """Write README.md."""
    write_atomically(results.readme, readme(results).encode())


def readme(results: Results) -> str:
    """Return the text of README.md. It depends only on the data."""
    return rendered("results.md", **_shown(results), machine=results.machine())


def write_report(results: Results, failures: Sequence[str] = ()) -> None:
    """Write report.html.

    failures: sentences about runs that did not finish.
    """
    write_atomically(results.report, report(results, failures).encode())


def report(results: Results, failures: Sequence[str] = ()) -> str:
    """Return the text of report.html."""
    shown = _shown(results)
    records, found = shown["records"], shown["found"]

    def picture(figure: FigureSpec) -> str:
        content = base64.b64encode(results.figure(figure).read_bytes()).decode()
        return f"data:image/svg+xml;base64,{content}"

    return rendered(
        "report.html",
        **shown,
        title="Neural Turing Machines, reproduced",
        contents={
            "goals": "Goals",
            **{experiment.task: experiment.title for experiment, _ in found},
            "machine": MACHINE.title,
            "settings": "Settings and seeds",
            "computer": "Computer and time",
        },
        failures=failures,
        short=_shares_of_short_runs(records),
        settings=tables.settings_table(group for _, groups in found for group in groups),
        computer=_computer(results, records),
        heads_tables=_heads_tables,
        machine=MACHINE,
        lacking=_lacking(results),
        picture=picture,
        numbers_beside=numbers_beside,
    )


def _shown(results: Results) -> dict[str, Any]:
    """Return the values that both pages show."""
    records = results.records()
    return {
        "results": results,
        "records": records,
        "goals": goals_table(records),
        "found": by_experiment(records),
        "tables": tables,
    }


def _heads_tables(groups: Sequence[SeedGroup]) -> list[Table | None]:
    return [tables.heads_table(group) for group in groups]


def _lacking(results: Results) -> dict[int | str, list[str]]:
    """Return what each figure lacks, by its number, or by its name if it has no number."""
    file = results.figures / "figures.json"
    drawn = read_json(file)["figures"] if file.exists() else []
    return {figure["number"] or figure["name"]: figure["lacking"] for figure in drawn}


def _shares_of_short_runs(records: Sequence[Record]) -> list[float]:
    """Return the trained share of every run that is shorter than in `ntm train`."""
    shares = [record.sequences / _full_length(record) for record in records]
    return [share for share in shares if share < 1]


def _full_length(record: Record) -> int:
    return settings_for(record.task, record.model).training.sequences


def _computer(results: Results, records: Sequence[Record]) -> Table:
    rows = [(name, str(value)) for name, value in results.machine().items()]
    spent = sum(record.seconds for record in records)
    rows.append(("time spent on training, all runs", duration(spent)))
    return Table("", ("", ""), rows, texts=2)

"""Pages of a folder of results, made from its data.

README.md contains every table. report.html also contains the figures and the paper's statements,
and needs no other file.
"""

import base64
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from ntm.common.text import bits_text, duration, percent
from ntm.paper import published, settings_for
from ntm.paper.experiment import Experiment, FigureSpec
from ntm.paper.registry import MACHINE
from ntm.report import tables
from ntm.report.groups import by_experiment, grouped
from ntm.report.records import Results, RunRecord, read_json
from ntm.report.rendering import rendered
from ntm.report.tables import above_optimum, cost, costs_text, known, share
from ntm.tasks.cases import case_name
from ntm.terminal.table import Table

Records = Sequence[RunRecord]


def readme(results: Results) -> str:
    """Return the text of the README.md of a results folder; equal results give equal text."""
    return rendered("results.md", **_shown(results), machine=results.machine())


def report(results: Results, failures: Sequence[str] = ()) -> str:
    """Return the text of report.html.

    failures: sentences about runs that did not finish.
    """
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
        heads_tables=partial(map, tables.heads_table),
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
        "goals": tables.goals_table(records),
        "found": by_experiment(records),
        "tables": tables,
    }


def _lacking(results: Results) -> dict[int | str, list[str]]:
    """Return what is missing in each figure, by number, or by name without a number."""
    file = results.figures / "figures.json"
    drawn = read_json(file)["figures"] if file.exists() else []
    return {figure["number"] or figure["name"]: figure["lacking"] for figure in drawn}


def _shares_of_short_runs(records: Sequence[RunRecord]) -> list[float]:
    """Return the length of each run shorter than the default, as a share of the default."""
    whole = [settings_for(record.task, record.model).training.sequences for record in records]
    shares = [record.sequences / full for record, full in zip(records, whole, strict=True)]
    return [share for share in shares if share < 1]


def _computer(results: Results, records: Sequence[RunRecord]) -> Table:
    rows = [(name, str(value)) for name, value in results.machine().items()]
    spent = sum(record.seconds for record in records)
    rows.append(("time spent on training, all runs", duration(spent)))
    return Table("", ("", ""), rows, texts=2)


def numbers_beside(experiment: Experiment, figure: FigureSpec, records: Records) -> list[Table]:
    """Return the tables that belong to a figure."""
    some = [record for record in records if record.task == experiment.task]
    tables = [_KINDS[kind](experiment, some, models) for kind, models in figure.beside if some]
    return [table for table in tables if table.rows]


def best_record(records: Records, models: Sequence[str]) -> RunRecord | None:
    """Return the run with the lowest cost of the first model that has runs; figures show it."""
    for model in models:
        if some := [record for record in records if record.model == model]:
            return min(some, key=lambda record: record.deciding_bits)
    return None


def _curves(experiment: Experiment, records: Records, _: Sequence[str]) -> Table:
    """Return a table of costs at the end of training, here and in the paper."""
    groups = grouped(records, experiment.task)
    network = f"network, bits{above_optimum(groups)}"
    rows = [
        {
            network: group.name,
            "the paper, final": known(published.final_cost(group.task, group.model)),
            "the paper, same sequences": known(
                published.cost_at(group.task, group.model, group.records[0].sequences)
            ),
            "here": costs_text(group),
        }
        for group in groups
    ]
    return Table.of(rows)


def _beyond(experiment: Experiment, records: Records, models: Sequence[str]) -> Table:
    """Return a table of costs beyond the trained range, for the network that a figure shows."""
    record = best_record(records, models)
    rows = [
        (case_name(at), bits_text(cost(record, at)), percent(share(record, at)))
        for at in experiment.beyond
        if record is not None
    ]
    return Table(_name(record), ("here", "bits", "without a wrong bit"), rows)


def _published(experiment: Experiment, records: Records, _: Sequence[str]) -> Table:
    """Return a table of our costs and the paper's costs beyond the trained range."""
    rows = [
        (group.name, case_name(case), str(reading), costs_text(group, case))
        for group in grouped(records, experiment.task)
        for case in experiment.beyond
        if (reading := published.cost_of_case(group.task, group.model, case)) is not None
    ]
    return Table("", ("network", "", "the paper, bits", "here, bits"), rows, texts=2)


def _heads(_: Experiment, records: Records, models: Sequence[str]) -> Table:
    """Return a table of findings about the heads, for the network that a figure shows."""
    record = best_record(records, models)
    findings = record.analysis["findings"] if record and record.analysis else []
    rows = [
        (finding["name"], f"{finding['value']:.3f}", finding["verdict"]) for finding in findings
    ]
    return Table(_name(record), ("finding", "value", "verdict"), rows)


def _name(record: RunRecord | None) -> str:
    return f"`{record.name}`" if record else ""


_KINDS: dict[str, Callable[[Experiment, Records, Sequence[str]], Table]] = {
    "curves": _curves,
    "beyond": _beyond,
    "published": _published,
    "heads": _heads,
}

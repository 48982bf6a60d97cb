"""Tables beside a figure: the paper's numbers and ours."""

from collections.abc import Callable, Sequence

from ntm.common.text import bits_text, percent
from ntm.paper import published
from ntm.paper.experiment import Experiment, FigureSpec
from ntm.report.groups import grouped
from ntm.report.records import Record
from ntm.report.tables import above_optimum, cost, costs_text, known, share
from ntm.tasks.cases import case_name
from ntm.terminal.table import Table

Records = Sequence[Record]


def numbers_beside(experiment: Experiment, figure: FigureSpec, records: Records) -> list[Table]:
    """Return the tables that belong to a figure."""
    some = [record for record in records if record.task == experiment.task]
    tables = [_KINDS[kind](experiment, some, models) for kind, models in figure.beside if some]
    return [table for table in tables if table.rows]


def best_record(records: Records, models: Sequence[str]) -> Record | None:
    """Return the run that figures show: the lowest cost of the first model that has a run."""
    for model in models:
        if some := [record for record in records if record.model == model]:
            return min(some, key=lambda record: record.deciding_bits)
    return None


def _curves(experiment: Experiment, records: Records, _: Sequence[str]) -> Table:
    """Return the costs at the end of the learning curves."""
    groups = grouped(records, experiment.task)
    rows = [
        (
            group.name,
            known(published.final_cost(group.task, group.model)),
            known(published.cost_at(group.task, group.model, group.records[0].sequences)),
            costs_text(group),
        )
        for group in groups
    ]
    network = f"network, bits{above_optimum(groups)}"
    return Table("", (network, "the paper, final", "the paper, same sequences", "here"), rows)


def _beyond(experiment: Experiment, records: Records, models: Sequence[str]) -> Table:
    """Return the costs of the network in a figure, beyond the trained range."""
    record = best_record(records, models)
    rows = [
        (case_name(at), bits_text(cost(record, at)), percent(share(record, at)))
        for at in experiment.beyond
        if record is not None
    ]
    return Table(_name(record), ("here", "bits", "without a wrong bit"), rows)


def _published(experiment: Experiment, records: Records, _: Sequence[str]) -> Table:
    """Return our costs and the paper's beyond the trained range, where the paper gives costs."""
    rows = [
        (group.name, case_name(case), str(reading), costs_text(group, case))
        for group in grouped(records, experiment.task)
        for case in experiment.beyond
        if (reading := published.cost_of_case(group.task, group.model, case)) is not None
    ]
    return Table("", ("network", "", "the paper, bits", "here, bits"), rows, texts=2)


def _heads(_: Experiment, records: Records, models: Sequence[str]) -> Table:
    """Return the findings about the heads of the network in a figure."""
    record = best_record(records, models)
    findings = record.analysis["findings"] if record and record.analysis else []
    rows = [
        (finding["name"], f"{finding['value']:.3f}", finding["verdict"]) for finding in findings
    ]
    return Table(_name(record), ("finding", "value", "verdict"), rows)


def _name(record: Record | None) -> str:
    return f"`{record.name}`" if record else ""


_KINDS: dict[str, Callable[[Experiment, Records, Sequence[str]], Table]] = {
    "curves": _curves,
    "beyond": _beyond,
    "published": _published,
    "heads": _heads,
}

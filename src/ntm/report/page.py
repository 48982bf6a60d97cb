"""All results on one page: self-contained HTML."""

import base64
import html
import json
from collections.abc import Iterable, Sequence
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

from ntm.common.files import write_atomically
from ntm.common.text import duration
from ntm.paper import settings_for
from ntm.paper.experiment import Experiment, FigureSpec
from ntm.paper.registry import MACHINE
from ntm.report import captions, tables
from ntm.report.goals import goals_table
from ntm.report.groups import SeedGroup, by_experiment
from ntm.report.layout import Results, figure_title
from ntm.report.records import Record
from ntm.report.table import Table, as_html

TITLE = "Neural Turing Machines, reproduced"


class Section(NamedTuple):
    """A part of the page with a place in its contents."""

    anchor: str
    title: str
    body: str


def write_report(results: Results, failures: Sequence[str] = ()) -> None:
    """Make the page from the data and the figures.

    failures: sentences about runs that did not finish.
    """
    write_atomically(results.report, report(results, failures).encode())


def report(results: Results, failures: Sequence[str] = ()) -> str:
    """The page as text."""
    records = results.records()
    found = by_experiment(records)
    groups = [group for _, some in found for group in some]
    sections = [
        Section(
            "goals",
            "Goals",
            _paragraphs(tables.HOW_TO_READ) + goals_table(records).as_html(),
        ),
        *(_task_section(results, experiment, some) for experiment, some in found),
        Section("machine", MACHINE.title, _figures(results, MACHINE, records)),
        Section("settings", "Settings and seeds", tables.settings_table(groups).as_html()),
        Section("computer", "Computer and time", _computer(results, records)),
    ]
    measured = f"{_INTRODUCTION} {tables.how_measured(records)}"
    introduction = _paragraphs(measured) + _shortness(records) + _failed(failures)
    files = resources.files("ntm.report")
    return (
        (files / "report.html")
        .read_text()
        .format(
            title=html.escape(TITLE),
            style=(files / "report.css").read_text(),
            introduction=introduction,
            contents="\n".join(
                f'<li><a href="#{section.anchor}">{html.escape(section.title)}</a></li>'
                for section in sections
            ),
            sections="\n".join(map(_section, sections)),
        )
    )


_INTRODUCTION = (
    "Section 4 of Graves, Wayne and Danihelka, Neural Turing Machines (2014): its networks trained "
    "again, its figures drawn again, its claims measured. Costs are bits per sequence."
)


def _section(section: Section) -> str:
    title = html.escape(section.title)
    return f'<section id="{section.anchor}">\n<h2>{title}</h2>\n{section.body}\n</section>'


def _task_section(results: Results, experiment: Experiment, groups: Sequence[SeedGroup]) -> Section:
    records = [record for group in groups for record in group.records]
    beyond = tables.beyond_table(experiment, groups)
    heads = [table for group in groups if (table := tables.heads_table(group)) is not None]
    body = [
        _titled("The trained range", [tables.trained_range_table(experiment, groups)]),
        _titled("Beyond the trained range", [] if beyond is None else [beyond]),
        "<h3>Figures</h3>" + _figures(results, experiment, records),
        _titled("What the heads do", heads),
        _titled("Every run", [tables.runs_table(experiment, groups)]),
    ]
    return Section(experiment.task, experiment.title, "\n".join(part for part in body if part))


def _titled(title: str, some: Iterable[Table]) -> str:
    shown = "\n".join(table.as_html() for table in some)
    return f"<h3>{html.escape(title)}</h3>\n{shown}" if shown else ""


def _figures(results: Results, experiment: Experiment, records: Sequence[Record]) -> str:
    lacking = _lacking(results)
    return "\n".join(
        _figure(
            results.figure(figure),
            figure,
            captions.numbers_beside(experiment, figure, records),
            lacking.get(figure.number or figure.stem, []),
        )
        for figure in experiment.figures
    )


def _figure(file: Path, figure: FigureSpec, tables: Iterable[Table], lacking: Iterable[str]) -> str:
    name = figure_title(figure)
    picture = '<p class="missing">Not drawn.</p>'
    if file.exists():
        content = base64.b64encode(file.read_bytes()).decode()
        picture = f'<img alt="{name}" src="data:image/svg+xml;base64,{content}">'
    caption = f"<p><b>The paper:</b> {as_html(figure.caption)}</p>" if figure.caption else ""
    numbers = "".join(table.as_html() for table in tables)
    needs = "".join(f'<p class="missing">Lacking: {as_html(need)}</p>' for need in lacking)
    return (
        f'<figure class="picture" id="{_anchor(figure)}">\n{picture}\n<figcaption>'
        f"<h4>{html.escape(name)}</h4>{caption}{numbers}{needs}</figcaption>\n</figure>"
    )


def _anchor(figure: FigureSpec) -> str:
    return figure.stem if figure.number is None else f"figure-{figure.number}"


def _lacking(results: Results) -> dict[int | str, list[str]]:
    """What each figure lacks, by its number or, if it has none, its name."""
    file = results.figures / "figures.json"
    drawn: list[dict[str, Any]] = json.loads(file.read_bytes())["figures"] if file.exists() else []
    return {figure["number"] or figure["name"]: figure["lacking"] for figure in drawn}


def _shortness(records: Sequence[Record]) -> str:
    """A warning if runs are shorter than `ntm train` makes them."""
    shares = [record.sequences / _full_length(record) for record in records]
    short = [share for share in shares if share < 1]
    if not short:
        return ""
    return (
        '<p class="warning"><b>Short runs.</b> '
        f"{len(short)} of the {len(records)} runs saw fewer sequences than <code>ntm train</code> "
        f"gives them, down to {min(short):.2%}. Longer training reaches lower costs: "
        "compare them with <i>the paper there</i>, its curve at the same number of sequences.</p>"
    )


def _full_length(record: Record) -> int:
    return settings_for(record.task, record.model).training.sequences


def _failed(failures: Sequence[str]) -> str:
    return "".join(f'<p class="warning"><b>Failed.</b> {as_html(text)}</p>' for text in failures)


def _computer(results: Results, records: Sequence[Record]) -> str:
    rows = [(name, str(value)) for name, value in results.machine().items()]
    spent = sum(record.seconds for record in records)
    rows.append(("time spent on training, all runs", duration(spent)))
    return Table("", ("", ""), rows, texts=2).as_html()


def _paragraphs(text: str) -> str:
    return "".join(f"<p>{as_html(paragraph)}</p>" for paragraph in text.split("\n\n"))

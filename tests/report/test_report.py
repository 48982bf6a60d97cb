"""One page that needs nothing but itself."""

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from tests.report.examples import made_up_record, untrained_run

from ntm.paper import experiments, settings_for
from ntm.paper.gallery import figures_of
from ntm.report.measure import Effort
from ntm.report.page import best_record, numbers_beside, report
from ntm.report.pipeline import MEASURING, collect
from ntm.report.progress import Stages
from ntm.report.records import Results

TASKS = [experiment.task for experiment in experiments()]
VOID = {"meta", "img", "br"}


class Page(HTMLParser):
    """A page taken apart; elements must be closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.texts: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.attributes += [(tag, name, value or "") for name, value in attributes]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    def values(self, tag: str, name: str) -> list[str]:
        return [value for t, n, value in self.attributes if (t, n) == (tag, name)]


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """A network for every task, and an LSTM for some."""
    folder = tmp_path_factory.mktemp("report")
    runs = [untrained_run(folder / "runs" / f"{task}-ff", task, "ntm-ff") for task in TASKS]
    runs += [untrained_run(folder / "runs" / f"{t}-lstm", t, "lstm") for t in ("copy", "ngrams")]
    return collect(runs, folder / "out", Effort(sequences=2, watched=4), Stages(MEASURING))


@pytest.fixture(scope="module")
def page(results: Results) -> Page:
    return Page(report(results))


def test_elements_are_balanced(page: Page) -> None:
    assert page.open == []


def test_nothing_is_loaded_from_anywhere(page: Page, results: Results) -> None:
    assert page.values("link", "href") == page.values("script", "src") == []
    assert all(
        source.startswith("data:image/svg+xml;base64,") for source in page.values("img", "src")
    )
    assert all(target.startswith("#") for target in page.values("a", "href"))
    style = re.search(r"<style>(.*?)</style>", report(results), re.DOTALL)
    assert style is not None
    assert "url(" not in style[1]
    assert "@import" not in style[1]


def test_all_figures_are_there_beside_what_the_paper_says(page: Page) -> None:
    figures = [figure for _, figure in figures_of()]
    assert len(page.values("img", "src")) == len(figures) == 18
    text = " ".join(page.texts)
    for number, figure in enumerate(figures, start=1):
        assert figure.title.startswith(f"Figure {number}: ")
        assert figure.title in text
        assert figure.caption
        assert figure.caption in text


def test_every_figure_with_numbers_has_them(results: Results) -> None:
    records = results.records()
    without = [f.number for e, f in figures_of() if not numbers_beside(e, f, records)]
    assert without == [1, 2, 16]


def test_the_contents_lead_to_every_section(page: Page) -> None:
    anchors = [target.removeprefix("#") for target in page.values("a", "href")]
    assert anchors == page.values("section", "id")
    assert anchors[:2] == ["goals", "copy"]
    assert len(anchors) == 9


def test_tables_heads_settings_machine_and_times_are_there(page: Page) -> None:
    text = " ".join(page.texts)
    for words in (
        "ntm train copy --model ntm-ff",
        "the read locations exactly match the write locations",
        "departures from the paper's settings",
        "processor",
        "time spent on training, all runs",
        "Beyond the trained range",
    ):
        assert words in text


def test_short_runs_are_said_to_be_short(page: Page) -> None:
    text = " ".join(page.texts)
    assert "7 of the 7 runs saw fewer sequences" in text
    longest = settings_for("priority-sort").training.sequences
    assert f"the shortest only {3000 / longest:.2%}" in text


@pytest.mark.usefixtures("few_figures")
def test_what_could_not_be_drawn_and_what_failed_is_said(tmp_path: Path) -> None:
    run = untrained_run(tmp_path / "copy-ntm-ff-0", "copy", "ntm-ff")
    results = collect([run], tmp_path / "out", Effort(sequences=2, watched=4), Stages(MEASURING))
    page = Page(report(results, ["copy-lstm-0: the loss is <not> finite."]))
    text = " ".join(page.texts)
    assert "copy-lstm-0: the loss is <not> finite." in text
    assert "Not drawn." in text
    assert "Lacking: the patience to draw this" in text
    assert "Copy" in page.texts  # the title of a section
    assert "Repeat copy" not in page.texts


def test_figures_belong_to_the_tasks_of_their_titles() -> None:
    words = {"associative-recall": "recall", "ngrams": "n-gram", "priority-sort": "sort"}
    for experiment in experiments():
        word = words.get(experiment.task, experiment.task.replace("-", " "))
        for figure in experiment.figures:
            assert figure.title.partition(": ")[2].startswith(word)


def test_figures_show_the_run_of_lowest_validation_cost_of_the_first_model() -> None:
    records = [made_up_record(seed=0, bits=3.0), made_up_record(seed=1, bits=2.0)]
    records.append(made_up_record(model="ntm-lstm", bits=1.0))
    assert best_record(records, ["ntm-ff", "ntm-lstm"]) is records[1]
    assert best_record(records, ["lstm", "ntm-lstm"]) is records[2]
    assert best_record(records, ["lstm"]) is None
    records[1].evaluation["best"]["beyond_bits"] = 9.0  # the cost beyond the range has a say, too
    assert best_record(records, ["ntm-ff"]) is records[0]

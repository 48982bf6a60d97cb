"""A task and an experiment from outside the package, as docs/tasks.md adds them."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.report.examples import untrained_run

from ntm import paper
from ntm.paper import Experiment, experiment_of, full_runs, quick_runs, registry, select
from ntm.paper.gallery import draw_figures
from ntm.report.measure import Effort
from ntm.report.page import report
from ntm.report.pipeline import MEASURING, collect
from ntm.report.progress import Stages
from ntm.runs import Run
from ntm.tasks import TASKS

GUIDE = (Path(__file__).parents[2] / "docs" / "tasks.md").read_text()
TASK = re.findall(r"```python\n(from dataclasses.*?)```", GUIDE, re.DOTALL)[0]
(FILE,) = re.findall(r"```toml\n(.*?)```", GUIDE, re.DOTALL)
REGISTER = re.findall(r"```python\n(from ntm.paper.*?)```", GUIDE, re.DOTALL)[0]
EFFORT = Effort(sequences=2, watched=4)


@pytest.fixture
def reverse() -> Iterator[str]:
    """The task alone."""
    exec(compile(TASK, "tasks.md", "exec"), {"__name__": "outside"})
    yield "reverse"
    del TASKS["reverse"]


@pytest.fixture
def experiment(
    reverse: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Experiment]:
    """The task and its experiment."""
    monkeypatch.chdir(tmp_path)
    Path("reverse.toml").write_text(FILE)
    exec(compile(REGISTER, "tasks.md", "exec"), {})
    yield experiment_of(reverse)
    del registry._EXPERIMENTS[reverse]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return untrained_run(tmp_path / "runs" / "reverse-ntm-ff-0", "reverse", "ntm-ff")


def test_the_examples_are_as_short_as_promised() -> None:
    assert len(FILE.splitlines()) <= 20
    assert len(TASK[TASK.index("@register") :].splitlines()) <= 45


@pytest.mark.usefixtures("experiment")
def test_its_networks_are_among_those_to_reproduce() -> None:
    assert select(["reverse"], ["ntm-ff", "lstm"]) == [("reverse", "ntm-ff"), ("reverse", "lstm")]
    assert select()[-1] == ("reverse", "lstm")
    (ours,) = full_runs([("reverse", "ntm-ff")])
    assert (ours.model.controller_size, ours.model.memory_locations) == (60, 64)
    assert ours.training.sequences == 50_000
    assert quick_runs([("reverse", "ntm-ff")])[0].training.sequences == 10_000
    (baseline,) = full_runs([("reverse", "lstm")])
    assert baseline.model.hidden_size == paper.settings_for("copy", "lstm").model.hidden_size


@pytest.mark.usefixtures("experiment")
def test_it_is_in_figures_and_results(run: Run, tmp_path: Path) -> None:
    results = collect([run], tmp_path / "out", EFFORT, Stages(MEASURING))
    drawn = [path.name for path in results.figures.glob("*.svg")]
    assert "reverse-learning-curves.svg" in drawn
    (record,) = results.records()
    assert record.at({"length": 40})["sequences"] == 2
    page = results.readme.read_text()
    assert "## Reverse" in page
    assert "| Reverse, trained range | below 0.1 bits within 50,000 sequences |" in page
    assert "![reverse learning curves](figures/reverse-learning-curves.svg)" in page
    assert 'id="reverse-learning-curves"' in report(results)


@pytest.mark.usefixtures("reverse")
def test_without_an_experiment_it_is_reproduced_if_it_is_named() -> None:
    assert ("reverse", "ntm-ff") not in select()
    assert select(["reverse", "copy"], ["lstm"]) == [("copy", "lstm"), ("reverse", "lstm")]


@pytest.mark.usefixtures("reverse")
def test_without_an_experiment_it_gets_curves_memory_use_and_an_analysis(
    run: Run, tmp_path: Path
) -> None:
    outcomes = [o for o in draw_figures([run.path], tmp_path / "figures", ["svg"]) if o.files]
    names = [outcome.figure.name for outcome in outcomes if outcome.figure.number is None]
    assert names == ["reverse learning curves", "reverse memory use"]
    results = collect([run], tmp_path / "out", EFFORT, Stages(MEASURING))
    (record,) = results.records()
    assert record.analysis is not None
    assert [finding["name"] for finding in record.analysis["findings"]] == [
        "looks at one location", "reads where it wrote",
    ]  # fmt: skip
    assert "## Reverse" in results.readme.read_text()


def test_a_wrong_file_is_refused_with_its_name(tmp_path: Path) -> None:
    file = tmp_path / "wrong.toml"
    for text, said in (("title = 'A'", "task"), ("task = 'a'\ncaes = []", "caes"), ("=", "")):
        file.write_text(text)
        with pytest.raises(ValueError, match=f"wrong.toml does not describe an experiment.*{said}"):
            paper.read_experiment(file)

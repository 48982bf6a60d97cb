"""Committed figures show the committed results."""

import re
from math import inf
from pathlib import Path

import pytest

from ntm.figures.curves import draw_learning_curves
from ntm.figures.style import save
from ntm.models import family
from ntm.paper import experiments
from ntm.report.pipeline import RecordedRuns
from ntm.report.records import Results

RESULTS = Results(Path(__file__).parents[2] / "results")
RECORDS = RESULTS.records()
TASKS = [experiment.task for experiment in experiments()]
# Records of recall were made before the curve of the chosen start was stored, so the figure cannot
# be drawn again without the runs.
INCOMPLETE = {"associative-recall"}


def learning_figure(task: str) -> Path:
    (experiment,) = [each for each in experiments() if each.task == task]
    (figure,) = [each for each in experiment.figures if each.name.endswith("learning curves")]
    return RESULTS.figures / f"{figure.stem}.svg"


def numbers(svg: Path) -> list[float]:
    """Return the coordinates of all paths of a picture, in its own units."""
    paths = re.findall(r'\sd="([^"]+)"', svg.read_text())
    return [float(text) for path in paths for text in re.findall(r"-?\d+\.?\d*", path)]


def test_only_the_known_records_lack_a_curve() -> None:
    assert {record.task for record in RECORDS if record.own_curve is None} == INCOMPLETE


@pytest.mark.parametrize("task", sorted(set(TASKS) - INCOMPLETE))
def test_learning_curves_show_every_recorded_run(task: str) -> None:
    words = learning_figure(task).read_text()
    for model in ("ntm-ff", "ntm-lstm", "lstm"):
        runs = sum((record.task, record.model) == (task, model) for record in RECORDS)
        told = f"median of {runs} runs" if runs > 1 else "one run"
        assert f"{family(model).title}: {told}" in words


def drawn_again(task: str, out: Path, factor: float = 1) -> list[float]:
    """Draw a figure from the records, with the costs of the LSTM times a factor."""
    (experiment,) = [each for each in experiments() if each.task == task]
    runs = RecordedRuns(RECORDS, [])
    curves = runs.learning_curves(task)
    curves["lstm"] = [curve._replace(bits=factor * curve.bits) for curve in curves["lstm"]]
    figure = draw_learning_curves(experiment, curves, runs.task(task).optimum)
    (file,) = save(figure, out / "again", ["svg"])
    return numbers(file)


def distance(ours: list[float], theirs: list[float]) -> float:
    """Return the largest distance in points of 1/72 inch; infinity if the pictures differ more."""
    if len(ours) != len(theirs):
        return inf
    return max(abs(a - b) for a, b in zip(ours, theirs, strict=True))


@pytest.mark.parametrize("task", sorted(set(TASKS) - INCOMPLETE))
def test_learning_curves_are_drawn_from_the_records(task: str, tmp_path: Path) -> None:
    committed = numbers(learning_figure(task))
    # Versions of matplotlib place the axes a little differently.
    assert distance(drawn_again(task, tmp_path), committed) < 3
    assert distance(drawn_again(task, tmp_path, factor=1.2), committed) > 3

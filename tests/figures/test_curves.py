"""Figures 3, 7, 10, 11, 13 and 18: the lines are the numbers, in the paper's axes."""

import itertools

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.colors import same_color
from matplotlib.lines import Line2D

from ntm import figures
from ntm.figures import CostCurve, paper_costs, paper_curves
from ntm.figures.curves import averaged
from ntm.models import MODELS, family
from ntm.paper import experiment_of

from .examples import falling, recall_costs, some_curves

TASKS = ["copy", "repeat-copy", "associative-recall", "ngrams", "priority-sort"]


X = np.arange(1.0, 11.0)


def bits_frame(task: str) -> tuple[int, int]:
    frame = experiment_of(task).frame
    assert frame is not None
    return frame


def lines(ax: Axes, model: str, linestyle: str) -> list[Line2D]:
    colour = family(model).colour
    return [
        line
        for line in ax.lines
        if same_color(line.get_color(), colour) and line.get_linestyle() == linestyle
    ]


@pytest.mark.parametrize("task", TASKS)
def test_the_papers_curves_are_dotted_behind_ours(task: str) -> None:
    figure = figures.learning_curves(task, some_curves(1000, bits_frame(task)[1]))
    ax = figure.axes[0]
    for model, curve in paper_curves(task).items():
        if model in MODELS:
            (line,) = lines(ax, model, ":")
            np.testing.assert_array_equal(line.get_xydata(), np.transpose(curve))
            assert all(line.zorder <= own.zorder for own in lines(ax, model, "-"))


@pytest.mark.parametrize("task", TASKS)
def test_the_axes_are_the_papers(task: str) -> None:
    bits = bits_frame(task)
    ax = figures.learning_curves(task, some_curves(1000, 100)).axes[0]
    assert ax.get_xlim() == (0, experiment_of(task).sequences / 1000)
    assert ax.get_ylim()[1] == bits[1]
    assert ax.get_ylim()[0] == pytest.approx(bits[0], abs=0.03 * np.ptp(bits))
    assert ax.get_xlabel() == "sequences seen (thousands)"
    assert ax.get_ylabel() == "cost per sequence (bits)"


def test_a_line_is_the_median_and_a_band_holds_all_runs() -> None:
    x = np.arange(10.0, 1001.0, 10.0)
    runs = [CostCurve(x, np.full(100, bits)) for bits in (1.0, 2.0, 6.0)]
    ax = figures.learning_curves("copy", {"ntm-ff": runs}).axes[0]
    (line,) = lines(ax, "ntm-ff", "-")
    np.testing.assert_allclose(line.get_ydata(), 2)
    np.testing.assert_allclose(line.get_xdata(), np.arange(5, 1000, 10))
    (band,) = [c for c in ax.collections if isinstance(c, PolyCollection)]
    heights = band.get_paths()[0].vertices[:, 1]
    assert (heights.min(), heights.max()) == pytest.approx((1, 6))


def test_runs_may_have_different_lengths_and_reports() -> None:
    curves = {"ntm-ff": [falling(600, 8, 1, points=300), falling(1000, 8, 1, points=17)]}
    (line,) = lines(figures.learning_curves("copy", curves).axes[0], "ntm-ff", "-")
    assert np.isfinite(line.get_ydata()).all()
    assert line.get_xdata()[-1] > 900


def test_short_runs_get_a_panel_of_their_own() -> None:
    whole, enlarged = figures.learning_curves("copy", some_curves(20, 9)).axes
    assert whole.get_xlim() == (0, 1000)
    assert enlarged.get_xlim() == (0, 20)
    assert enlarged.get_title("left") == "the first 20 thousand"
    assert len(lines(enlarged, "ntm-ff", "-")) == 1
    assert len(figures.learning_curves("copy", some_curves(250, 9)).axes) == 1


def test_the_legend_counts_the_runs() -> None:
    figure = figures.learning_curves("ngrams", some_curves(1000, 150, 132), optimum=131.6)
    words = [text.get_text() for text in figure.legends[0].get_texts()]
    assert words == [
        "NTM, feedforward controller: median of 3 runs",
        "NTM, LSTM controller: paper only",
        "LSTM: one run",
        "optimum",
        "in the paper",
        "all runs",
    ]
    solid = [line for line in figure.axes[0].lines if line.get_linestyle() == "-"]
    assert [131.6, 131.6] in [list(line.get_ydata()) for line in solid]


def test_an_average_is_that_of_the_sequences_between_two_edges() -> None:
    # One cost per thousand sequences, written down one by one.
    bits = np.random.default_rng(1).random(12)
    reports = np.array([1, 2, 5, 6, 12])
    curve = CostCurve(
        reports.astype(float),
        np.array([part.mean() for part in np.split(bits, reports)[:-1]]),
    )
    each = np.repeat(curve.bits, np.diff(reports, prepend=0))
    edges = np.array([0.0, 2.0, 6.0, 9.0, 12.0, 15.0])
    expected = [each[int(a) : int(b)].mean() for a, b in itertools.pairwise(edges[:-1])]
    np.testing.assert_allclose(averaged(curve, edges)[:-1], expected)
    assert np.isnan(averaged(curve, edges)[-1])


def test_the_papers_numbers_are_the_published_ones() -> None:
    last = {
        task: {
            model: curve.bits[curve.x > 0.9 * curve.x.max()].mean() for model, curve in c.items()
        }
        for task, c in ((task, paper_curves(task)) for task in TASKS)
    }
    assert last["copy"]["lstm"] == pytest.approx(0.49, abs=0.01)
    assert last["copy"]["ntm-ff"] == pytest.approx(0, abs=0.001)
    assert last["associative-recall"]["lstm"] == pytest.approx(0.90, abs=0.02)
    assert last["ngrams"]["optimal"] == pytest.approx(131.607)
    assert last["ngrams"]["ntm-ff"] == pytest.approx(133.35, abs=0.02)
    assert last["priority-sort"]["ntm-lstm"] == pytest.approx(18.1, abs=0.1)
    items = paper_costs("associative-recall")["ntm-ff"]
    np.testing.assert_array_equal(items.x, [6, 10, 15, 20])
    np.testing.assert_allclose(items.bits, [0.025, 0.139, 1.47, 8.002])


def test_recall_is_drawn_over_items() -> None:
    costs = recall_costs()
    figure = figures.costs_along("associative-recall", costs, 6)
    (ax,) = figure.axes
    assert ax.get_xlabel() == "items"
    assert ax.get_ylabel() == "cost per sequence (bits)"
    (line,) = lines(ax, "ntm-lstm", "-")
    middle = np.median([run.bits for run in costs["ntm-lstm"]], axis=0)
    np.testing.assert_allclose(line.get_xydata(), np.transpose([[6, 10, 15, 20], middle]))
    assert len(lines(ax, "ntm-ff", ":")) == 1
    assert not lines(ax, "ntm-ff", "-")


def test_a_task_of_yours_gets_axes_that_hold_its_curves() -> None:
    figure = figures.learning_curves("reverse", {"ntm-ff": [CostCurve(X, 50 / X)]})
    (ax,) = figure.axes
    assert ax.get_title("left") == "Reverse learning curves"
    assert ax.get_xlim() == (0, 10)
    assert ax.get_ylim()[1] == pytest.approx(55)
    words = [text.get_text() for text in figure.legends[0].get_texts()]
    assert words == ["NTM, feedforward controller: one run"]


def test_costs_below_a_bit_get_axes_that_hold_them() -> None:
    (ax,) = figures.learning_curves("parity", {"ntm-ff": [CostCurve(X, 0.5 / X)]}).axes
    assert ax.get_ylim()[1] == pytest.approx(0.55)

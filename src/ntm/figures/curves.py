"""Learning curves (figures 3, 7, 10, 13 and 18), and costs beyond the trained range (11)."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from ntm.evaluation.curves import CostCurve
from ntm.figures import style
from ntm.models import MODELS, family
from ntm.trace import Array

if TYPE_CHECKING:
    from ntm.paper.experiment import Experiment

Curves = Mapping[str, Sequence[CostCurve]]
"""Curves of the runs, by model."""

_POINTS = 100


def averaged(curve: CostCurve, edges: Array) -> Array:
    """Return the mean cost between neighbouring edges, NaN beyond the end of the curve.

    curve: each cost is the mean over the sequences since the previous point.
    """
    x, spent = np.insert(curve.x, 0, 0.0), np.diff(curve.x, prepend=0.0) * curve.bits
    total = np.interp(edges, x, np.insert(np.cumsum(spent), 0, 0.0))
    means = np.diff(total) / np.diff(edges)
    return np.where(edges[1:] <= x[-1] * (1 + 1e-9), means, np.nan)


@style.styled
def draw_learning_curves(
    experiment: "Experiment", curves: Curves, optimum: float | None = None
) -> Figure:
    """Draw the cost during training: our curves over the paper's dotted curves.

    A line is the median over a model's runs; its band goes from the lowest run to the highest.
    Runs much shorter than the paper's get a second panel with only the part they cover.

    curves: x in thousands of sequences; each cost is the mean since the previous point.
    optimum: least possible cost (None: not known).
    """
    published = experiment.paper_curves
    longest = max(curve.x[-1] for runs in curves.values() for curve in runs)
    thousands = experiment.sequences / 1000 if experiment.frame else longest
    zoomed = longest < thousands / 4
    figure = style.new_figure(2.9)
    axes = figure.subplots(1, 1 + zoomed, squeeze=False, sharey=True)[0]
    for ax, end in zip(axes, (thousands, longest), strict=False):
        _draw_paper(ax, published)
        _draw_ours(ax, curves)
        if optimum is not None:
            ax.axhline(optimum, color=style.BLACK, linewidth=1)
        ax.set(xlim=(0, end), xlabel="sequences seen (thousands)")
        ax.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    _frame(axes, f"{experiment.title} learning curves", experiment.frame or (0, _highest(curves)))
    if zoomed:
        axes[1].set_title(f"the first {longest:.0f} thousand", loc="left")
    _legend(figure, curves, published, optimum)
    return figure


@style.styled
def draw_costs_along(experiment: "Experiment", curves: Curves, trained: int) -> Figure:
    """Draw figure 11: our costs and the paper's beyond the trained range, along one axis.

    curves: x is the size along the axis; all runs of a model have equal sizes.
    trained: largest size in training.
    """
    axis, published = experiment.axis, experiment.paper_costs
    figure = style.new_figure(3.0)
    ax = figure.subplots()
    _draw_paper(ax, published, marker="o")
    for model, runs in curves.items():
        _draw_band(ax, model, runs[0].x, [run.bits for run in runs], marker="o")
    ax.axvspan(trained - 0.5, trained + 0.5, color=style.PALE, zorder=0, linewidth=0)
    place = (trained + 0.6, 0.98)
    ax.annotate("longest in training", place, xycoords=("data", "axes fraction"), va="top")
    largest = max(run.x[-1] for runs in curves.values() for run in runs)
    ax.set(xlim=(trained - 0.5, largest + 0.5), xlabel=axis)
    ax.xaxis.set_major_locator(MaxNLocator(8, integer=True))
    _frame([ax], f"Generalisation to more {axis}", (0, max(45, _highest(curves))))
    _legend(figure, curves, published)
    return figure


def _frame(axes: Sequence[Axes], title: str, bits: tuple[float, float]) -> None:
    """Draw the cost axis and the title, with a margin between a line at zero and the frame."""
    margin = 0.02 * (bits[1] - bits[0])
    for ax in axes:
        ax.set_ylim(bits[0] - margin, bits[1])
        ax.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("cost per sequence (bits)")
    axes[0].set_title(title, loc="left", fontweight="bold")


def _highest(curves: Curves) -> float:
    return float(1.1 * max(np.nanmax(run.bits) for runs in curves.values() for run in runs))


def _draw_paper(ax: Axes, curves: Mapping[str, CostCurve], marker: str = "") -> None:
    for model, curve in curves.items():
        colour = family(model).colour if model in MODELS else style.BLACK
        ax.plot(*curve, ":", color=colour, linewidth=1.2, marker=marker, markersize=3)


def _draw_ours(ax: Axes, curves: Curves) -> None:
    for model, runs in curves.items():
        longest = max(curve.x[-1] for curve in runs)
        reports = max(np.diff(curve.x, prepend=0.0).max() for curve in runs)
        width = max(longest / _POINTS, reports)
        edges = np.arange(0, longest + width / 2, width)
        _draw_band(ax, model, edges[:-1] + width / 2, [averaged(c, edges) for c in runs])


def _draw_band(ax: Axes, model: str, x: Array, runs: Sequence[Array], marker: str = "") -> None:
    colour, values = family(model).colour, np.array(runs)
    reached = ~np.isnan(values).all(axis=0)
    x, values = x[reached], values[:, reached]
    if len(runs) > 1:
        low, high = np.nanmin(values, axis=0), np.nanmax(values, axis=0)
        ax.fill_between(x, low, high, color=colour, alpha=0.2, linewidth=0)
    ax.plot(x, np.nanmedian(values, axis=0), color=colour, marker=marker, markersize=4)


def _legend(
    figure: Figure,
    curves: Curves,
    published: Mapping[str, CostCurve],
    optimum: float | None = None,
) -> None:
    shown = [model for model in MODELS if model in curves or model in published]
    entries = [_entry(model, len(curves.get(model, ()))) for model in shown]
    if optimum is not None:
        entries.append(Line2D([], [], color=style.BLACK, linewidth=1, label="optimum"))
    if published:
        entries.append(Line2D([], [], color=style.GREY, linestyle=":", label="in the paper"))
    if any(len(runs) > 1 for runs in curves.values()):
        entries.append(Line2D([], [], color=style.GREY, alpha=0.3, linewidth=6, label="all runs"))
    figure.legend(handles=entries, loc="outside lower center", ncols=3)


def _entry(model: str, runs: int) -> Line2D:
    name, colour = family(model).title, family(model).colour
    if runs == 0:
        return Line2D([], [], color=colour, linestyle=":", label=f"{name}: paper only")
    label = f"{name}: {f'median of {runs} runs' if runs > 1 else 'one run'}"
    return Line2D([], [], color=colour, label=label)

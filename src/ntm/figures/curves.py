"""Figures 3, 7, 10, 13 and 18: learning curves. Figure 11: recall of longer lists."""

import csv
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from ntm.figures import style

Array = NDArray[np.floating[Any]]


class Curve(NamedTuple):
    """Costs in bits per sequence, over thousands of training sequences or another quantity."""

    x: Array  # (points,)
    bits: Array  # (points,)


Curves = Mapping[str, Sequence[Curve]]
"""For each model, ntm-ff, ntm-lstm or lstm, the curves of its runs."""


class PaperFrame(NamedTuple):
    """The axes of one of the paper's figures of learning curves."""

    title: str
    thousands: int
    bits: tuple[int, int]


FRAMES = {
    "copy": PaperFrame("Copy learning curves", 1000, (0, 10)),
    "repeat-copy": PaperFrame("Repeat copy learning curves", 500, (0, 200)),
    "associative-recall": PaperFrame("Associative recall learning curves", 1000, (0, 20)),
    "ngrams": PaperFrame("Dynamic n-gram learning curves", 1000, (130, 160)),
    "priority-sort": PaperFrame("Priority sort learning curves", 1000, (0, 140)),
}
_SERIES = {"NTM-FF": "ntm-ff", "NTM-LSTM": "ntm-lstm", "LSTM": "lstm", "Optimal": "optimal"}
_POINTS = 100


def paper_curves(name: str) -> dict[str, Curve]:
    """The curves of the paper's figure for a task, read off the published graphics.

    name: a task, or "associative-recall-generalisation" for figure 11 (over items). Keys are
    ntm-ff, ntm-lstm, lstm and, for n-grams, optimal. Each point is a mean over about 10,000
    sequences; what lies above the figure's frame is not there.
    """
    file = resources.files("ntm.paper") / "curves" / f"{name}.csv"
    points: dict[str, list[tuple[float, float]]] = {}
    for row in csv.DictReader(file.read_text().splitlines()):
        points.setdefault(_SERIES[row["series"]], []).append((float(row["x"]), float(row["bits"])))
    return {model: Curve(*np.array(pairs).T) for model, pairs in points.items()}


def averaged(curve: Curve, edges: Array) -> Array:
    """The mean cost between neighbouring edges, NaN where the curve does not reach.

    curve: each cost is the mean over the sequences since the point before.
    """
    x, spent = np.insert(curve.x, 0, 0.0), np.diff(curve.x, prepend=0.0) * curve.bits
    total = np.interp(edges, x, np.insert(np.cumsum(spent), 0, 0.0))
    means = np.diff(total) / np.diff(edges)
    return np.where(edges[1:] <= x[-1] * (1 + 1e-9), means, np.nan)


@style.styled
def learning_curves(task: str, curves: Curves, optimum: float | None = None) -> Figure:
    """How the cost falls with training: ours over the paper's, which are dotted.

    task: one of the paper's five. curves: x in thousands of sequences; each cost is the mean since
    the point before. A line is the median over a model's runs, in a band from the lowest to the
    highest. optimum: the least possible cost, for n-grams.

    Runs much shorter than the paper's get a second panel, which shows the time they cover.
    """
    frame = FRAMES[task]
    longest = max(curve.x[-1] for runs in curves.values() for curve in runs)
    zoomed = longest < frame.thousands / 4
    figure = style.new_figure(2.9)
    axes = figure.subplots(1, 1 + zoomed, squeeze=False, sharey=True)[0]
    for ax, end in zip(axes, (frame.thousands, longest), strict=False):
        _draw_paper(ax, paper_curves(task))
        _draw_ours(ax, curves)
        if optimum is not None:
            ax.axhline(optimum, color=style.BLACK, linewidth=1)
        ax.set(xlim=(0, end), xlabel="sequences seen (thousands)")
        ax.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    _frame(axes, frame.title, frame.bits)
    if zoomed:
        axes[1].set_title(f"the first {longest:.0f} thousand", loc="left")
    _legend(figure, curves, optimum)
    return figure


@style.styled
def recall_generalisation(curves: Curves) -> Figure:
    """Figure 11: the cost of associative recall over the number of items, ours and the paper's.

    curves: x is the number of items, the same for every run of a model.
    """
    figure = style.new_figure(3.0)
    ax = figure.subplots()
    _draw_paper(ax, paper_curves("associative-recall-generalisation"), marker="o")
    for model, runs in curves.items():
        _draw_band(ax, model, runs[0].x, [run.bits for run in runs], marker="o")
    ax.axvspan(5.5, 6.5, color=style.PALE, zorder=0, linewidth=0)
    ax.annotate("longest in training", (6.6, 0.98), xycoords=("data", "axes fraction"), va="top")
    ax.set(xlim=(5.5, 20.5), xlabel="items in the list", xticks=[6, 8, 10, 12, 14, 16, 18, 20])
    highest = max(np.nanmax(run.bits) for runs in curves.values() for run in runs)
    _frame([ax], "Generalisation to longer lists of items", (0, max(45, int(highest * 1.1))))
    _legend(figure, curves, None)
    return figure


def _frame(axes: Sequence[Axes], title: str, bits: tuple[int, int]) -> None:
    """The axis of costs, and the title; a line at zero stays clear of the frame."""
    margin = 0.02 * (bits[1] - bits[0])
    for ax in axes:
        ax.set_ylim(bits[0] - margin, bits[1])
        ax.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("cost per sequence (bits)")
    axes[0].set_title(title, loc="left", fontweight="bold")


def _draw_paper(ax: Axes, curves: Mapping[str, Curve], marker: str = "") -> None:
    for model, curve in curves.items():
        colour = style.MODEL_COLOURS.get(model, style.BLACK)
        ax.plot(*curve, ":", color=colour, linewidth=1.2, marker=marker, markersize=3)


def _draw_ours(ax: Axes, curves: Curves) -> None:
    for model, runs in curves.items():
        longest = max(curve.x[-1] for curve in runs)
        reports = max(np.diff(curve.x, prepend=0.0).max() for curve in runs)
        width = max(longest / _POINTS, reports)
        edges = np.arange(0, longest + width / 2, width)
        _draw_band(ax, model, edges[:-1] + width / 2, [averaged(c, edges) for c in runs])


def _draw_band(ax: Axes, model: str, x: Array, runs: Sequence[Array], marker: str = "") -> None:
    colour, values = style.MODEL_COLOURS[model], np.array(runs)
    reached = ~np.isnan(values).all(axis=0)
    x, values = x[reached], values[:, reached]
    if len(runs) > 1:
        low, high = np.nanmin(values, axis=0), np.nanmax(values, axis=0)
        ax.fill_between(x, low, high, color=colour, alpha=0.2, linewidth=0)
    ax.plot(x, np.nanmedian(values, axis=0), color=colour, marker=marker, markersize=4)


def _legend(figure: Figure, curves: Curves, optimum: float | None, columns: int = 3) -> None:
    entries = [_entry(model, len(curves.get(model, ()))) for model in style.MODEL_NAMES]
    if optimum is not None:
        entries.append(Line2D([], [], color=style.BLACK, linewidth=1, label="optimum"))
    entries.append(Line2D([], [], color=style.GREY, linestyle=":", label="in the paper"))
    if any(len(runs) > 1 for runs in curves.values()):
        entries.append(Line2D([], [], color=style.GREY, alpha=0.3, linewidth=6, label="all runs"))
    figure.legend(handles=entries, loc="outside lower center", ncols=columns)


def _entry(model: str, runs: int) -> Line2D:
    name, colour = style.MODEL_NAMES[model], style.MODEL_COLOURS[model]
    if runs == 0:
        return Line2D([], [], color=colour, linestyle=":", label=f"{name}: paper only")
    label = f"{name}: {f'median of {runs} runs' if runs > 1 else 'one run'}"
    return Line2D([], [], color=colour, label=label)

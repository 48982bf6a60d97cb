"""Figures 14 and 15: predictions of the bits of a random source, and memory use."""

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from ntm.evaluation.recording import Recording
from ntm.evaluation.weightings import Integers
from ntm.figures import panels, style
from ntm.figures.runs import RunFolders
from ntm.paper.experiment import Experiment
from ntm.paper.ngrams.heads import contexts
from ntm.runs import block_generator
from ntm.tasks import NGrams
from ntm.trace import Array


def inference(
    experiment: Experiment, runs: RunFolders, models: Sequence[str], wanted: Sequence[str]
) -> Figure:
    """Draw figure 14 from runs."""
    name, task = experiment.task, NGrams()
    networks = {"NTM": [runs.best(name, *models)], "LSTM": runs.wanted(name, *wanted)}
    batch = task.sample(1, block_generator("figures", 1))
    predictions = {"optimal": task.optimal_probabilities(batch)[:, 0, 0].numpy()}
    for title, some in networks.items():
        for network in some:
            logits = network.logits(batch.inputs)[:, 0, 0]
            predictions[title] = torch.sigmoid(logits).numpy()
    return ngram_inference(batch.targets[:, 0, 0].numpy(), predictions)


@style.styled
def ngram_inference(bits: Array, predictions: Mapping[str, Array]) -> Figure:
    """Draw figure 14: a sequence, and each predictor's probability that a bit is one.

    Arrows mark the largest differences between the first and the second predictor.

    bits: bits to predict, (steps,).
    predictions: P(bit = 1) by name of the predictor, (steps,) each, the optimal predictor first.
    """
    rows = {"bits": bits, **predictions}
    figure = style.new_figure(0.42 * len(rows) + 0.75)
    axes = figure.subplots(len(rows), 1, sharex=True)
    for ax, (name, values) in zip(axes, rows.items(), strict=True):
        image = panels.draw_image(ax, values[None], "bits")
        ax.set(yticks=[])
        ax.set_ylabel(name, rotation=0, ha="right", va="center")
    panels.scale_bar(figure, image, axes, "P(1)")
    axes[-1].set_xlabel("bit")
    if len(predictions) > 1:
        optimal, ours, *_ = predictions.values()
        _arrows(axes[2], _largest(np.abs(ours - optimal)), style.VERMILLION, above=True)
    style.title(figure, "Dynamic n-gram inference")
    return figure


@style.styled
def ngram_memory_use(recording: Recording, write_head: int = 0, read_head: int = 0) -> Figure:
    """Draw figure 15: bits, predictions, adds and both weightings, with two contexts marked.

    recording: recording of one sequence of n-grams.
    """
    trace = recording.trace
    writing, reading = panels.head_weightings(trace, write_head, read_head)
    rows = panels.attended_locations(writing, reading)
    pictures: dict[str, tuple[Array, panels.Scale]] = {
        "Bits": (trace.inputs[:, 0], "bits"),
        "Predictions": (trace.probabilities[:, 0], "bits"),
        "Adds": (trace.vectors("write")[:, 0, write_head], "signed"),
        "Write weightings": (writing[:, rows], "weights"),
        "Read weightings": (reading[:, rows], "weights"),
    }
    heights = [0.22, 0.22, 0.9, 1.7, 1.7]
    figure = style.new_figure(sum(heights) + 1.7)
    axes = figure.subplots(len(pictures), 1, sharex=True, height_ratios=heights)
    for ax, (name, (values, scale)) in zip(axes, pictures.items(), strict=True):
        image = panels.draw_image(ax, values.T, scale)
        ax.set_title(name, loc="left")
        ax.set_yticks([])
        if name != "Bits":  # bits and predictions share one colour bar
            panels.scale_bar(figure, image, axes[:2] if name == "Predictions" else [ax])
    for ax in axes[-2:]:
        panels.number_rows(ax, rows)
        ax.set_ylabel("location")
    axes[-1].set_xlabel("time step")
    axes[-1].tick_params(axis="x", pad=6)
    _mark_contexts(figure, dict(zip(pictures, axes, strict=True)), recording)
    style.title(figure, "NTM memory use during the dynamic n-gram task")
    return figure


def _largest(values: Array, count: int = 2, apart: int = 5) -> Integers:
    """Return the indices of the largest values, at least `apart` from each other."""
    chosen: list[int] = []
    for index in np.argsort(-values, kind="stable"):
        if len(chosen) < count and all(abs(index - other) >= apart for other in chosen):
            chosen.append(int(index))
    return np.array(chosen)


def recurring_contexts(context: Integers, visits: int = 4) -> list[int]:
    """Return the two contexts of a sequence whose shortest gap between visits is longest.

    context: context at every step, (steps,).
    visits: least number of visits of a context.
    """
    steps = {int(value): np.flatnonzero(context == value) for value in np.unique(context)}
    nearest = {
        value: int(np.diff(times).min())
        for value, times in steps.items()
        if value >= 0 and len(times) >= max(visits, 2)
    }
    return sorted(nearest, key=lambda value: -nearest[value])[:2]


def _mark_contexts(figure: Figure, parts: Mapping[str, Axes], recording: Recording) -> None:
    """Mark where the read head is when a context recurs, and the write head one step later."""
    context, entries = contexts(recording)[:, 0], []
    length = recording.task_as(NGrams).context
    for value, colour, marker in zip(
        recurring_contexts(context), (style.VERMILLION, style.GREEN), ("o", "s"), strict=False
    ):
        steps = np.flatnonzero(context == value)
        _ring(parts["Read weightings"], steps, colour, marker)
        _ring(parts["Write weightings"], steps[steps + 1 < len(context)] + 1, colour, marker)
        label = f"context {value:0{length}b}: read, and a step later written"
        entries.append(
            Line2D([], [], linestyle="", marker=marker, mec=colour, mfc="none", label=label)
        )
    figure.legend(handles=entries, loc="outside lower center", ncols=2)


def _ring(ax: Axes, steps: Integers, colour: str, marker: str) -> None:
    rows = panels.drawn_values(ax).argmax(axis=0)[steps]
    ax.scatter(steps, rows, s=26, facecolors="none", edgecolors=colour, marker=marker, lw=1.1)
    _arrows(ax, steps, colour)


def _arrows(ax: Axes, steps: Integers, colour: str, *, above: bool = False) -> None:
    """Draw arrowheads at time steps, on the lower or the upper edge of a panel."""
    height, marker = (1.14, "v") if above else (-0.035, "^")
    edge = np.full(len(steps), height)
    ax.scatter(
        steps, edge, s=16, c=colour, marker=marker, lw=0, clip_on=False,
        transform=ax.get_xaxis_transform(),
    )  # fmt: skip

"""Figures 16 and 17: an example of priority sort, and memory use."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from ntm.evaluation.recording import Recording, record
from ntm.evaluation.weightings import Booleans
from ntm.figures import panels, style
from ntm.figures.runs import RunFolders
from ntm.paper.experiment import Experiment
from ntm.paper.priority_sort.heads import LinearFit, choose_reads, choose_writes, fit_writes
from ntm.runs import block_generator
from ntm.tasks import Batch, PrioritySort
from ntm.trace import Array


def example(_experiment: Experiment, _runs: RunFolders) -> Figure:
    """Draw figure 16, which needs no runs."""
    return sort_example(PrioritySort(), PrioritySort().sample(1, block_generator("figures", 1)))


def memory(experiment: Experiment, runs: RunFolders, models: Sequence[str]) -> Figure:
    """Draw figure 17 from runs."""
    network = runs.best(experiment.task, *models)
    recording = record(network.model, network.task)
    writes, rest = choose_writes(recording)
    reads, _ = choose_reads(recording, writes)
    return sort_memory_use(rest.part(0, 1), fit_writes(rest, writes), writes.head, reads.head)


@style.styled
def sort_example(task: PrioritySort, batch: Batch) -> Figure:
    """Draw figure 16: vectors with their priorities, and the sorted vectors of the answer.

    batch: batch of one sequence.
    """
    inputs = batch.inputs[: task.length, 0].numpy()
    vectors, priorities = inputs[:, : task.bits], inputs[:, task.bits]
    order = np.argsort(-priorities, kind="stable")[: task.answers]
    figure = style.new_figure(2.5)
    axes = figure.subplots(
        2, 2, height_ratios=[1.2, 1], width_ratios=[task.length, task.answers], sharey="row"
    )
    answered = np.isin(np.arange(task.length), order)
    _draw_vectors(axes[:, 0], "Inputs", vectors, priorities, answered)
    _draw_vectors(axes[:, 1], "Targets", vectors[order], priorities[order], answered[order])
    axes[0, 0].set_ylabel("bit")
    axes[1, 0].set_ylabel("priority")
    style.title(figure, "An input and its target in the priority sort task")
    return figure


def _draw_vectors(
    axes: Sequence[Axes], title: str, vectors: Array, priorities: Array, answered: Booleans
) -> None:
    """Draw vectors above bars of their priorities; bars outside the answer are pale."""
    above, below = axes
    panels.draw_image(above, vectors.T, "bits")
    above.set_title(title, loc="left")
    above.set(xticks=[], yticks=[])
    colours = [style.BLUE if flag else style.PALE for flag in answered]
    below.bar(np.arange(len(priorities)), priorities, color=colours, edgecolor=style.GREY, lw=0.4)
    below.axhline(0, color=style.BLACK, linewidth=0.6)
    below.spines[["top", "right", "bottom"]].set_visible(False)
    below.set(xlim=above.get_xlim(), ylim=(-1.05, 1.05), xticks=[], yticks=[-1, 0, 1])


@style.styled
def sort_memory_use(
    recording: Recording, fit: LinearFit, write_head: int = 0, read_head: int = 0
) -> Figure:
    """Draw figure 17: locations predicted from the priority, write weightings, read weightings.

    recording: recording of one sequence of priority sort.
    fit: linear fit over many sequences.
    """
    writing, reading = panels.head_weightings(recording.trace, write_head, read_head)
    count, scored = writing.shape[1], recording.scored[:, 0]
    written = int(recording.answer_start[0]) - 1
    fitted = fit.locations(recording.channel("priority")[:written, 0], count)
    predicted = np.eye(count)[np.round(fitted).astype(int) % count]
    rows = panels.attended_locations(predicted, writing[:written], reading[scored], start=fit.cut)
    figure = style.new_figure(3.4)
    axes = figure.subplots(1, 3, sharey=True)
    pictures = {
        "Linear function of the priority": predicted[:, rows],
        "Write weightings": writing[:written, rows],
        "Read weightings": reading[scored][:, rows],
    }
    for ax, (title, values) in zip(axes, pictures.items(), strict=True):
        image = panels.draw_image(ax, values.T, "weights")
        ax.set_title(title, loc="left")
    for ax, label in zip(axes, ("input vector", "input vector", "answer"), strict=True):
        ax.set_xlabel(label)
        ax.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    axes[0].set_ylabel("location")
    panels.number_rows(axes[0], rows)
    panels.scale_bar(figure, image, [axes[-1]])
    style.title(
        figure, f"NTM memory use during the priority sort task (R\u00b2 = {fit.r_squared:.2f})"
    )
    return figure

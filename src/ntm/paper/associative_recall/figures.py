"""Figure 12: the memory during associative recall."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from ntm.evaluation.recording import Recording
from ntm.evaluation.weightings import Integers, mean
from ntm.figures import panels, style
from ntm.figures.memory_use import MemoryPanels, draw_task_memory_use
from ntm.paper.associative_recall.heads import Lookup, follow
from ntm.paper.copy.heads import TIMINGS

_QUERY, _ANSWER, _BETWEEN = style.GREEN, style.VERMILLION, style.BLACK
_LEGEND = {
    "the item that is queried": _QUERY,
    "the next item, which is the answer": _ANSWER,
    "added at the delimiter between them": _BETWEEN,
}


@style.styled
def recall_memory_use(recording: Recording, write_head: int = 0, read_head: int = 0) -> Figure:
    """Draw figure 12: where the answer was written and read, and the add between the items.

    recording: recording of one sequence of associative recall.
    """
    figure, parts = draw_task_memory_use(recording, (write_head, read_head))
    pair = (write_head, read_head)
    lookups = [follow(recording, (pair, timing)) for timing in TIMINGS]
    _draw_boxes(parts, recording, max(lookups, key=lambda lookup: mean(lookup.hits)))
    entries = [Line2D([], [], color=colour, label=name) for name, colour in _LEGEND.items()]
    figure.legend(handles=entries, loc="outside lower center", ncols=3)
    return figure


def _draw_boxes(parts: MemoryPanels, recording: Recording, lookup: Lookup) -> None:
    plan, bits = lookup.plan, (0, len(recording.task.output_channels) - 1)
    vectors = plan.period - 1
    between, query = int(plan.delimiter[0]), int(plan.items[0]) * plan.period
    answer, width = int(plan.answer[0]), len(panels.drawn_values(parts.adds))
    for first, colour in ((between - vectors, _QUERY), (query + 1, _QUERY), (between + 1, _ANSWER)):
        style.box(parts.inputs, (first, first + vectors - 1), bits, colour)
    style.box(parts.outputs, (answer, answer + vectors - 1), bits, _ANSWER)
    style.box(parts.adds, (between, between), (0, width - 1), _BETWEEN)
    _box_path(parts.writing, parts, lookup.write_step[:, 0], lookup.writer.place[:, 0])
    _box_path(parts.reading, parts, lookup.read_step[:, 0], lookup.reader.place[:, 0])


def _box_path(ax: Axes, parts: MemoryPanels, steps: Integers, place: Integers) -> None:
    """Frame a head's locations at successive steps: one frame if they are adjacent, else many."""
    rows = parts.rows(place[steps])
    if rows.min() >= 0 and np.ptp(rows) < len(rows):
        style.box(ax, (steps[0], steps[-1]), (rows.min(), rows.max()), _ANSWER)
    else:
        for step, row in zip(steps[rows >= 0], rows[rows >= 0], strict=True):
            style.box(ax, (step, step), (row, row), _ANSWER)

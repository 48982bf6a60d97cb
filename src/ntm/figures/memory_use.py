"""Memory use of a network: the six panels of figures 6, 9 and 12."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from ntm.description import HeadKind
from ntm.evaluation.recording import Recording
from ntm.evaluation.weightings import Integers
from ntm.figures import panels, style
from ntm.figures.panels import Scale
from ntm.trace import Array, Trace

# Heights in inches: an input channel, any other row of pixels, the smallest and largest panel.
_CHANNEL, _ROW, _LOWEST, _HIGHEST = 0.09, 0.055, 0.55, 2.4


class MemoryPanels(NamedTuple):
    """Axes of the six panels. Their coordinates are time steps and rows."""

    inputs: Axes
    outputs: Axes
    adds: Axes
    reads: Axes
    writing: Axes
    reading: Axes
    locations: Integers
    """Location shown by each row of the two bottom panels."""

    def rows(self, locations: Integers) -> Integers:
        """Return the rows that show these locations, -1 for locations not shown."""
        shown = locations[:, None] == self.locations
        return np.where(shown.any(axis=1), shown.argmax(axis=1), -1)


class Picture(NamedTuple):
    """Title, values (time, rows) and colour scale of one panel, and the word for a row."""

    title: str
    values: Array
    scale: Scale
    row: str


@style.styled
def memory_use(trace: Trace, write_head: int | None = None, read_head: int | None = None) -> Figure:
    """Draw the actions of a write head and a read head in one sequence of any task.

    trace: trace of one sequence; `trace.sequence(index)` selects one from a batch.
    write_head, read_head: heads, counted from zero (None: the heads with the sharpest focus).
    """
    writing, reading = trace.weightings("write"), trace.weightings("read")
    if not (writing.shape[2] and reading.shape[2]):
        raise ValueError("This trace has no read head or no write head; there is nothing to draw.")
    writer = _sharpest(writing) if write_head is None else write_head
    reader = _sharpest(reading) if read_head is None else read_head
    title = (
        f"Write head {writer + 1} of {writing.shape[2]}, read head {reader + 1} of "
        f"{reading.shape[2]}"
    )
    return draw_memory_use(trace, title, write_head=writer, read_head=reader)[0]


@style.styled
def task_memory_use(
    recording: Recording,
    write_head: int = 0,
    read_head: int = 0,
    task_title: str = "",
    machine: str = "NTM",
) -> Figure:
    """Draw figures 6 and 9: writes during the input and reads during the answer.

    recording: recording of one sequence.
    task_title: name of the task in the title (empty: the task's own name).
    machine: name of the machine in the title ("NTM").
    """
    return draw_task_memory_use(recording, (write_head, read_head), task_title, machine)[0]


def draw_task_memory_use(
    recording: Recording, heads: tuple[int, int], task_title: str = "", machine: str = "NTM"
) -> tuple[Figure, MemoryPanels]:
    """Draw as `task_memory_use`; return also the panels, to draw more on them."""
    named = (task_title or recording.task.name.replace("-", " ")).lower()
    write_head, read_head = heads
    figure, parts = draw_memory_use(
        recording.trace,
        f"{machine} memory use during the {named} task",
        write_head=write_head,
        read_head=read_head,
        scored=recording.scored[:, 0],
        channels=recording.task.input_channels,
        rows=panels.locations_in_use(recording, write_head, read_head),
    )
    mark_start(parts, int(recording.answer_start[0]))
    return figure, parts


def draw_memory_use(
    trace: Trace,
    title: str,
    *,
    write_head: int = 0,
    read_head: int = 0,
    scored: NDArray[np.bool_] | None = None,
    channels: Sequence[str] = (),
    rows: Integers | None = None,
) -> tuple[Figure, MemoryPanels]:
    """Draw inputs, adds and write weightings beside outputs, reads and read weightings.

    trace: trace of one sequence.
    scored: steps whose outputs count, (time,); outputs of other steps are blank (None: all count).
    channels: names of the inputs.
    rows: locations to show (None: every location that one of the two heads attends to).
    """
    writing, reading = panels.head_weightings(trace, write_head, read_head)
    if rows is None:
        rows = panels.attended_locations(writing, reading)
    inputs, outputs = trace.inputs[:, 0], trace.probabilities[:, 0]
    if scored is not None:
        outputs = np.where(scored[:, None], outputs, np.nan)
    pictures = (
        Picture("Inputs", inputs, "bits" if inputs.min() >= 0 else "signed", "channel"),
        Picture("Outputs", outputs, "bits", "channel"),
        _vectors(trace, "write", write_head),
        _vectors(trace, "read", read_head),
        Picture("Write weightings", writing[:, rows], "weights", "location"),
        Picture("Read weightings", reading[:, rows], "weights", "location"),
        *_lanes(trace, {"write": write_head, "read": read_head}, rows),
    )
    figure, parts = _panels(pictures, rows)
    _name_channels(parts.inputs, channels)
    style.title(figure, title)
    return figure, parts


def mark_start(parts: MemoryPanels, step: int) -> None:
    """Draw a line in every panel before the first step of the answer."""
    for ax in parts.inputs.figure.axes:
        if ax.images:
            ax.axvline(step - 0.5, color=style.GREY, linewidth=0.8, linestyle=(0, (2, 2)))


def _vectors(trace: Trace, kind: HeadKind, head: int) -> Picture:
    """Return the vectors that a head adds or reads."""
    labels = [a.label for a in trace.described if (a.head, a.role) == (kind, "vector")]
    title = f"{labels[-1].capitalize()}s" if labels else f"{kind.capitalize()} vectors"
    return Picture(title, trace.vectors(kind)[:, 0, head], "signed", "value")


def _lanes(trace: Trace, heads: dict[HeadKind, int], rows: Integers) -> Iterator[Picture]:
    """Yield the arrays that only this kind of machine has."""
    for array in trace.described:
        if array.role != "lane" or array.name not in trace.arrays:
            continue
        values = trace.arrays[array.name][:, 0]
        if array.head:
            values = values[:, heads[array.head]]
        values = values.reshape(len(values), -1)
        on_locations = array.axes[-1] == "location" and values.shape[1] > rows.max(initial=0)
        shown = values[:, rows] if on_locations else values
        scale: Scale = "weights" if shown.min() >= 0 else "signed"
        yield Picture(array.label.capitalize(), shown, scale, array.axes[-1])


def _panels(pictures: Sequence[Picture], rows: Integers) -> tuple[Figure, MemoryPanels]:
    """Draw panels in two columns, the first six in the order of `MemoryPanels`."""
    heights = [_height(picture) for picture in pictures[::2]]
    figure = style.new_figure(sum(heights) + 1.2)
    axes = figure.subplots(len(heights), 2, sharex=True, height_ratios=heights)
    for ax, picture in zip(axes.flat, pictures, strict=False):
        image = panels.draw_image(ax, picture.values.T, picture.scale)
        ax.set_title(picture.title, loc="left")
        if picture.values.shape[1] == 1:
            ax.set_yticks([])
        else:
            ax.yaxis.set_major_locator(MaxNLocator(3, integer=True))
        if ax in axes[:, 1]:
            panels.scale_bar(figure, image, [ax])
        else:
            ax.set_ylabel(picture.row)
        if picture.row == "location" and picture.values.shape[1] == len(rows):
            panels.number_rows(ax, rows)
    for ax in axes.flat[len(pictures) :]:
        ax.set_axis_off()
    for ax in axes[-1]:
        ax.set_xlabel("time step")
    (inputs, outputs), (adds, reads), (writing, reading) = axes[:3]
    return figure, MemoryPanels(inputs, outputs, adds, reads, writing, reading, rows)


def _height(picture: Picture) -> float:
    """Return the height of a panel in inches."""
    rows = int(picture.values.shape[1])
    return min(max((_CHANNEL if picture.row == "channel" else _ROW) * rows, _LOWEST), _HIGHEST)


def _name_channels(ax: Axes, channels: Sequence[str]) -> None:
    """Label the channels that are not data bits, such as delimiters and numbers."""
    special = {row: name for row, name in enumerate(channels) if not name.startswith("bit ")}
    if special:
        ax.set_yticks(list(special), labels=list(special.values()))


def _sharpest(weightings: Array) -> int:
    return int(weightings.max(axis=-1).mean(axis=(0, 1)).argmax())

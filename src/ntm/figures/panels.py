"""Panels of most figures: images of vectors over time, with time to the right and rows down."""

from collections.abc import Sequence
from typing import Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.ticker import FuncFormatter, MaxNLocator
from numpy.typing import NDArray

from ntm.evaluation.recording import Recording
from ntm.evaluation.weightings import Integers
from ntm.figures import style
from ntm.trace import Array, Trace

Scale = Literal["bits", "signed", "weights"]
_SCALES = {
    "bits": (style.BITS, 0.0, 1.0),
    "signed": (style.SIGNED, -1.0, 1.0),
    "weights": (style.WEIGHTS, 0.0, 1.0),
}


def draw_image(ax: Axes, values: Array, scale: Scale) -> AxesImage:
    """Draw rows over time, (rows, steps); NaN is blank."""
    colours, low, high = _SCALES[scale]
    ax.spines[:].set_linewidth(0.4)
    ax.tick_params(length=2)
    return ax.imshow(values, cmap=colours, vmin=low, vmax=high, aspect="auto")


def drawn_values(ax: Axes) -> Array:
    """Return the values that `draw_image` drew, (rows, steps)."""
    return np.asarray(ax.images[0].get_array())


def number_rows(ax: Axes, rows: Integers) -> None:
    """Label rows with their memory locations."""
    ax.yaxis.set_major_locator(MaxNLocator(4, integer=True))
    names = {number: str(row) for number, row in enumerate(rows)}
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: names.get(round(value), "")))


def scale_bar(figure: Figure, image: AxesImage, axes: Sequence[Axes], label: str = "") -> None:
    """Draw a slim colour bar to the right of the axes."""
    low, high = image.get_clim()
    bar = figure.colorbar(image, ax=list(axes), aspect=12, pad=0.01, shrink=0.9, fraction=0.04)
    bar.set_ticks([low, high], labels=[f"{low:g}", f"{high:g}"])
    bar.outline.set_linewidth(0.4)
    bar.ax.tick_params(length=2)
    bar.set_label(label, labelpad=-4)


def attended_locations(
    *weightings: Array, start: int | None = None, weight: float = 0.1, margin: int = 2
) -> Integers:
    """Return the shortest range of locations, around the ring, that holds all noticeable weights.

    weightings: (time, N) each, of one memory.
    start: location at which to cut the ring open (None: in the widest gap).
    weight: smallest noticeable weight.
    margin: locations to add on either side.
    """
    count = weightings[0].shape[-1]
    noticed = np.any([(w >= weight).any(axis=0) for w in weightings], axis=0)
    if not noticed.any():
        return np.arange(count)
    if start is None:
        start = _after_widest_gap(noticed)
    attended = np.flatnonzero(np.roll(noticed, -start))
    first, length = int(attended[0]) - margin, int(np.ptp(attended)) + 1 + 2 * margin
    if length >= count:
        first, length = 0, count
    locations: Integers = (start + first + np.arange(length)) % count
    return locations


def _after_widest_gap(noticed: NDArray[np.bool_]) -> int:
    places = np.flatnonzero(noticed)
    gaps = np.diff(places, prepend=places[-1] - len(noticed))
    return int(places[gaps.argmax()])


def head_weightings(trace: Trace, write_head: int, read_head: int) -> tuple[Array, Array]:
    """Return a write head's and a read head's weightings for the first sequence: (time, N) each."""
    return trace.weightings("write")[:, 0, write_head], trace.weightings("read")[:, 0, read_head]


def locations_in_use(recording: Recording, write_head: int, read_head: int) -> Integers:
    """Return the locations written before the answer or read during it, for one sequence."""
    writing, reading = head_weightings(recording.trace, write_head, read_head)
    scored = recording.scored[:, 0]
    return attended_locations(writing[~scored], reading[scored])

"""Common style of all figures: sizes for print, colours that are safe for the colour-blind."""

from collections.abc import Callable, Sequence
from functools import wraps
from io import BytesIO
from pathlib import Path
from typing import Any, Literal, ParamSpec

import matplotlib.style
from matplotlib.axes import Axes
from matplotlib.colors import Colormap, LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from ntm.common.files import write_atomically

Arguments = ParamSpec("Arguments")

_STYLE = Path(__file__).with_name("ntm.mplstyle")
SETTINGS: Any = matplotlib.rc_params_from_file(_STYLE, use_default_template=False)

WIDTH = 7.2
"""Width of a figure in inches: the text width of a page."""

# Okabe and Ito's colours: distinct under every common colour blindness.
BLUE, GREEN, VERMILLION = "#0072B2", "#009E73", "#D55E00"
BLACK, GREY, PALE = SETTINGS["text.color"], "#8A8A8A", "#E6E6E6"


def _scale(name: str, colours: Sequence[str] | Sequence[tuple[float, str]]) -> Colormap:
    """Return a colour scale from the lowest value to the highest; NaN is pale grey."""
    return LinearSegmentedColormap.from_list(name, colours).with_extremes(bad=PALE)


BITS = _scale("bits", ["#F4F6F9", "#6FA8D6", "#08306B"])
"""Inputs, targets and outputs: pale is zero, dark is one."""
SIGNED = _scale("signed", ["#7F3B08", "#E08214", "#FBF7F1", "#6FA8D6", "#08306B"])
"""Vectors added and read: brown is negative, pale is zero, blue is positive."""
WEIGHTS = _scale(
    "weights",
    [(0, "#000000"), (0.2, "#5B2A86"), (0.5, "#E9724C"), (0.85, "#FFE98A"), (1, "#FFFFFF")],
)
"""Weightings: black is zero and white is one, as in the paper."""


def styled(draw: Callable[Arguments, Figure]) -> Callable[Arguments, Figure]:
    """Make a function draw in this style; matplotlib settings of the caller have no effect."""

    @wraps(draw)
    def drawn(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Figure:
        with matplotlib.style.context(SETTINGS, after_reset=True):
            return draw(*args, **kwargs)

    return drawn


def new_figure(height: float, layout: Literal["constrained"] | None = "constrained") -> Figure:
    """Return an empty figure of this height in inches, without registering it in pyplot."""
    return Figure(figsize=(WIDTH, height), layout=layout)


def save(figure: Figure, path: str | Path, formats: Sequence[str] = ("png", "svg")) -> list[Path]:
    """Write a figure as path.png and path.svg and return the files."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    files = [path.with_name(f"{path.name}.{kind}") for kind in formats]
    with matplotlib.style.context(SETTINGS, after_reset=True):
        for file, kind in zip(files, formats, strict=True):
            content = BytesIO()
            # A date would make two equal files differ.
            metadata = {"Date": None} if kind == "svg" else None
            figure.savefig(content, format=kind, metadata=metadata)
            write_atomically(file, content.getvalue())
    return files


def png(figure: Figure, dpi: int = 120) -> bytes:
    """Return a figure as the bytes of a PNG file."""
    content = BytesIO()
    with matplotlib.style.context(SETTINGS, after_reset=True):
        figure.savefig(content, format="png", dpi=dpi)
    return content.getvalue()


def title(figure: Figure, text: str) -> None:
    """Give a figure a title."""
    # A layout engine makes room for a title only if it may choose the title's height.
    place = {} if figure.get_layout_engine() else {"y": 0.99}
    figure.suptitle(text, x=0.01, ha="left", va="top", fontweight="bold", fontsize=9, **place)


def box(
    ax: Axes, steps: tuple[float, float], rows: tuple[float, float], colour: str, **look: Any
) -> Rectangle:
    """Draw a frame around pixels, from the first step and row to the last, both included."""
    width, height = steps[1] - steps[0] + 1, rows[1] - rows[0] + 1
    frame = Rectangle(
        (steps[0] - 0.5, rows[0] - 0.5), width, height,
        fill=False, edgecolor=colour, linewidth=1.6, clip_on=False, **look,
    )  # fmt: skip
    ax.add_patch(frame)
    return frame

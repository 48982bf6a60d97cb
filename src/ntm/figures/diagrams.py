"""Figures 1 and 2: the machine and its addressing, with the names that the code uses."""

from typing import Any, NamedTuple

import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

from ntm.addressing import (
    Addressing,
    Focus,
    address,
    focus_by_content,
    interpolate,
    rotate,
    sharpen,
)
from ntm.config import NTMConfig
from ntm.figures import style
from ntm.memory import add, erase, read

Place = tuple[float, float]

_SHIFTS = (-1, 0, 1)
_FILL = "#E8F0F8"


@style.styled
def architecture(config: NTMConfig | None = None) -> Figure:
    """Draw figure 1: controller, heads and memory. A dashed line separates the outside world.

    config: show the sizes of this network (None: no sizes).
    """
    figure, ax = _canvas(3.4, (10, 4.75))
    world = {"facecolor": "none", "edgecolor": style.GREY, "linestyle": (0, (4, 3))}
    ax.add_patch(_rounded((5, 2.1), (9.6, 3.9), **world))
    sizes = _sizes(config)
    for name, place in _BLOCKS.items():
        _block(ax, place, (2.9, 0.74), name, sizes.get(name, ""))
    _arrow(ax, (4.2, 4.65), (4.2, 3.8), "input", (4.05, 4.62))
    _arrow(ax, (5.8, 3.8), (5.8, 4.65), "output", (5.95, 4.62))
    asked = ", ".join(Focus._fields)
    _arrow(ax, (3.6, 3.05), (2.5, 2.42), asked, (2.75, 2.78))
    _arrow(ax, (3.1, 2.42), (4.2, 3.05), "reads", (3.85, 2.6))
    _arrow(ax, (6.4, 3.05), (7.5, 2.42), f"{asked},\nerase, add", (7.2, 2.85))
    _arrow(ax, (4.2, 0.97), (2.8, 1.68), read.__name__, (3.3, 1.2))
    _arrow(ax, (7.2, 1.68), (5.8, 0.97), f"{erase.__name__}, {add.__name__}", (6.7, 1.2))
    style.title(figure, "Neural Turing Machine")
    return figure


_BLOCKS: dict[str, Place] = {
    "controller": (5, 3.42),
    "read heads": (2.3, 2.05),
    "write heads": (7.7, 2.05),
    "memory": (5, 0.6),
}


def _sizes(config: NTMConfig | None) -> dict[str, str]:
    if config is None:
        return {}
    layers = f"{config.controller_layers} x " if config.controller_layers > 1 else ""
    return {
        "controller": f"{config.controller}, {layers}{config.controller_size} units",
        "read heads": str(config.read_heads),
        "write heads": str(config.write_heads),
        "memory": f"{config.memory_locations} locations of {config.memory_width} values",
    }


class Example(NamedTuple):
    """Worked example of addressing: one head at one step."""

    memory: torch.Tensor  # (1, N, M)
    previous: torch.Tensor  # weighting of the previous step, (1, 1, N)
    focus: Focus
    result: Addressing


def worked_example() -> Example:
    """Address location 8 by content, mix in the previous weighting, and shift by one."""
    rows = torch.rand(1, 12, 6, generator=torch.Generator().manual_seed(5)) * 2 - 1
    previous = torch.softmax(-(torch.arange(12) - 3.0).square(), dim=0).view(1, 1, -1)
    focus = Focus(
        key=rows[:, 8:9] + 0.2,
        strength=torch.tensor([[6.0]]),
        gate=torch.tensor([[0.7]]),
        shift=torch.tensor([[[0.05, 0.15, 0.8]]]),
        sharpness=torch.tensor([[3.0]]),
    )
    return Example(rows, previous, focus, address(focus, rows, previous, _SHIFTS))


@style.styled
def addressing_flow() -> Figure:
    """Draw figure 2: the chain from a key to a weighting, with the numbers of a small example.

    `ntm.addressing.address` computes every weighting in the figure.
    """
    example = worked_example()
    figure, ax = _canvas(3.5, (12, 5.9))
    chain = (focus_by_content, interpolate, rotate, sharpen)
    equations = ("equations 5 and 6", "equation 7", "equation 8", "equation 9")
    for column, (link, note) in enumerate(zip(chain, equations, strict=True)):
        x = 1.5 + 3 * column
        _block(ax, (x, 2.75), (2.4, 0.8), link.__name__, note)
        _arrow(ax, (x, 3.75), (x, 3.18))
        _arrow(ax, (x, 2.32), (x, 1.85))
        inset = _inset(ax, (x - 1.2, 0.55, 2.4, 1.25), Addressing._fields[column])
        _bars(inset, example.result[column], style.BLUE)
        if column:
            _arrow(ax, (x - 1.78, 2.75), (x - 1.23, 2.75))
    _draw_given(ax, example)
    style.title(figure, "The addressing of a head")
    return figure


def _draw_given(ax: Axes, example: Example) -> None:
    """Draw the inputs of each link of the chain, under the names in `Focus`."""
    key, strength, gate, shift, sharpness = Focus._fields
    numbers = {
        f"{key}, {strength} {example.focus.strength.item():g}": 1.5,
        f"{gate} {example.focus.gate.item():g}": 4.5,
        shift: 7.5,
        f"{sharpness} {example.focus.sharpness.item():g}": 10.5,
    }
    for text, x in numbers.items():
        ax.text(x, 3.82, text, ha="center", va="bottom")
    memory = _inset(ax, (0.3, 4.62, 2.4, 0.85), "memory")
    memory.imshow(example.memory[0].T.numpy(), cmap=style.SIGNED, vmin=-1, vmax=1, aspect="auto")
    _bars(_inset(ax, (3.3, 4.62, 2.4, 0.85), "previous weighting"), example.previous, style.GREY)
    turns = _inset(ax, (7.05, 4.62, 0.9, 0.85), "")
    _bars(turns, example.focus.shift, style.GREY)
    turns.set_xticks(
        range(len(_SHIFTS)), labels=[f"{turn:+d}" if turn else "0" for turn in _SHIFTS]
    )


def _inset(ax: Axes, place: tuple[float, float, float, float], name: str) -> Axes:
    """Add a small panel at x, y, width and height, with its name below."""
    inset = ax.inset_axes(place, transform=ax.transData)
    inset.set(xticks=[], yticks=[])
    inset.set_xlabel(name, fontweight="bold", labelpad=2)
    return inset


def _bars(ax: Axes, weights: torch.Tensor, colour: str) -> None:
    """Draw a weighting as bars."""
    heights = weights.flatten().tolist()
    ax.bar(range(len(heights)), heights, width=0.8, color=colour)
    ax.set_ylim(0, max(0.8, *heights))
    ax.spines[["top", "right", "left"]].set_visible(False)


def _canvas(height: float, size: tuple[float, float]) -> tuple[Figure, Axes]:
    """Return an empty figure and its axes, which span (0, 0) to `size`."""
    figure = style.new_figure(height)
    ax = figure.subplots()
    ax.set(xlim=(0, size[0]), ylim=(0, size[1]))
    ax.axis("off")
    return figure, ax


def _rounded(centre: Place, size: tuple[float, float], **look: Any) -> FancyBboxPatch:
    corner = (centre[0] - size[0] / 2, centre[1] - size[1] / 2)
    return FancyBboxPatch(corner, *size, boxstyle="round,pad=0,rounding_size=0.12", **look)


def _block(ax: Axes, centre: Place, size: tuple[float, float], name: str, note: str = "") -> None:
    """Draw a named part of the machine, with a note below the name."""
    ax.add_patch(_rounded(centre, size, facecolor=_FILL, edgecolor=style.BLUE, linewidth=1))
    rise = 0.13 if note else 0
    ax.text(centre[0], centre[1] + rise, name, ha="center", va="center", fontweight="bold")
    ax.text(centre[0], centre[1] - 0.17, note, ha="center", va="center", fontsize=7)


def _arrow(ax: Axes, start: Place, end: Place, text: str = "", place: Place = (0, 0)) -> None:
    """Draw an arrow with a label. `place` puts the label left or right of the arrow."""
    look = {"arrowstyle": "-|>", "color": style.BLACK, "lw": 1, "shrinkA": 0, "shrinkB": 0}
    ax.annotate("", end, start, arrowprops=look)
    side = "right" if place[0] < (start[0] + end[0]) / 2 else "left"
    ax.text(*place, text, ha=side, va="center", fontsize=7, color="#444444")

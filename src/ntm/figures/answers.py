"""Figures 4, 5 and 8: targets above outputs, to show whether a network generalises."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.gridspec import SubplotSpec
from matplotlib.lines import Line2D
from numpy.typing import NDArray
from torch import Tensor

from ntm.common.channels import ChannelKind
from ntm.figures import style
from ntm.figures.panels import draw_image
from ntm.tasks import OUTPUTS, Batch
from ntm.trace import Array

# Heights in inches: a row of pixels, the gap between targets and outputs, the marks, the heading.
_ROW, _GAP, _MARKS, _HEADING = 0.062, 0.06, 0.12, 0.24


class Answer(NamedTuple):
    """Targets, and a network's outputs as probabilities; both (steps, channels)."""

    title: str
    targets: Array
    outputs: Array
    kind: ChannelKind = "bits"

    @classmethod
    def of(cls, title: str, batch: Batch, logits: Tensor) -> "Answer":
        """Return the answer at the scored steps of a batch's first sequence.

        logits: (time, batch, output_size).
        """
        scored = batch.mask[:, 0] > 0
        kind = batch.output_kind
        outputs = OUTPUTS[kind].probabilities(logits[scored, 0])
        return cls(title, batch.targets[scored, 0].numpy(), outputs.numpy(), kind)

    @property
    def wrong(self) -> NDArray[np.int64]:
        """Steps with a wrong bit or symbol."""
        kind = OUTPUTS[self.kind]
        targets, outputs = (torch.as_tensor(array) for array in (self.targets, self.outputs))
        right = kind.right(kind.logits(outputs), targets)
        return np.flatnonzero((~right).any(dim=-1).numpy())


@style.styled
def draw_answers(title: str, lines: Sequence[Sequence[Answer]]) -> Figure:
    """Draw answers in lines, with a mark under every wrong step; longer answers are wider."""
    picture = _ROW * lines[0][0].targets.shape[1]
    line_height = _HEADING + 2 * picture + _GAP + _MARKS
    height = 0.3 + line_height * len(lines)
    figure = style.new_figure(height, layout=None)
    for number, line in enumerate(lines):
        top = height - 0.3 - number * line_height - _HEADING
        grid = figure.add_gridspec(
            1, len(line), width_ratios=[len(answer.targets) for answer in line],
            left=0.075, right=0.995, top=top / height,
            bottom=(top - line_height + _HEADING) / height, wspace=0.06 if len(line) > 1 else 0,
        )  # fmt: skip
        for column, answer in enumerate(line):
            _draw_answer(figure, grid[column], answer, picture, named=column == 0)
    style.title(figure, title)
    mark = Line2D(
        [], [], color=style.VERMILLION, marker="|", linestyle="", label="vector with a wrong bit"
    )
    figure.legend(handles=[mark], loc="upper right", borderaxespad=0.1, handletextpad=0)
    return figure


def _draw_answer(
    figure: Figure, place: SubplotSpec, answer: Answer, picture: float, named: bool
) -> None:
    grid = place.subgridspec(
        5, 1, height_ratios=[picture, _GAP, picture, 0.02, _MARKS - 0.02], hspace=0
    )
    above, below, marks = (figure.add_subplot(grid[row]) for row in (0, 2, 4))
    draw_image(above, answer.targets.T, "bits")
    draw_image(below, answer.outputs.T, "bits")
    marks.vlines(answer.wrong, 0.2, 0.9, color=style.VERMILLION, linewidth=1.2)
    marks.set(xlim=above.get_xlim(), ylim=(0, 1))
    above.set_title(answer.title, loc="left")
    for ax in (above, below, marks):
        ax.set(xticks=[], yticks=[])
    marks.axis("off")
    if named:
        _name(above, "targets")
        _name(below, "outputs")


def _name(ax: Axes, text: str) -> None:
    ax.set_ylabel(text, rotation=0, ha="right", va="center")

"""Figure 4 of the paper: what was to be copied, and what the network said."""

from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor

from ntm.tasks import Batch


def draw_copies(examples: Sequence[tuple[Batch, Tensor]], path: str | Path) -> None:
    """Draw target above answer for each example and save the picture.

    examples: batches of one sequence, with the logits (time, 1, output_size) they were given.
    """
    from matplotlib.figure import Figure

    longest = max(int(batch.mask.sum()) for batch, _ in examples)
    figure = Figure(figsize=(12, 1.9 * len(examples)), layout="constrained")
    rows = [row for batch, logits in examples for row in _rows(batch, logits)]
    for ax, (name, values) in zip(figure.subplots(len(rows), 1, sharex=True), rows, strict=True):
        ax.imshow(values.T.numpy(), cmap="viridis", vmin=0, vmax=1, aspect="auto")
        ax.set_xlim(-0.5, longest - 0.5)
        ax.set_ylabel(name, rotation=0, ha="right", va="center")
        ax.set_yticks([])
    figure.savefig(path, dpi=120)


def _rows(batch: Batch, logits: Tensor) -> list[tuple[str, Tensor]]:
    scored = batch.mask[:, 0] > 0
    answer = torch.sigmoid(logits[scored, 0])
    return [("targets", batch.targets[scored, 0]), ("outputs", answer)]

"""Parts of a problem, as data: tasks declare them, and pages draw them.

    parts = (ProblemPart("vectors", ("length", "bits")),)

A drawn problem is plain data: a value for every part, and a number for every axis of the task
that belongs to no part.

    {"vectors": [[0, 1, 1], [1, 0, 1]], "repeats": 3}
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args

import torch
from torch import Tensor

PartKind = Literal["bits", "numbers", "choice", "text"]
_AXES: dict[str, tuple[int, int]] = {"bits": (1, 3), "text": (0, 0)}


class Problems(NamedTuple):
    """Problems of a batch, before they are encoded as steps.

    sizes: for every axis of the task, the sizes of the problems, (batch,) int64.
    parts: for every part, (entries, batch, ...) float32, zero beyond the size of a problem; for a
        choice, (batch,) int64.
    """

    sizes: Mapping[str, Tensor]
    parts: Mapping[str, Tensor]


@dataclass(frozen=True)
class ProblemPart:
    """Part of a problem.

    axes: names of the axes: an axis of the task, then settings of the task that give a size, as in
        ("length", "bits").
    kind: kind of the part's values ("bits").
        bits: 0 or 1. The studio draws one axis as a row of cells, two axes as a column of cells per
            entry, three axes as a group of columns per entry.
        numbers: from -1 to 1, over one axis.
        choice: index of one entry of the axis, from 0; the last entry cannot be chosen.
        text: typed by a person, without axes; see `ntm.tasks.Examples`.
    """

    name: str
    axes: tuple[str, ...]
    kind: PartKind = "bits"

    def __post_init__(self) -> None:
        if self.kind not in get_args(PartKind):
            raise ValueError(f"kind must be one of {get_args(PartKind)}; got {self.kind!r}.")
        least, most = _AXES.get(self.kind, (1, 1))
        if not least <= len(self.axes) <= most:
            raise ValueError(
                f"{self.name} has the axes {self.axes}; give {least} to {most} of them."
            )

    def tensor(self, value: Any) -> Tensor:
        """Return the value of this part in a drawing as a tensor for `Problems`, batch size 1."""
        if self.kind == "choice":
            return torch.tensor([value])
        return torch.tensor(value, dtype=torch.float32).unsqueeze(1)

    def value(self, tensor: Tensor, index: int, size: int) -> Any:
        """Return this part of problem `index`, with `size` entries, as data for a drawing."""
        if self.kind == "choice":
            return int(tensor[index])
        own = tensor[:size, index]
        return own.tolist() if self.kind == "numbers" else own.int().tolist()

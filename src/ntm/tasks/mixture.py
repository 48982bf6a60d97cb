"""Mixtures of sizes: some batches have smaller problems, early in training.

    share=0.5,until=40000,length=3,repeats=3             every second batch has at most 3 vectors
                                                         and 3 repeats during 40,000 sequences
    share=0.9,growing_until=40000,length=3,repeats=3     the largest sizes of nine batches in ten
                                                         grow from 3 to the full range

Batches are counted from 0, over the whole run. Batch b has smaller problems if
floor((b + 1) * share) is larger than floor(b * share). So batch 0 always has the full range, the
choice needs no random number, and the share is exact in every part of a run.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from ntm.tasks.base import Task


@dataclass(frozen=True)
class Mixture:
    """Smaller ranges of a task's axes, and the batches that they apply to."""

    sizes: Mapping[str, int]
    """Largest size along some axes of the task."""
    share: float
    """Share of the batches with smaller problems, above 0 and below 1."""
    until: int
    """Number of sequences after which all batches have the full range."""
    grows: bool = False
    """Whether the largest sizes grow to the full range during these sequences."""

    def task_after(self, sequences: int, task: Task) -> Task:
        """Return the task with the smaller ranges that apply after this many sequences."""
        if not self.grows:
            return task.up_to(**self.sizes)
        done = min(sequences, self.until)
        return task.up_to(
            **{
                axis: size + (task.trained_range(axis)[1] - size) * done // self.until
                for axis, size in self.sizes.items()
            }
        )

    def has_smaller(self, first: int, batch_size: int) -> bool:
        """Return whether the batch that starts after `first` sequences has smaller problems."""
        batch = first // batch_size
        return first < self.until and int((batch + 1) * self.share) > int(batch * self.share)


def mixture_of(task: Task, text: str) -> Mixture | None:
    """Return the mixture that the setting training.mixture describes; None for an empty text."""
    if not text:
        return None
    try:
        return _mixture(task, _pairs(text))
    except ValueError as error:
        example = ",".join(f"{axis}={task.smallest(axis) + 2}" for axis in task.axes)
        raise ValueError(
            f"training.mixture is {text!r}, but {error}; "
            f"write it like share=0.5,until=40000,{example or 'length=3'}."
        ) from error


def _pairs(text: str) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for part in text.replace(" ", "").split(","):
        name, equals, value = part.partition("=")
        if not equals:
            raise ValueError(f"{part!r} is not of the form name=value")
        if name in pairs:
            raise ValueError(f"it gives {name} twice")
        pairs[name] = value
    return pairs


def _mixture(task: Task, pairs: dict[str, str]) -> Mixture:
    if ("until" in pairs) == ("growing_until" in pairs):
        raise ValueError("it needs either until or growing_until")
    share = _share(pairs.pop("share", ""))
    grows = "growing_until" in pairs
    name = "growing_until" if grows else "until"
    until = _integer(name, pairs.pop(name))
    if until < 1:
        raise ValueError(f"{name} must be at least 1, not {until}")
    sizes = {axis: _size(task, axis, value) for axis, value in pairs.items()}
    if not sizes:
        raise ValueError(f"it needs a size for an axis of the {task.name} task")
    return Mixture(sizes, share, until, grows)


def _share(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = 0.0
    if not 0 < share < 1:
        raise ValueError(f"share must be a number above 0 and below 1, not {text!r}")
    return share


def _size(task: Task, axis: str, text: str) -> int:
    if axis not in task.axes:
        known = " and ".join(task.axes) or "none"
        raise ValueError(f"the {task.name} task has no axis {axis!r} (its axes: {known})")
    size, largest = _integer(axis, text), task.trained_range(axis)[1]
    if not task.smallest(axis) <= size < largest:
        raise ValueError(
            f"{axis} must be at least {task.smallest(axis)} and below the task's {largest}, "
            f"not {size}"
        )
    return size


def _integer(name: str, text: str) -> int:
    if not text.isdecimal():
        raise ValueError(f"{name} must be an integer, not {text!r}")
    return int(text)

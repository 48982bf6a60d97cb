"""How large the problems of a task are along its axes: length, repeats, items."""

from dataclasses import fields

from ntm.tasks import Task


def trained_range(task: Task, axis: str) -> tuple[int, int]:
    """The smallest and the largest size that the task samples."""
    if hasattr(task, axis):
        return getattr(task, axis), getattr(task, axis)
    return getattr(task, f"min_{axis}"), getattr(task, f"max_{axis}")


def smallest(task: Task, axis: str) -> int:
    """The smallest size that makes sense at all."""
    names = (axis, f"min_{axis}")
    return next(int(f.metadata["at_least"]) for f in fields(task) if f.name in names)


def usual_sizes(task: Task) -> dict[str, int]:
    """A size of medium difficulty along every axis."""
    return {axis: sum(trained_range(task, axis)) // 2 for axis in task.axes}


def in_words(sizes: dict[str, int]) -> str:
    """Sizes for a title: "length 5, repeats 3"."""
    return ", ".join(f"{axis} {size}" for axis, size in sizes.items())

"""Drawn problems as batches, random problems as drawings, and facts for the drawing pane."""

from bisect import bisect_left
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from ntm.runs import block_generator
from ntm.studio.errors import RefusedError
from ntm.studio.folder import MOST_RUNS
from ntm.studio.guide import problem_kinds
from ntm.studio.problems import MAX_CELLS, MAX_STEPS, Problem
from ntm.tasks import Batch, Task


def encode(problem: Problem, task: Task) -> Batch:
    """Encode a drawn problem as a batch of one, with the task's settings."""
    kind = problem_kinds()[task.name]
    if not isinstance(problem, kind):
        wanted = ", ".join(kind.model_fields)
        raise RefusedError(
            422, f"problem does not fit the {task.name} task, which is drawn with {wanted}."
        )
    batch = _example(task, problem.sizes, seed=0)
    problem.paint(task, batch)
    return batch


def example(task: Task, sizes: Mapping[str, int], seed: int) -> Problem:
    """Return a random problem; sizes that are not given are the task's usual sizes."""
    for axis in sizes:
        if axis not in task.axes:
            raise RefusedError(
                422, f"The {task.name} task has no {axis}; its sizes are {', '.join(task.axes)}."
            )
    chosen = task.usual_sizes | dict(sizes)
    return problem_kinds()[task.name].read(task, _example(task, chosen, seed))


@lru_cache(MOST_RUNS)
def form(task: Task) -> dict[str, Any]:
    """Return the facts that the drawing pane needs about a task.

    fields: names of the parts of a drawing.
    bits: bits per vector (1 for a task without vectors).
    item_length: vectors per item (1 for a task without items).
    context: number of bits that decide the chances of the next bit (0 for other tasks).
    sizes: for each axis of the task (length, repeats, items), `min` and `max` that are accepted,
    `trained`, the range in training, and `default`, its middle. Two sizes at their maxima may
    together take too many steps.
    """
    return {
        "fields": list(problem_kinds()[task.name].model_fields),
        "bits": getattr(task, "bits", 1),
        "item_length": getattr(task, "item_length", 1),
        "context": getattr(task, "context", 0),
        "sizes": {axis: _size(task, axis) for axis in task.axes},
    }


def _size(task: Task, axis: str) -> dict[str, Any]:
    least = task.smallest(axis)
    others = {other: task.smallest(other) for other in task.axes if other != axis}
    fitting = bisect_left(
        range(least, MAX_STEPS + 2),
        True,
        key=lambda size: _too_large(task.at(**others, **{axis: size})) is not None,
    )
    most = least + fitting - 1
    return {
        "min": least,
        "max": most,
        "trained": task.trained_range(axis),
        "default": min(task.usual_sizes[axis], most),
    }


def _example(task: Task, sizes: Mapping[str, int], seed: int) -> Batch:
    """Return a random problem of the given sizes, encoded with the task's settings."""
    try:
        fixed = task.at(**sizes)
    except (TypeError, ValueError) as error:
        raise RefusedError(422, str(error)) from error
    if sentence := _too_large(fixed):
        raise RefusedError(422, sentence)
    return fixed.sample(1, block_generator("studio", seed))


def _too_large(task: Task) -> str | None:
    """Return why the longest problem that a task samples cannot be shown; None if it can."""
    steps = problem_kinds()[task.name].steps(task)
    if steps > MAX_STEPS:
        return f"This problem takes {steps:,} steps; the studio shows up to {MAX_STEPS:,}."
    cells = steps * max(task.input_size, task.output_size)
    if cells > MAX_CELLS:
        return (
            f"This problem takes {steps:,} steps of {task.input_size:,} channels; the studio shows "
            f"up to {MAX_CELLS:,} values."
        )
    return None

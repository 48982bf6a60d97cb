"""Problems that a person draws: checks, conversion to batches and back, facts for the page.

A problem is plain data with the parts that its task declares; see `ntm.tasks.problems`. The
functions work for any task that declares parts.
"""

from bisect import bisect_left
from collections.abc import Mapping
from functools import lru_cache
from typing import Annotated, Any

import torch
from pydantic import ConfigDict, Field, ValidationError, conlist, create_model

from ntm.runs import block_generator
from ntm.studio.errors import RefusedError, sentence_of
from ntm.studio.folder import MOST_RUNS
from ntm.tasks import TASKS, Batch, ProblemPart, Problems, Task

MAX_STEPS = 1000
MAX_CELLS = 100_000  # steps times channels, of a problem, its target or its answer
_MAX_CHARACTERS = 10 * MAX_STEPS

Problem = dict[str, Any]
_SIZE = Annotated[int, Field(ge=1, le=MAX_STEPS)]
_VALUES: dict[str, Any] = {
    "bits": Annotated[int, Field(ge=0, le=1)],
    "numbers": Annotated[float, Field(ge=-1, le=1)],
    "choice": Annotated[int, Field(ge=0, le=MAX_STEPS)],
    "text": Annotated[str, Field(max_length=_MAX_CHARACTERS)],
}


def drawable() -> list[str]:
    """Return the names of the tasks whose problems can be drawn."""
    return [name for name, task in TASKS.items() if task.parts]


def encode(problem: Problem, task: Task) -> Batch:
    """Return a drawn problem as a batch of one; raise RefusedError if the drawing is wrong."""
    check(problem, task)
    sizes = sizes_of(problem, task)
    fixed = _at(task, sizes)
    for part in task.parts:
        _require_fit(part, problem[part.name], sizes[part.axes[0]])
    return fixed.encode(
        Problems(
            {axis: torch.tensor([sizes[axis]]) for axis in task.axes},
            {part.name: part.tensor(problem[part.name]) for part in task.parts},
        )
    )


def check(problem: Problem, task: Task) -> None:
    """Raise RefusedError if a problem does not have the parts that the task declares."""
    try:
        schema(task).model_validate(problem)
    except ValidationError as error:
        raise RefusedError(422, sentence_of(error.errors()[0], "problem")) from error


def sizes_of(problem: Problem, task: Task) -> dict[str, int]:
    """Return the size of a problem along each axis of its task."""
    parts = {axis: task.part_along(axis) for axis in task.axes}
    return {
        axis: problem[axis] if part is None else len(problem[part.name])
        for axis, part in parts.items()
    }


def example(task: Task, sizes: Mapping[str, int], seed: int) -> Problem:
    """Return a random problem; sizes that are not given are the task's usual sizes."""
    for axis in sizes:
        if axis not in task.axes:
            raise RefusedError(
                422, f"The {task.name} task has no {axis}; its sizes are {', '.join(task.axes)}."
            )
    fixed = _at(task, task.usual_sizes | dict(sizes))
    return drawn(task, fixed.pose(1, block_generator("studio", seed)))


def drawn(task: Task, problems: Problems, index: int = 0) -> Problem:
    """Return one problem of a batch in the form in which a person draws it."""
    sizes = {axis: int(of_batch[index]) for axis, of_batch in problems.sizes.items()}
    numbers = {axis: size for axis, size in sizes.items() if task.part_along(axis) is None}
    return {
        part.name: part.value(problems.parts[part.name], index, sizes[part.axes[0]])
        for part in task.parts
    } | numbers


@lru_cache(MOST_RUNS)
def schema(task: Task) -> Any:
    """Return a pydantic model of the task's problems, which does not convert values."""
    fields = {part.name: _values(part, task) for part in task.parts}
    fields |= {axis: _SIZE for axis in task.axes if task.part_along(axis) is None}
    strict = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)
    declared: dict[str, Any] = {name: (kind, ...) for name, kind in fields.items()}
    return create_model(f"{type(task).__name__}Problem", __config__=strict, **declared)


@lru_cache(MOST_RUNS)
def form(task: Task) -> dict[str, Any]:
    """Return the facts that the drawing pane needs about a task.

    parts: parts of a drawing: `name`, `kind`, `axis` (empty for text), and `shape` of one entry
    along the axis.
    context: for n-grams, number of bits on which the next bit depends (0 for other tasks).
    sizes: for each axis of the task (length, repeats, items), the accepted `min` and `max`, the
    range in training, `trained`, and the middle of this range, `default`. If two sizes are at
    their `max`, the problem may have too many steps.
    """
    parts = [
        {
            "name": part.name,
            "kind": part.kind,
            "axis": "".join(part.axes[:1]),
            "shape": _shape(part, task),
        }
        for part in task.parts
    ]
    return {
        "parts": parts,
        "context": getattr(task, "context", 0),
        "sizes": {axis: _size(task, axis) for axis in task.axes},
    }


def _shape(part: ProblemPart, task: Task) -> list[int]:
    return [getattr(task, name) for name in part.axes[1:]]


def _values(part: ProblemPart, task: Task) -> Any:
    """Return the type of a part for pydantic: a value, or nested lists of values."""
    kind = _VALUES[part.kind]
    if part.kind in ("choice", "text"):
        return kind
    for size in reversed(_shape(part, task)):
        kind = conlist(kind, min_length=size, max_length=size)
    least = task.smallest(part.axes[0])
    return conlist(kind, min_length=least, max_length=MAX_STEPS + 1)


def _require_fit(part: ProblemPart, value: Any, size: int) -> None:
    if part.kind != "choice" and len(value) != size:
        raise RefusedError(422, f"{part.name} has {len(value)} entries; give {size}.")
    if part.kind == "choice" and value > size - 2:
        raise RefusedError(
            422,
            f"{part.name} is {value}; give a number from 0 to {size - 2}.",
        )


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


def _at(task: Task, sizes: Mapping[str, int]) -> Task:
    """Return the task with problems of these sizes; raise RefusedError for wrong sizes."""
    try:
        fixed = task.at(**sizes)
    except (TypeError, ValueError) as error:
        raise RefusedError(422, str(error)) from error
    if sentence := _too_large(fixed):
        raise RefusedError(422, sentence)
    return fixed


def _too_large(task: Task) -> str | None:
    """Return why the longest problem of a task cannot be shown; None if it can be shown."""
    steps = task.longest
    if steps > MAX_STEPS:
        return f"This problem takes {steps:,} steps; the studio shows up to {MAX_STEPS:,}."
    cells = steps * max(task.input_size, task.output_size)
    if cells > MAX_CELLS:
        return (
            f"This problem takes {steps:,} steps of {task.input_size:,} channels; the studio shows "
            f"up to {MAX_CELLS:,} values."
        )
    return None

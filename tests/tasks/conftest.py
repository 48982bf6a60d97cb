"""Pictures of tasks, as their docstrings draw them, turned into problems."""

import inspect
import re
from collections.abc import Callable
from typing import NamedTuple

import pytest

from ntm.tasks import Task

CELLS = {"#": 1.0, ".": 0.0}


class Picture(NamedTuple):
    text: str  # the drawing, without its indentation
    inputs: list[list[float]]  # a row of channels per time step
    answer: list[list[float]]  # the same for the scored steps, which are the last


def _channel(lines: list[str], label: str, symbols: dict[str, float]) -> dict[int, float]:
    """The cells of one row by their column."""
    line = next(line for line in lines if re.search(rf"\b{label}  ", line))
    start = line.index(label) + len(label)
    cells = re.finditer(r"\S+", line[start:])
    return {start + c.start(): symbols[c[0]] if c[0] in symbols else float(c[0]) for c in cells}


def _drawn(task: Task, symbols: dict[str, float]) -> Picture:
    document = inspect.cleandoc(task.__doc__ or "").splitlines()
    first = next(i for i, line in enumerate(document) if re.match(r"\s*input\b", line))
    drawing = []
    for line in document[first:]:
        if line and not line.startswith("    "):
            break
        drawing.append(line)
    text = inspect.cleandoc("\n".join(drawing))
    split = next(i for i, line in enumerate(drawing) if re.match(r"\s*target\b", line))
    known = CELLS | symbols
    inputs = [_channel(drawing[:split], name, known) for name in task.input_channels]
    answer = [_channel(drawing[split:], name, known) for name in task.output_channels]
    # The scored steps stand below the inputs of the same steps, at the right end.
    columns = list(inputs[0])
    assert all(list(row) == columns for row in inputs)
    assert all(list(row) == columns[-len(row) :] for row in answer)
    by_step = [list(step) for step in zip(*(row.values() for row in inputs), strict=True)]
    answers = [list(step) for step in zip(*(row.values() for row in answer), strict=True)]
    return Picture(text, by_step, answers)


@pytest.fixture
def drawn() -> Callable[..., Picture]:
    """Read the picture in a task's docstring, with the meaning of further symbols by name."""

    def read(task: Task, **symbols: float) -> Picture:
        return _drawn(task, symbols)

    return read

"""Problems that a person types: an input and, if it is known, its target.

    {"input": "3 march 1977", "target": ""}

Input and target are texts, as `ntm predict` reads them: plain text, or JSON if the symbols are
longer than one character or the values are bits. Without a target, no answer is scored.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import torch

from ntm.evaluation.predicting import answer_limit
from ntm.models.family import Model
from ntm.runs import block_generator
from ntm.studio.errors import RefusedError, require_few
from ntm.studio.problems import MAX_CELLS, MAX_STEPS, Problem, check
from ntm.studio.tracing import traced, traced_input
from ntm.tasks import Examples
from ntm.tasks.alphabets import Alphabet, as_symbol, units_of
from ntm.tasks.examples import readable
from ntm.trace import Trace

_LONGEST_TITLE = 40
# A larger file takes too long to look through; people can still type.
_LARGEST_FILE = 64_000_000


class Posed(NamedTuple):
    """Problem that is ready to run: largest number of steps, title, function that runs it."""

    steps: int
    title: str
    record: Callable[[Model, str], Trace]


def example(task: Examples, seed: int) -> Problem:
    """Return a validation example, or one symbol if the file of examples is unreadable or large."""
    try:
        asked, answer = _held_out(task.for_validation, seed)
        return {
            "input": _text(asked, task.input_alphabet),
            "target": _text(answer, task.target_alphabet, whole=task.layout == "classification"),
        }
    except (OSError, ValueError):
        return {"input": _any_input(task.input_alphabet), "target": ""}


def posed(problem: Problem, task: Examples) -> Posed:
    """Return a typed problem, ready to run; raise RefusedError if the network cannot read it."""
    check(problem, task)
    title = problem["input"][:_LONGEST_TITLE]
    try:
        asked = task.typed(problem["input"])
        steps = len(units_of(asked)) + 1
        room = min(MAX_STEPS, MAX_CELLS // max(task.input_size, task.output_size))
        require_few(steps + 1, room, "steps")
        if not problem["target"]:
            return _asked(task, asked, title, room - steps - 1)
        answer = task.typed_target(problem["target"])
        whole = task.layout == "classification"
        require_few(steps + len(units_of(answer, whole)) + 1, room, "steps")
        batch = task.posed(asked, answer)
    except ValueError as error:
        sentence = str(error)
        raise RefusedError(422, sentence[:1].upper() + sentence[1:]) from error
    return Posed(len(batch.inputs), title, lambda model, title: traced(model, batch, task, title))


def _asked(task: Examples, value: Any, title: str, room: int) -> Posed:
    steps = len(task.asked(value))  # also refuses unknown symbols
    most = min(answer_limit(task, steps), room) if task.layout == "transduction" else 0
    return Posed(
        steps + most + 1,
        title,
        lambda model, title: traced_input(model, task, value, title, most),
    )


def _held_out(task: Examples, seed: int) -> Any:
    size = Path(readable(task.file)).stat().st_size
    if size > _LARGEST_FILE or not task.problems:
        raise ValueError("There is no example to show.")
    generator = block_generator("studio", seed)
    return task.pair(int(torch.randint(task.problems, (), generator=generator)))


def _text(value: Any, alphabet: Alphabet, whole: bool = False) -> str:
    """Return the text that a person would type for a value in the file of examples."""
    if alphabet.symbols and (whole or alphabet.is_text):
        return "".join(map(as_symbol, units_of(value, whole)))
    return json.dumps(value, ensure_ascii=False)


def _any_input(alphabet: Alphabet) -> str:
    return _text([alphabet.symbols[0] if alphabet.symbols else [0] * alphabet.bits], alphabet)

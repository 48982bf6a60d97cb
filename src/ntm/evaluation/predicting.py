"""Answers of a network to inputs without targets, for a task of examples from a file."""

from typing import Any

import torch

from ntm.tasks import Examples
from ntm.tasks.alphabets import Unit

_STEPS = 32


@torch.no_grad()
def predict(
    model: torch.nn.Module, task: Examples, value: Any, at_most: int | None = None
) -> list[Unit]:
    """Return the symbols or bit vectors that a network answers to an input.

    value: input as in the file: a string, or a list.
    at_most: length at which an answer without an end symbol is cut (None: twice the longest answer
        in training, or twice the input if that is longer).
    """
    parameter = next(model.parameters())
    inputs = task.asked(value).to(parameter)
    logits, state = model(inputs)
    if task.layout != "transduction":
        answer = logits[:, 0] if task.layout == "tagging" else logits[-1:, 0]
        return task.said(answer)[0]
    limit = answer_limit(task, len(inputs)) if at_most is None else at_most
    said: list[Unit] = []
    ended = False
    while not ended and len(said) < limit:
        blank = inputs.new_zeros(min(_STEPS, limit - len(said)), 1, task.input_size)
        logits, state = model(blank, state)
        more, ended = task.said(logits[:, 0])
        said += more
    return said


def answer_limit(task: Examples, steps: int) -> int:
    """Return the length at which an answer is cut, from the number of input steps."""
    return 2 * max(task.longest_answer, steps)


def answer_of(task: Examples, units: list[Unit]) -> Any:
    """Return an answer as JSON data, in the form of the targets in the file."""
    if task.layout == "classification":
        return units[0] if isinstance(units[0], str) else list(units[0])
    if task.target_alphabet.is_text:
        return "".join(map(str, units))
    if task.target_bits == 1:
        return [unit[0] for unit in units]
    return [unit if isinstance(unit, str) else list(unit) for unit in units]


def problem_of(
    model: torch.nn.Module, task: Examples, value: Any, at_most: int | None = None
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the inputs of a whole problem and the mask (time, 1) of the network's answer.

    at_most: as in `predict`.
    """
    inputs = task.asked(value)
    first = task.answer_start(len(inputs))
    if task.layout == "transduction":
        steps = len(predict(model, task, value, at_most)) + 1
        inputs = torch.cat([inputs, inputs.new_zeros(steps, 1, task.input_size)])
    return inputs, (torch.arange(len(inputs)) >= first).float().unsqueeze(1)

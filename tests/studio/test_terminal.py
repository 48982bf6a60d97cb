"""A trace as text."""

import torch
from tests.hand_made import copy_program, performed, right_answers, sample

from ntm import NTM, LSTMBaseline
from ntm.studio import as_text, traced
from ntm.tasks import Copy, pictures

TASK = Copy(bits=3)


def rows(text: str) -> list[str]:
    """Section, label and cells of every row, with single spaces between."""
    return [" ".join(line.split()) for line in text.splitlines()]


def test_the_problem_and_the_answer_are_drawn_as_the_task_draws_them() -> None:
    batch = TASK.sample(1, torch.Generator().manual_seed(5))
    for net in (NTM(4, 3, memory_locations=5), LSTMBaseline(4, 3, hidden_size=5)):
        with torch.no_grad():
            title, *drawn = rows(TASK.render(batch, 0, net(batch.inputs)[0]))
        heading, _, *body = rows(as_text(traced(net, batch, TASK, "a title")))
        assert heading.startswith(f"a title: {title.rpartition(', ')[2]}, cost ")
        assert body[: len(drawn)] == drawn
        assert len(body) == len(drawn) + (2 if isinstance(net, NTM) else 0)


def test_a_row_shows_where_a_head_was() -> None:
    task = TASK.at(length=10)
    batch = sample(task, 1)
    moves = copy_program(task, batch, start=3)
    moves.logits = right_answers(batch)
    text = as_text(performed(task, batch, moves).trace)
    for kind, places in (("write", moves.write), ("read", moves.read)):
        bars = "".join(pictures.BARS[place % 8] for place in places[:, 0])
        assert f"{kind} head 1 {bars}" in rows(text)


def test_a_head_that_spreads_is_nowhere() -> None:
    problem = TASK.sample(1, torch.Generator()).inputs
    text = as_text(traced(NTM(4, 3, memory_locations=20), problem))
    assert f"read head 1 {pictures.ZERO * len(problem)}" in rows(text)
    assert text.startswith("trace\n")  # without a target there is nothing to count

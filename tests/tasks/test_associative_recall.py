from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ntm.tasks import AssociativeRecall

Rows = list[list[float]]


def solve(task: AssociativeRecall, inputs: Rows) -> tuple[list[Rows], Rows]:
    """Read the list and the query from the inputs alone."""
    bits, steps = task.bits, iter(inputs)
    item_delimiter = [*[0.0] * bits, 1.0, 0.0]
    query_delimiter = [*[0.0] * bits, 0.0, 1.0]

    def read_item() -> Rows:
        item = [next(steps) for _ in range(task.item_length)]
        assert all(step[bits:] == [0.0, 0.0] for step in item)
        return [step[:bits] for step in item]

    items = []
    for step in steps:
        if step == query_delimiter:
            break
        assert step == item_delimiter
        items.append(read_item())
    query = read_item()
    if task.close_query:
        assert next(steps) == query_delimiter
    silence = list(steps)
    assert len(silence) == task.item_length
    assert not any(map(any, silence))
    return items, query


@settings(deadline=None, max_examples=60)
@given(
    bits=st.integers(1, 7),
    item_length=st.integers(1, 4),
    items=st.lists(st.integers(2, 7), min_size=2, max_size=2).map(sorted),
    close_query=st.booleans(),
    batch_size=st.integers(1, 5),
    seed=st.integers(0, 1000),
)
def test_every_sequence_is_answered_as_a_slow_reader_would(
    bits: int, item_length: int, items: list[int], close_query: bool, batch_size: int, seed: int
) -> None:
    task = AssociativeRecall(
        bits=bits,
        item_length=item_length,
        min_items=items[0],
        max_items=items[1],
        close_query=close_query,
    )
    batch = task.sample(batch_size, torch.Generator().manual_seed(seed))
    for index in range(batch_size):
        length = int(batch.lengths[index])
        heard, query = solve(task, batch.inputs[:length, index].tolist())
        assert items[0] <= len(heard) <= items[1]
        scored = batch.mask[:, index] > 0
        assert scored.nonzero().flatten().tolist() == list(range(length - item_length, length))
        answer = batch.targets[scored, index].tolist()
        # Small items often occur twice; then either successor is an answer.
        assert (query, answer) in list(pairwise(heard))


def test_the_picture_is_a_problem_with_its_answer(drawn: Callable[..., Any]) -> None:
    task = AssociativeRecall(bits=3, item_length=2)
    picture = drawn(task)
    items, query = solve(task, picture.inputs)
    assert query == items[1]
    assert picture.answer == items[2]


def test_every_item_but_the_last_is_queried_equally_often() -> None:
    count = 5000
    task = AssociativeRecall(bits=13).at(items=5)
    batch = task.sample(count, torch.Generator().manual_seed(1))
    asked = torch.zeros(5)
    for index in range(count):
        items, query = solve(task, batch.inputs[:, index].tolist())
        asked[items.index(query)] += 1
    assert asked[4] == 0
    five_sigma = 5 * (count * 0.25 * 0.75) ** 0.5
    assert ((asked[:4] - count / 4).abs() < five_sigma).all()


def test_list_lengths_include_both_ends() -> None:
    batch = AssociativeRecall().sample(500, torch.Generator().manual_seed(1))
    assert set(batch.lengths.tolist()) == {4 * items + 8 for items in (2, 3, 4, 5, 6)}


def test_a_list_without_a_successor_is_refused() -> None:
    with pytest.raises(ValueError, match="min_items must be an integer of at least 2, got 1"):
        AssociativeRecall().at(items=1)

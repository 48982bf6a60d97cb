from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ntm.tasks import PrioritySort

Rows = list[list[float]]


def solve(task: PrioritySort, inputs: Rows) -> Rows:
    """Read the vectors and priorities from the inputs alone, and sort them."""
    bits, steps = task.bits, iter(inputs)
    heard = []
    for step in steps:
        priority, delimiter = step[bits:]
        if delimiter:
            assert step[: bits + 1] == [0.0] * (bits + 1)
            break
        assert -1 <= priority <= 1
        heard.append((priority, step[:bits]))
    assert len(heard) == task.length
    silence = list(steps)
    assert len(silence) == task.answers
    assert not any(map(any, silence))
    ranked = sorted(heard, key=lambda entry: entry[0], reverse=True)
    return [vector for _, vector in ranked[: task.answers]]


@settings(deadline=None, max_examples=40)
@given(
    bits=st.integers(1, 9),
    vectors=st.integers(1, 23),
    left_out=st.integers(0, 5),
    batch_size=st.integers(1, 5),
    seed=st.integers(0, 1000),
)
def test_every_sequence_is_answered_as_a_slow_reader_would(
    bits: int, vectors: int, left_out: int, batch_size: int, seed: int
) -> None:
    task = PrioritySort(bits=bits, length=vectors, answers=max(vectors - left_out, 1))
    batch = task.sample(batch_size, torch.Generator().manual_seed(seed))
    length = vectors + 1 + task.answers
    assert batch.lengths.tolist() == [length] * batch_size
    for index in range(batch_size):
        scored = batch.mask[:, index] > 0
        assert scored.nonzero().flatten().tolist() == list(range(vectors + 1, length))
        assert batch.targets[scored, index].tolist() == solve(task, batch.inputs[:, index].tolist())


def test_the_picture_is_a_problem_with_its_answer(drawn: Callable[..., Any]) -> None:
    task = PrioritySort(bits=3, length=4, answers=2)
    picture = drawn(task)
    assert solve(task, picture.inputs) == picture.answer


def test_priorities_are_uniform_between_minus_one_and_one() -> None:
    batch = PrioritySort().sample(2000, torch.Generator().manual_seed(1))
    priorities = batch.inputs[:20, :, 8].flatten()
    assert abs(float(priorities.mean())) < 5 * (1 / 3 / len(priorities)) ** 0.5
    assert float(priorities.var()) == pytest.approx(1 / 3, rel=0.02)
    assert -1 <= float(priorities.min()) < -0.999
    assert 0.999 < float(priorities.max()) <= 1


@pytest.mark.parametrize(("length", "answers"), [(20, 16), (40, 32), (10, 8), (1, 1), (2, 2)])
def test_the_answers_keep_their_share_at_other_lengths(length: int, answers: int) -> None:
    task = PrioritySort().at(length=length)
    assert (task.length, task.answers) == (length, answers)


def test_more_answers_than_vectors_are_refused() -> None:
    with pytest.raises(ValueError, match="give at most as many answers as there are vectors"):
        PrioritySort(length=3, answers=4)


def test_the_delimiter_is_one_in_its_own_channel() -> None:
    inputs = PrioritySort(bits=3, length=4, answers=2).sample(5, torch.Generator()).inputs
    expected = torch.zeros(7, 5)
    expected[4] = 1
    assert torch.equal(inputs[..., 4], expected)


def test_a_setting_out_of_range_is_refused() -> None:
    with pytest.raises(ValueError, match="answers must be"):
        PrioritySort(answers=0)

from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ntm.tasks import Copy

Rows = list[list[float]]


def solve(task: Copy, inputs: Rows) -> tuple[Rows, Rows]:
    """Read the problem from the inputs alone: the vectors heard, and the answer to give."""
    steps = iter(inputs)
    silence = [0.0] * task.bits
    if task.start_delimiter:
        assert next(steps) == [*silence, 0.0, 1.0]
    vectors = []
    for step in steps:
        bits, (end, *start) = step[: task.bits], step[task.bits :]
        assert start == [0.0] * task.start_delimiter
        if end:
            assert bits == silence
            break
        vectors.append(bits)
    assert not any(map(any, steps))
    if task.end_marker:
        return vectors, [*([*vector, 0.0] for vector in vectors), [*silence, 1.0]]
    return vectors, vectors


@settings(deadline=None, max_examples=40)
@given(
    bits=st.integers(1, 9),
    lengths=st.lists(st.integers(1, 7), min_size=2, max_size=2).map(sorted),
    start_delimiter=st.booleans(),
    end_marker=st.booleans(),
    batch_size=st.integers(1, 5),
    seed=st.integers(0, 1000),
)
def test_every_sequence_is_answered_as_a_slow_reader_would(
    bits: int,
    lengths: list[int],
    start_delimiter: bool,
    end_marker: bool,
    batch_size: int,
    seed: int,
) -> None:
    ranges = {"min_length": lengths[0], "max_length": lengths[1]}
    task = Copy(bits=bits, **ranges, start_delimiter=start_delimiter, end_marker=end_marker)
    batch = task.sample(batch_size, torch.Generator().manual_seed(seed))
    for index in range(batch_size):
        length = int(batch.lengths[index])
        vectors, answer = solve(task, batch.inputs[:length, index].tolist())
        assert lengths[0] <= len(vectors) <= lengths[1]
        assert length == start_delimiter + len(vectors) + 1 + len(answer)
        scored = batch.mask[:, index] > 0
        assert scored.nonzero().flatten().tolist() == list(range(length - len(answer), length))
        assert batch.targets[scored, index].tolist() == answer


def test_the_picture_is_a_problem_with_its_answer(drawn: Callable[..., Any]) -> None:
    task = Copy(bits=4)
    picture = drawn(task)
    assert solve(task, picture.inputs)[1] == picture.answer


def test_lengths_are_uniform_and_include_both_ends() -> None:
    batch = Copy().sample(20_000, torch.Generator().manual_seed(1))
    counts = batch.mask.sum(0).long().bincount(minlength=21)
    assert counts[0] == 0
    assert len(counts) == 21
    five_sigma = 5 * (20_000 * 0.05 * 0.95) ** 0.5
    assert ((counts[1:] - 1000).abs() < five_sigma).all()


@pytest.mark.parametrize(
    ("start_delimiter", "end_marker", "sizes"),
    [(False, False, (9, 8)), (True, False, (10, 8)), (False, True, (9, 9)), (True, True, (10, 9))],
)
def test_sizes_of_the_encodings(
    start_delimiter: bool, end_marker: bool, sizes: tuple[int, int]
) -> None:
    task = Copy(start_delimiter=start_delimiter, end_marker=end_marker)
    assert (task.input_size, task.output_size) == sizes

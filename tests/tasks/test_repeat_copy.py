import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ntm.tasks import RepeatCopy

Rows = list[list[float]]


def solve(task: RepeatCopy, inputs: Rows, low: int, high: int) -> tuple[Rows, int, Rows]:
    """Read vectors and repeat number from the inputs alone; low to high normalise the number."""
    steps = iter(inputs)
    silence = [0.0] * task.bits
    if task.delimiter == "start":
        assert next(steps) == [*silence, 1.0, 0.0]
    vectors = []
    for step in steps:
        bits, (delimiter, number) = step[: task.bits], step[task.bits :]
        if number or delimiter:
            assert bits == silence
            assert delimiter == (task.delimiter == "end")
            break
        vectors.append(bits)
    assert not any(map(any, steps))
    possible = range(low, high + 1)
    mean = sum(possible) / len(possible)
    variance = sum((count - mean) ** 2 for count in possible) / len(possible)
    count = number * math.sqrt(variance or 1.0) + mean
    assert abs(count - round(count)) < 1e-4
    answer = [[*vector, 0.0] for _ in range(round(count)) for vector in vectors]
    return vectors, round(count), [*answer, [*silence, 1.0]]


@settings(deadline=None, max_examples=60)
@given(
    bits=st.integers(1, 7),
    lengths=st.lists(st.integers(1, 5), min_size=2, max_size=2).map(sorted),
    repeats=st.lists(st.integers(1, 6), min_size=2, max_size=2).map(sorted),
    start=st.booleans(),
    fixed=st.one_of(st.none(), st.integers(1, 13)),
    batch_size=st.integers(1, 5),
    seed=st.integers(0, 1000),
)
def test_every_sequence_is_answered_as_a_slow_reader_would(
    bits: int,
    lengths: list[int],
    repeats: list[int],
    start: bool,
    fixed: int | None,
    batch_size: int,
    seed: int,
) -> None:
    task = RepeatCopy(
        bits=bits,
        min_length=lengths[0],
        max_length=lengths[1],
        min_repeats=repeats[0],
        max_repeats=repeats[1],
        delimiter="start" if start and sum(repeats) % 2 else "end",
    )
    if fixed is not None:
        task = task.at(repeats=fixed)
    batch = task.sample(batch_size, torch.Generator().manual_seed(seed))
    for index in range(batch_size):
        length = int(batch.lengths[index])
        inputs = batch.inputs[:length, index].tolist()
        vectors, count, answer = solve(task, inputs, *repeats)
        assert lengths[0] <= len(vectors) <= lengths[1]
        assert count == fixed if fixed else repeats[0] <= count <= repeats[1]
        assert length == (task.delimiter == "start") + len(vectors) + 1 + len(answer)
        scored = batch.mask[:, index] > 0
        assert scored.nonzero().flatten().tolist() == list(range(length - len(answer), length))
        assert batch.targets[scored, index].tolist() == answer


def test_the_picture_is_a_problem_with_its_answer(drawn: Callable[..., Any]) -> None:
    task = RepeatCopy(bits=3)
    picture = drawn(task, x=float(task.normalised(torch.tensor(3))))
    vectors, repeats, answer = solve(task, picture.inputs, 1, 10)
    assert (len(vectors), repeats) == (2, 3)
    assert answer == picture.answer


def test_the_repeat_number_has_mean_zero_and_variance_one_over_the_training_range() -> None:
    numbers = RepeatCopy().normalised(torch.arange(1, 11))
    torch.testing.assert_close(numbers.mean(), torch.tensor(0.0))
    torch.testing.assert_close(numbers.var(correction=0), torch.tensor(1.0))


def test_a_single_possible_repeat_number_is_zero() -> None:
    assert RepeatCopy(min_repeats=4, max_repeats=4).normalised(torch.tensor([4])).tolist() == [0.0]


def test_evaluation_keeps_the_scale_of_training() -> None:
    task = RepeatCopy()
    three = torch.tensor([3])
    assert task.at(repeats=20).scale_range == (1, 10)
    assert task.at(length=20).at(repeats=20).at(repeats=15).scale_range == (1, 10)
    assert torch.equal(task.at(repeats=20).normalised(three), task.normalised(three))
    assert not torch.equal(RepeatCopy(max_repeats=20).normalised(three), task.normalised(three))


def test_both_lengths_and_repeats_include_both_ends() -> None:
    task = RepeatCopy()
    batch = task.sample(5000, torch.Generator().manual_seed(1))
    pairs = set()
    for index in range(5000):
        inputs = batch.inputs[: batch.lengths[index], index].tolist()
        vectors, repeats, _ = solve(task, inputs, 1, 10)
        pairs.add((len(vectors), repeats))
    assert pairs == {(length, repeats) for length in range(1, 11) for repeats in range(1, 11)}


def test_a_number_that_could_be_invisible_is_refused() -> None:
    with pytest.raises(ValueError, match="5 repeats would be the number zero"):
        RepeatCopy(delimiter="start", max_repeats=9)
    assert RepeatCopy(delimiter="end", max_repeats=9).scale == (5.0, math.sqrt(80 / 12))


def test_settings_are_checked() -> None:
    with pytest.raises(ValueError, match="scale_min_repeats is 9 and scale_max_repeats is 4"):
        RepeatCopy(scale_min_repeats=9, scale_max_repeats=4)
    with pytest.raises(ValueError, match="delimiter must be 'end' or 'start', got 'middle'"):
        RepeatCopy(delimiter="middle")
    with pytest.raises(ValueError, match=r"scale_min_repeats must be an integer .* got 'few'"):
        RepeatCopy(scale_min_repeats="few")  # type: ignore[arg-type]


@pytest.mark.parametrize("repeats", [1, 3, 17])
def test_the_title_tells_length_and_repeats(repeats: int) -> None:
    task = RepeatCopy().at(length=4, repeats=repeats)
    batch = task.sample(1, torch.Generator().manual_seed(0))
    assert task.render(batch, 0).startswith(f"repeat-copy: 4 vectors, {repeats} times\n")


def test_every_bound_is_itself_allowed_and_what_lies_beyond_is_not() -> None:
    """Also a range of one number, which has nothing to normalise by, gives finite inputs."""
    smallest = {
        "bits": 1,
        "min_length": 1,
        "max_length": 1,
        "min_repeats": 1,
        "max_repeats": 1,
        "scale_min_repeats": 1,
        "scale_max_repeats": 1,
    }
    batch = RepeatCopy(**smallest).sample(3, torch.Generator().manual_seed(0))
    assert batch.inputs.isfinite().all()
    for name in smallest:
        with pytest.raises(ValueError, match=f"{name} must be an integer .*got 0"):
            RepeatCopy(**{name: 0})

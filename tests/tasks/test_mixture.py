"""Mixtures of sizes: which batches have smaller problems, and how small they are."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ntm.tasks import AssociativeRecall, Copy, NGrams, PrioritySort, RepeatCopy, Task
from ntm.tasks.mixture import Mixture, mixture_of


def mixture(task: Task, text: str) -> Mixture:
    found = mixture_of(task, text)
    assert found is not None
    return found


@given(
    share=st.integers(1, 99).map(lambda percent: percent / 100),
    batch_size=st.integers(1, 7),
    batches=st.integers(0, 200),
)
def test_the_share_is_exact_in_every_stretch(share: float, batch_size: int, batches: int) -> None:
    mixed = Mixture({"length": 3}, share, until=10**6)
    chosen = [mixed.has_smaller(batch * batch_size, batch_size) for batch in range(batches)]
    assert abs(sum(chosen) - batches * share) <= 1
    assert not any(chosen[:1])


def test_half_is_every_second_batch_and_nothing_is_smaller_at_the_end() -> None:
    mixed = mixture(Copy(), "share=0.5,until=12,length=3")
    assert [first for first in range(0, 40, 2) if mixed.has_smaller(first, 2)] == [2, 6, 10]


@pytest.mark.parametrize(
    ("task", "text", "ranges"),
    [
        (Copy(), "length=3", {"length": (1, 3)}),
        (Copy(min_length=5), "length=3", {"length": (3, 3)}),
        (RepeatCopy(), "length=3,repeats=2", {"length": (1, 3), "repeats": (1, 2)}),
        (RepeatCopy(), "repeats=2", {"length": (1, 10), "repeats": (1, 2)}),
        (AssociativeRecall(), "items=3", {"items": (2, 3)}),
        (NGrams(), "length=50", {"length": (50, 50)}),
        (PrioritySort(), "length=5", {"length": (5, 5)}),
    ],
)
def test_only_the_named_axes_shrink(
    task: Task, text: str, ranges: dict[str, tuple[int, int]]
) -> None:
    smaller = mixture(task, f"share=0.5,until=9,{text}").task_after(0, task)
    assert {axis: smaller.trained_range(axis) for axis in task.axes} == ranges


def test_the_repeat_number_keeps_its_scale() -> None:
    task = RepeatCopy(min_repeats=2, max_repeats=7)
    smaller = mixture(task, "share=0.5,until=9,repeats=3").task_after(0, task)
    assert isinstance(smaller, RepeatCopy)
    assert smaller.scale == task.scale


def test_ranges_grow_from_the_given_sizes_to_the_full_range() -> None:
    task = RepeatCopy()
    mixed = mixture(task, "share=0.9,growing_until=80,length=2,repeats=6")
    after = [mixed.task_after(sequences, task) for sequences in range(0, 100, 10)]
    assert [t.trained_range("length")[1] for t in after] == [2, 3, 4, 5, 6, 7, 8, 9, 10, 10]
    assert [t.trained_range("repeats")[1] for t in after] == [6, 6, 7, 7, 8, 8, 9, 9, 10, 10]
    assert {t.trained_range("length")[0] for t in after} == {1}


def test_an_empty_text_is_no_mixture() -> None:
    assert mixture_of(Copy(), "") is None


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("length", "'length' is not of the form name=value;"),
        ("share=0.5,until=9,length=2,length=3", "it gives length twice;"),
        ("until=9,length=3", "share must be a number above 0 and below 1, not '';"),
        ("share=1,until=9,length=3", "share must be a number above 0 and below 1, not '1';"),
        ("share=nan,until=9,length=3", "share must be a number above 0 and below 1, not 'nan';"),
        ("share=half,until=9,length=3", "share must be a number above 0 and below 1, not 'half';"),
        ("share=0.5,length=3", "it needs either until or growing_until;"),
        ("share=0.5,until=9,growing_until=9,length=3", "it needs either until or growing_until;"),
        ("share=0.5,until=0,length=3", "until must be at least 1, not 0;"),
        ("share=0.5,growing_until=-1,length=3", "growing_until must be an integer, not '-1';"),
        ("share=0.5,until=9", "it needs a size for an axis of the copy task;"),
        ("share=0.5,until=9,items=3", "the copy task has no axis 'items' (its axes: length);"),
        ("share=0.5,until=9,length=20", "length must be at least 1 and below the task's 20"),
        ("share=0.5,until=9,length=0", "length must be at least 1 and below the task's 20"),
    ],
)
def test_an_error_names_the_problem_and_shows_the_form(text: str, problem: str) -> None:
    with pytest.raises(ValueError, match=r"training\.mixture") as caught:
        mixture_of(Copy(), text)
    message = str(caught.value)
    assert message.startswith(f"training.mixture is {text!r}, but ")
    assert problem in message
    assert message.endswith("; write it like share=0.5,until=40000,length=3.")

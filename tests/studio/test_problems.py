"""A drawing and the batch made of it: what a task samples can be drawn, and comes back the same."""

import json

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ntm.paper import case_name
from ntm.studio.errors import RefusedError
from ntm.studio.problems import MAX_STEPS, drawable, drawn, encode, example, form, sizes_of
from ntm.tasks import (
    AssociativeRecall,
    Batch,
    Copy,
    NGrams,
    PrioritySort,
    RepeatCopy,
    Task,
    check_batch,
    make_task,
)

SIZES = st.integers(1, 5)
TASKS = st.one_of(
    st.builds(Copy, bits=SIZES, start_delimiter=st.booleans(), end_marker=st.booleans()),
    st.builds(RepeatCopy, bits=SIZES, delimiter=st.sampled_from(["end", "start"])),
    st.builds(AssociativeRecall, bits=SIZES, item_length=SIZES, close_query=st.booleans()),
    st.builds(NGrams, length=st.integers(2, 30), context=SIZES),
    st.builds(PrioritySort, bits=SIZES, length=st.integers(5, 20), answers=SIZES),
)


@given(task=TASKS, seed=st.integers(0, 1000))
def test_what_a_task_samples_can_be_drawn_and_encodes_to_the_same_batch(
    task: Task, seed: int
) -> None:
    posed = task.pose(3, torch.Generator().manual_seed(seed))
    batch = task.sample(3, torch.Generator().manual_seed(seed))
    for index in range(3):
        sent = json.loads(json.dumps(drawn(task, posed, index)))
        again, alone = encode(sent, task), batch.narrow(index, index + 1)
        for name, ours, theirs in zip(Batch._fields, again, alone, strict=True):
            assert torch.equal(ours, theirs), name


@given(task=TASKS, data=st.data())
def test_a_problem_beyond_training_is_one_that_the_task_itself_would_make(
    task: Task, data: st.DataObject
) -> None:
    sizes = {axis: data.draw(st.integers(task.smallest(axis), 30), axis) for axis in task.axes}
    problem = example(task, sizes, seed=3)
    assert sizes_of(problem, task) == sizes
    larger = task.at(**sizes)
    batch = encode(problem, task)
    check_batch(task, batch)
    assert len(batch.inputs) == larger.longest
    assert torch.equal(batch.inputs, encode(problem, larger).inputs)


def test_what_is_drawn_is_what_the_network_sees_and_must_say() -> None:
    task = Copy(bits=3)
    batch = encode({"vectors": [[1, 0, 1], [0, 1, 1]]}, task)
    assert batch.inputs[:2, 0, :3].tolist() == [[1, 0, 1], [0, 1, 1]]
    assert batch.targets[3:, 0].tolist() == [[1, 0, 1], [0, 1, 1]]


def test_of_two_equal_items_the_answer_is_the_one_after_the_query() -> None:
    task = AssociativeRecall(bits=1, item_length=1)
    for query, answer in enumerate((0, 1, 1)):
        drawing = {"items": [[[1]], [[0]], [[1]], [[1]]], "query": query}
        assert encode(drawing, task).targets[-1, 0].tolist() == [answer]


def test_vectors_of_equal_priority_stay_in_their_order() -> None:
    task = PrioritySort(bits=1, length=2, answers=2)
    problem = {"vectors": [[1], [0]], "priorities": [0.5, 0.5]}
    assert encode(problem, task).targets[-2:, 0].tolist() == [[1], [0]]


@pytest.mark.parametrize("name", drawable())
def test_the_form_offers_what_is_accepted_and_no_more(name: str) -> None:
    task = make_task(name)
    offered = form(task)["sizes"]
    assert offered.keys() == set(task.axes)
    for axis, size in offered.items():
        assert size["trained"] == task.trained_range(axis)
        assert size["min"] <= size["default"] <= size["max"]
        others = {other: offered[other]["min"] for other in offered if other != axis}
        for accepted in (size["min"], size["max"]):
            example(task, others | {axis: accepted}, seed=1)
        for refused in (size["min"] - 1, size["max"] + 1):
            with pytest.raises(RefusedError):
                example(task, others | {axis: refused}, seed=1)


def test_a_network_trained_on_longer_problems_than_are_shown_gets_a_default_that_fits() -> None:
    (size,) = form(Copy(max_length=5000))["sizes"].values()
    assert size["default"] == size["max"] < MAX_STEPS


def test_examples_follow_their_seed_and_have_the_usual_sizes() -> None:
    task = make_task("repeat-copy")
    first, same, other = (example(task, {}, seed) for seed in (1, 1, 2))
    assert first == same != other
    assert sizes_of(first, task) == task.usual_sizes == {"length": 5, "repeats": 5}
    assert case_name(sizes_of(first, task)) == "length 5, repeats 5"


@pytest.mark.parametrize(
    ("task", "drawing", "sentence"),
    [
        ("copy", {"vectors": [[0] * 7]}, "problem.vectors.0: .* at least 8 items"),
        ("copy", {"bits": [0, 1]}, "problem.vectors: Field required"),
        ("ngrams", {"vectors": [[0]]}, "problem.bits: Field required"),
        ("repeat-copy", {"vectors": [[0] * 6] * 40, "repeats": 40}, "takes 1,642 steps"),
        (
            "associative-recall",
            {"items": [[[0] * 6] * 3] * 2, "query": 1},
            "query is 1; give a number from 0 to 0",
        ),
        ("associative-recall", {"items": [[[0] * 6] * 2] * 2, "query": 0}, "at least 3 items"),
        (
            "priority-sort",
            {"vectors": [[0] * 8], "priorities": [0.1, 0.2]},
            "has 2 entries; give 1",
        ),
    ],
)
def test_what_does_not_fit_the_network_is_refused(
    task: str, drawing: dict[str, object], sentence: str
) -> None:
    with pytest.raises(RefusedError, match=sentence):
        encode(drawing, make_task(task))


@pytest.mark.parametrize(
    ("task", "drawing"),
    [
        (Copy(bits=1), {}),
        (Copy(bits=1), {"vectors": []}),
        (Copy(bits=1), {"vectors": [[]]}),
        (Copy(bits=1), {"vectors": [[2]]}),
        (Copy(bits=1), {"vectors": [[0.5]]}),
        (Copy(bits=1), {"vectors": [[True]]}),
        (Copy(bits=1), {"vectors": [["1"]]}),
        (Copy(bits=1), {"vectors": [[0]], "more": 1}),
        (Copy(bits=1), {"vectors": [[0]] * (MAX_STEPS + 1)}),
        (RepeatCopy(bits=1), {"vectors": [[0]], "repeats": 0}),
        (RepeatCopy(bits=1), {"vectors": [[0]], "repeats": 10**9}),
        (RepeatCopy(bits=1), {"vectors": [[0]], "repeats": None}),
        (PrioritySort(bits=1), {"vectors": [[0]], "priorities": [float("nan")]}),
        (PrioritySort(bits=1), {"vectors": [[0]], "priorities": [float("inf")]}),
        (AssociativeRecall(bits=1, item_length=1), {"items": [[[0]]], "query": 0}),
        (AssociativeRecall(bits=1, item_length=1), {"items": [[[0]], [[0]]], "query": -1}),
        (NGrams(), {"bits": [0]}),
    ],
)
def test_what_is_no_drawing_is_refused(task: Task, drawing: dict[str, object]) -> None:
    with pytest.raises(RefusedError):
        encode(drawing, task)

"""A drawing and the batch made of it: what a task samples can be drawn, and comes back the same."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from ntm.paper import case_name
from ntm.studio.drawings import encode, example, form
from ntm.studio.errors import RefusedError
from ntm.studio.guide import problem_kinds
from ntm.studio.problems import MAX_STEPS, AnyProblem
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

KINDS = problem_kinds()
SIZES = st.integers(1, 5)
ANY_PROBLEM: TypeAdapter[AnyProblem] = TypeAdapter(AnyProblem)
TASKS = st.one_of(
    st.builds(Copy, bits=SIZES, start_delimiter=st.booleans(), end_marker=st.booleans()),
    st.builds(RepeatCopy, bits=SIZES, delimiter=st.sampled_from(["end", "start"])),
    st.builds(AssociativeRecall, bits=SIZES, item_length=SIZES, close_query=st.booleans()),
    st.builds(NGrams, length=st.integers(2, 30), context=SIZES),
    st.builds(PrioritySort, bits=SIZES, length=st.integers(5, 20), answers=SIZES),
)


def sampled(task: Task, seed: int = 1) -> Batch:
    return task.sample(1, torch.Generator().manual_seed(seed))


@given(task=TASKS, seed=st.integers(0, 1000))
def test_what_a_task_samples_can_be_drawn_and_encodes_to_the_same_batch(
    task: Task, seed: int
) -> None:
    batch = sampled(task, seed)
    problem = KINDS[task.name].read(task, batch)
    sent = ANY_PROBLEM.validate_json(problem.model_dump_json())
    assert sent == problem
    again = encode(sent, task)
    for name, ours, theirs in zip(Batch._fields, again, batch, strict=True):
        assert torch.equal(ours, theirs), name


@given(task=TASKS, data=st.data())
def test_a_problem_beyond_training_is_one_that_the_task_itself_would_make(
    task: Task, data: st.DataObject
) -> None:
    sizes = {axis: data.draw(st.integers(task.smallest(axis), 30), axis) for axis in task.axes}
    problem = example(task, sizes, seed=3)
    assert problem.sizes == sizes
    larger = task.at(**sizes)
    batch = encode(problem, task)
    check_batch(task, batch)
    assert len(batch.inputs) == problem.steps(larger)
    assert torch.equal(batch.inputs, encode(problem, larger).inputs)


def test_what_is_drawn_is_what_the_network_sees_and_must_say() -> None:
    task = Copy(bits=3)
    problem = KINDS["copy"].model_validate({"vectors": [[1, 0, 1], [0, 1, 1]]})
    batch = encode(problem, task)
    assert batch.inputs[:2, 0, :3].tolist() == [[1, 0, 1], [0, 1, 1]]
    assert batch.targets[3:, 0].tolist() == [[1, 0, 1], [0, 1, 1]]


def test_of_two_equal_items_the_answer_tells_which_is_asked_for() -> None:
    drawing = {"items": [[[1]], [[0]], [[1]], [[1]]], "query": 2}
    task = AssociativeRecall(bits=1, item_length=1)
    batch = encode(KINDS[task.name].model_validate(drawing), task)
    assert KINDS[task.name].read(task, batch).model_dump() == drawing


def test_vectors_of_equal_priority_stay_in_their_order() -> None:
    task = PrioritySort(bits=1, length=2, answers=2)
    problem = KINDS[task.name].model_validate({"vectors": [[1], [0]], "priorities": [0.5, 0.5]})
    assert encode(problem, task).targets[-2:, 0].tolist() == [[1], [0]]


@pytest.mark.parametrize("name", KINDS)
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
    assert first.sizes == task.usual_sizes == {"length": 5, "repeats": 5}
    assert case_name(first.sizes) == "length 5, repeats 5"


@pytest.mark.parametrize(
    ("task", "drawing", "sentence"),
    [
        ("copy", {"vectors": [[0] * 7]}, "Every vector must have 8 bits"),
        ("copy", {"bits": [0, 1]}, "drawn with vectors"),
        ("ngrams", {"vectors": [[0]]}, "drawn with bits"),
        ("repeat-copy", {"vectors": [[0] * 6] * 40, "repeats": 40}, "takes 1,642 steps"),
        ("associative-recall", {"items": [[[0] * 6] * 3] * 2, "query": 1}, "any item but the last"),
        ("associative-recall", {"items": [[[0] * 6] * 2] * 2, "query": 0}, "must have 3 vectors"),
        ("priority-sort", {"vectors": [[0] * 8], "priorities": [0.1, 0.2]}, "as many priorities"),
    ],
)
def test_what_does_not_fit_the_network_is_refused(
    task: str, drawing: dict[str, object], sentence: str
) -> None:
    with pytest.raises(RefusedError, match=sentence):
        encode(ANY_PROBLEM.validate_python(drawing), make_task(task))


@pytest.mark.parametrize(
    "drawing",
    [
        {},
        [],
        None,
        {"vectors": []},
        {"vectors": [[]]},
        {"vectors": [[2]]},
        {"vectors": [[0.5]]},
        {"vectors": [[True]]},
        {"vectors": [["1"]]},
        {"vectors": [[0]], "more": 1},
        {"vectors": [[0]], "repeats": 0},
        {"vectors": [[0]], "repeats": 10**9},
        {"vectors": [[0]], "priorities": [float("nan")]},
        {"vectors": [[0]], "priorities": [float("inf")]},
        {"vectors": [[0]] * (MAX_STEPS + 1)},
        {"items": [[[0]]], "query": 0},
        {"items": [[[0]], [[0]]], "query": -1},
        {"bits": [0]},
    ],
)
def test_what_is_no_drawing_is_refused(drawing: object) -> None:
    with pytest.raises(ValidationError):
        ANY_PROBLEM.validate_python(drawing)

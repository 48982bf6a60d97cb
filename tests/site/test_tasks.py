"""The page's tasks beside Python's: problem by problem, drawn by the same random numbers."""

import json
import random
from dataclasses import asdict, fields
from typing import Any

import pytest
import torch
from tests.site.node import answer, answers

from ntm.paper import experiment_of
from ntm.site.catalogue import catalogue, task_facts
from ntm.studio import problems
from ntm.studio.problems import MAX_CELLS, MAX_STEPS, drawable
from ntm.tasks import TASKS, Batch, Task, make_task

LIMITS = {"max_steps": MAX_STEPS, "max_cells": MAX_CELLS}
TASK_NAMES = tuple(drawable())
VARIANTS = 25


def variant(name: str, rng: random.Random) -> Task:
    """The task with other settings, every option among them now and then."""
    while True:
        changes = {field.name: other_value(field, rng) for field in fields(TASKS[name])}
        try:
            return make_task(name, **{k: v for k, v in changes.items() if rng.random() < 0.7})
        except ValueError:  # a range the wrong way round, say
            continue


def other_value(field: Any, rng: random.Random) -> Any:
    if isinstance(field.default, bool):
        return rng.random() < 0.5
    if choices := field.metadata.get("choices"):
        return rng.choice(choices)
    if field.default is None and rng.random() < 0.5:
        return None
    if isinstance(field.default, float):
        return rng.choice((0.0, 0.3, 1.0))
    return rng.randint(field.metadata["at_least"], 12 if field.name != "context" else 6)


def request_for(task: Task, **request: Any) -> dict[str, Any]:
    facts = experiment_of(task.name).to_json() | task_facts(make_task(task.name))
    return {"facts": facts, "settings": asdict(task), **request}


def some_sizes(task: Task, rng: random.Random) -> dict[str, int]:
    """Nothing, or other sizes along some axes; odd ones, for Python's rounding."""
    return {axis: rng.randint(2, 15) for axis in task.axes if rng.random() < 0.5}


@pytest.mark.parametrize("name", TASK_NAMES)
def test_problems_and_batches_are_pythons(name: str) -> None:
    rng = random.Random(1)
    cases = []
    for seed in range(VARIANTS):
        task = variant(name, rng) if seed else make_task(name)
        cases.append((task, some_sizes(task, rng), seed, rng.choice((1, 2, 7, 40))))
    asked = [
        request_for(task, ask="problems", sizes=sizes, seed=seed, count=count)
        for task, sizes, seed, count in cases
    ]
    for (task, sizes, seed, count), found in zip(cases, answers(asked), strict=True):
        fixed = task.at(**sizes)
        posed = fixed.pose(count, torch.Generator().manual_seed(seed))
        batch = fixed.encode(posed)
        assert found["settings"] == asdict(fixed)
        assert tuple(found["channels"]["inputs"]) == fixed.input_channels
        assert tuple(found["channels"]["outputs"]) == fixed.output_channels
        for number in range(count):
            one = batch.narrow(number, number + 1)
            drawn = problems.drawn(fixed, posed, number)
            assert found["problems"][number] == drawn, (fixed, seed, number)
            require_same(found["batches"][number], one)
            best = fixed.optimal_probabilities(one)
            expected = None if best is None else best.flatten().tolist()
            assert found["optima"][number] == expected


def require_same(found: dict[str, Any], batch: Batch) -> None:
    assert found["steps"] == int(batch.lengths)
    assert found["sequences"] == 1
    for name in ("inputs", "targets", "mask"):
        assert found[name] == getattr(batch, name).flatten().tolist(), name


@pytest.mark.parametrize("name", TASK_NAMES)
def test_drawings_of_any_size_are_encoded_as_the_studio_does(name: str) -> None:
    rng = random.Random(2)
    cases = []
    for seed in range(VARIANTS):
        task = variant(name, rng)
        sizes = {axis: rng.randint(2, 30) for axis in task.axes}
        cases.append((task, problems.example(task, sizes, seed)))
    asked = [request_for(task, ask="encoded", problem=problem) for task, problem in cases]
    for (task, problem), found in zip(cases, answers(asked), strict=True):
        require_same(found, problems.encode(problem, task))


@pytest.mark.parametrize("name", TASK_NAMES)
def test_the_form_of_a_drawing_is_the_studios(name: str) -> None:
    rng = random.Random(3)
    tasks = [make_task(name), *(variant(name, rng) for _ in range(VARIANTS))]
    if "bits" in asdict(tasks[0]):
        tasks.append(make_task(name, bits=300))
    asked = [request_for(task, ask="form", limits=LIMITS) for task in tasks]
    for task, found in zip(tasks, answers(asked), strict=True):
        assert found == json.loads(json.dumps(problems.form(task)))


def test_equal_priorities_keep_their_order() -> None:
    task = make_task("priority-sort", bits=2, length=4, answers=4)
    vectors = [[0, 0], [0, 1], [1, 0], [1, 1]]
    drawn = {"vectors": vectors, "priorities": [0.5, 0.5, 1, 0.5]}
    found = answer(**request_for(task, ask="encoded", problem=drawn))
    assert found["targets"][-8:] == [1, 0, 0, 0, 0, 1, 1, 1]


def test_the_catalogue_has_every_task_and_network_that_can_be_drawn() -> None:
    known = catalogue()
    assert list(known["tasks"]) == list(TASK_NAMES)
    assert len([network for network in known["networks"] if network["file"]]) == 10
    assert {network["task"] for network in known["networks"]} == set(TASK_NAMES)
    for task, training in known["training"].items():
        assert list(training) == ["ntm-ff", "ntm-lstm"], task

"""The paper's experiments: complete, consistent, and plain data for a page."""

import json
from importlib import import_module

import pytest

from ntm.models import MODELS
from ntm.paper import Experiment, experiment_of, experiments, paper_tables
from ntm.paper.registry import MACHINE
from ntm.tasks import TASKS

NAMES = [experiment.task for experiment in experiments()]


def test_every_task_has_one_in_the_papers_order() -> None:
    assert list(TASKS) == NAMES


def test_figures_are_numbered_through() -> None:
    figures = [figure for e in (MACHINE, *experiments()) for figure in e.figures]
    assert [figure.number for figure in figures] == list(range(1, 19))


@pytest.mark.parametrize("task", NAMES)
def test_every_function_that_is_named_exists(task: str) -> None:
    experiment = experiment_of(task)
    for function in (experiment.analysis, *(figure.draw for figure in experiment.figures)):
        module, _, name = function.args[0].partition(":")
        assert callable(getattr(import_module(module), name))


@pytest.mark.parametrize("task", NAMES)
def test_cases_are_along_the_axes_of_the_task(task: str) -> None:
    experiment = experiment_of(task)
    assert experiment.cases[0] == {}
    for case in experiment.cases:
        TASKS[task]().at(**case)
    assert set(experiment.networks) == set(MODELS)


@pytest.mark.parametrize("task", NAMES)
def test_a_page_gets_plain_data(task: str) -> None:
    data = experiment_of(task).to_json()
    assert json.loads(json.dumps(data)) == data
    assert all(data[name] for name in ("title", "hint", "look_for", "frame"))


def test_all_memories_of_the_tables_are_128_by_20() -> None:
    memories = [row.config for row in paper_tables() if MODELS[row.model].capabilities.grows]
    assert {(c.memory_locations, c.memory_width) for c in memories} == {(128, 20)}
    assert len(memories) == 10


def test_a_task_that_nobody_knows_has_defaults() -> None:
    experiment = experiment_of("my-own")
    assert experiment.title == "My own"
    assert experiment.to_json() == {
        "task": "my-own",
        "title": "My own",
        "hint": "",
        "look_for": "",
        "frame": None,
        "cases": [{}],
    }
    assert [figure.stem for figure in experiment.figures] == [
        "my-own-learning-curves", "my-own-memory-use",
    ]  # fmt: skip
    assert Experiment(task="x", title="Given").title == "Given"

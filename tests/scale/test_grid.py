"""A TOML file becomes jobs; whatever is wrong with it is one sentence before anything runs."""

import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.scale.runs import small, small_jobs

from ntm.scale import read_grid
from ntm.scale.grid import jobs_of
from ntm.training import settings_for

EXAMPLE = Path(__file__).parents[2] / "examples" / "sweep.toml"


def names(data: dict[str, Any]) -> list[str]:
    return [job.name for job in jobs_of(data, "out")]


def test_tasks_alone_are_runs_with_the_papers_settings_on_one_thread() -> None:
    copy, recall = jobs_of({"tasks": ["copy", "associative-recall"]}, "out")
    assert copy.folder == Path("out/copy-ntm-ff-1")
    one_thread = {"training.threads": "1"}
    assert copy.settings == settings_for("copy").with_text(one_thread)
    assert recall.settings == settings_for("associative-recall").with_text(one_thread)


def test_every_combination_is_a_run_and_lists_are_in_its_name() -> None:
    jobs = jobs_of(
        {
            "tasks": ["copy", "ngrams"],
            "models": ["ntm-ff", "lstm"],
            "seeds": [3, 5],
            "optimiser": {"learning_rate": [1e-3, 3e-5], "momentum": 0.5},
        },
        "out",
    )
    assert len(jobs) == 2 * 2 * 2 * 2
    assert jobs[0].name == "copy-ntm-ff-3-learning_rate=0.001"
    assert jobs[-1].name == "ngrams-lstm-5-learning_rate=3e-05"
    assert {job.settings.optimiser.momentum for job in jobs} == {0.5}
    assert [job.settings.training.seed for job in jobs] == [3] * 8 + [5] * 8


def test_a_list_may_grow_without_renaming_what_is_there() -> None:
    before = names(small(seeds=[1], task__bits=[3]))
    assert set(before) < set(names(small(seeds=[1, 2], task__bits=[3, 4])))


def test_a_table_by_task_or_model_holds_for_that_one_alone() -> None:
    data = {
        "tasks": ["copy", "ngrams"],
        "models": ["ntm-ff", "lstm"],
        "task": {"copy": {"max_length": [5, 7]}},
        "model": {"lstm": {"hidden_size": 11}},
        "training": {"sequences": 100, "ngrams": {"sequences": 30}},
    }
    settings = {job.name: job.settings for job in jobs_of(data, "out")}
    assert settings.keys() == {
        "copy-ntm-ff-1-max_length=5",
        "copy-ntm-ff-1-max_length=7",
        "copy-lstm-1-max_length=5",
        "copy-lstm-1-max_length=7",
        "ngrams-ntm-ff-1",
        "ngrams-lstm-1",
    }
    assert settings["copy-lstm-1-max_length=7"].training.sequences == 100
    assert settings["ngrams-lstm-1"].training.sequences == 30
    assert settings["ngrams-lstm-1"].model.hidden_size == 11


def test_several_numbers_may_be_one_value() -> None:
    one, other = [-1, 0, 1], [-2, -1, 0, 1, 2]
    (job,) = small_jobs(Path("out"), model__shifts=other)
    assert job.settings.model.shifts == tuple(other)
    first, second = small_jobs(Path("out"), model__shifts=[one, other])
    assert (first.settings.model.shifts, second.settings.model.shifts) == ((*one,), (*other,))
    assert second.name == "copy-ntm-ff-1-shifts=-2,-1,0,1,2"


@given(
    seeds=st.lists(st.integers(0, 10**9), min_size=1, max_size=3, unique=True),
    lengths=st.lists(st.integers(1, 50), min_size=1, max_size=3, unique=True),
    rates=st.lists(st.floats(1e-12, 1.0), min_size=1, max_size=3, unique=True),
    solved=st.lists(st.booleans(), min_size=1, max_size=2, unique=True),
)
def test_values_arrive_exactly_under_names_of_their_own(
    seeds: list[int], lengths: list[int], rates: list[float], solved: list[bool]
) -> None:
    data = small(
        seeds=seeds,
        task__max_length=lengths,
        optimiser__learning_rate=rates,
        training__stop_when_solved=solved,
    )
    jobs = jobs_of(data, "out")
    assert len({job.folder for job in jobs}) == len(jobs)
    assert len(jobs) == math.prod(map(len, (seeds, lengths, rates, solved)))
    found = {
        (
            job.settings.training.seed,
            job.settings.task.max_length,
            job.settings.optimiser.learning_rate,
            job.settings.training.stop_when_solved,
        )
        for job in jobs
    }
    assert found == {(s, n, r, b) for s in seeds for n in lengths for r in rates for b in solved}


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        ({}, "lacks its tasks"),
        ({"tasks": []}, "tasks is an empty list"),
        ({"tasks": "copy"}, "tasks is 'copy'; write a list"),
        ({"tasks": ["kopy"]}, "no task called 'kopy'"),
        ({"tasks": [3]}, "no task called '3'"),
        ({"tasks": ["copy"], "models": ["gru"]}, "no model called 'gru'"),
        ({"tasks": ["copy"], "seeds": 3}, "seeds is 3; write a list"),
        ({"tasks": ["copy"], "seeds": ["x"]}, "training.seed must be an integer"),
        (
            {"tasks": ["copy"], "seeds": [-1]},
            "training.seed must be an integer of at least 0, got -1",
        ),
        ({"tasks": ["copy"], "seeds": [1, 1]}, "occurs twice"),
        ({"tasks": ["copy"], "seed": [1]}, "no key of a sweep called 'seed'; did you mean 'seeds'"),
        ({"tasks": ["copy"], "training": 3}, "write a table, [training]"),
        ({"tasks": ["copy"], "training": {"seed": 3}}, "seeds = [1, 2, 3]"),
        ({"tasks": ["copy"], "training": {"sequence": 3}}, "did you mean 'sequences'"),
        ({"tasks": ["copy"], "training": {"sequences": []}}, "sequences is an empty list"),
        (
            {"tasks": ["copy"], "training": {"sequences": ["many"]}},
            "training.sequences must be an integer",
        ),
        (
            {"tasks": ["copy"], "training": {"sequences": [0]}},
            "sequences must be an integer of at least 1, got 0",
        ),
        ({"tasks": ["copy"], "training": {"batch_size": [2, 2.0]}}, "are the same run"),
        ({"tasks": ["copy"], "training": {"batch_size": [2, 2]}}, "occurs twice"),
        ({"tasks": ["copy"], "training": {"stop_when_solved": 1}}, "true or false"),
        (
            {"tasks": ["copy"], "optimiser": {"clip": math.nan}},
            "clip must be a finite number above 0, or none, got nan",
        ),
        ({"tasks": ["copy"], "model": {"shifts": []}}, "shifts is an empty list"),
        ({"tasks": ["copy"], "model": {"input_size": 3}}, "follows from the task"),
        ({"tasks": ["copy"], "model": {"lstm": {"layers": 2}}}, "neither a task nor a model"),
        ({"tasks": ["copy", "ngrams"], "task": {"max_length": 3}}, "ngrams with ntm-ff: There is"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(data: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=r"\.$") as refused:
        jobs_of(data, "out")
    assert sentence in str(refused.value)
    assert "\n" not in str(refused.value)


def test_the_example_is_twelve_runs() -> None:
    jobs = read_grid(EXAMPLE, "out")
    assert len(jobs) == 12
    assert {job.sequences for job in jobs if job.settings.model_name == "ntm-lstm"} == {10_000}


@pytest.mark.parametrize(
    ("content", "sentence"), [(b"tasks = [", "is not TOML"), (b"\xff", "is not TOML")]
)
def test_a_file_that_is_not_toml_is_named(tmp_path: Path, content: bytes, sentence: str) -> None:
    file = tmp_path / "broken.toml"
    file.write_bytes(content)
    with pytest.raises(ValueError, match=sentence) as refused:
        read_grid(file, tmp_path)
    assert str(file) in str(refused.value)

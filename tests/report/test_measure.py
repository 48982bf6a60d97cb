"""What is measured of a run, and when it has to be measured again."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from ntm.evaluation import analyse, evaluate
from ntm.paper import case_name, experiment_of, experiments
from ntm.report.measure import (
    Effort,
    analyse_run,
    analysis_key,
    evaluate_run,
    evaluation_key,
)
from ntm.runs import Run, RunError, build_model

MakeRun = Callable[..., Run]
EFFORT = Effort(sequences=5, watched=4, seed=3)


def quietly(_text: str) -> None:
    """Say nothing."""


@pytest.mark.parametrize("task", [e.task for e in experiments()])
def test_every_case_is_what_ntm_eval_measures(make_run: MakeRun, task: str) -> None:
    run = make_run(task)
    model, _ = run.load_model()
    measured = evaluate_run(run, EFFORT, quietly)
    assert [case["at"] for case in measured["best"]["cases"]] == list(experiment_of(task).cases)
    for case in measured["best"]["cases"]:
        expected = evaluate(model, run.settings.task.at(**case["at"]), 5, 3)
        assert case == {"at": case["at"], **expected.to_json()}


def test_best_and_latest_weights_are_told_apart(make_run: MakeRun) -> None:
    run = make_run()
    other = build_model(run.settings.with_text({"training.seed": "5"}))
    run.save_weights("latest", other, {"sequences": 3000})
    measured = evaluate_run(run, EFFORT, quietly)
    assert (measured["best"]["sequences"], measured["latest"]["sequences"]) == (2000, 3000)
    assert measured["best"]["validation_bits"] == 8.5
    assert measured["best"]["cases"] != measured["latest"]["cases"]


def test_weights_that_are_the_best_and_the_latest_are_measured_once(make_run: MakeRun) -> None:
    run = make_run()
    run.save_weights("latest", build_model(run.settings), {"sequences": 2000})
    said: list[str] = []
    measured = evaluate_run(run, EFFORT, said.append)
    assert len(said) == len(experiment_of("copy").cases)
    assert measured["latest"]["cases"] == measured["best"]["cases"]


def test_a_mean_of_weights_is_not_the_latest_though_made_at_the_same_time(
    make_run: MakeRun,
) -> None:
    run = make_run()
    run.change_settings(run.settings.with_text({"training.average_share": "0.5"}))
    other = build_model(run.settings.with_text({"training.seed": "5"}))
    run.save_weights("latest", other, {"sequences": 2000})
    measured = evaluate_run(run, EFFORT, quietly)
    assert measured["best"]["cases"] != measured["latest"]["cases"]


def test_a_run_without_weights_is_refused(make_run: MakeRun) -> None:
    run = make_run()
    run.weights_file("best").unlink()
    run.weights_file("latest").unlink()
    with pytest.raises(RunError, match="no weights yet"):
        evaluate_run(run, EFFORT, quietly)


def test_heads_are_watched_as_by_ntm_analyse(make_run: MakeRun) -> None:
    run = make_run("associative-recall")
    model, _ = run.load_model()
    assert analyse_run(run, EFFORT) == analyse(model, run.settings.task, 4, 3).to_json()


@pytest.mark.parametrize("key", [evaluation_key, analysis_key])
def test_keys_change_with_the_weights_and_with_the_effort(
    make_run: MakeRun, key: Callable[[Run, Effort], Any]
) -> None:
    run = make_run()
    before = key(run, EFFORT)
    assert key(Run(run.path), EFFORT) == before
    assert key(run, replace(EFFORT, sequences=6, watched=5)) != before
    assert key(run, replace(EFFORT, seed=4)) != before
    run.save_weights("latest", build_model(run.settings), {"sequences": 3001})
    assert key(run, EFFORT) != before


def test_cases_have_names() -> None:
    assert case_name({}) == "trained range"
    assert case_name({"length": 20, "repeats": 10}) == "length 20, repeats 10"

"""Verdicts: whether a network reaches its goals, in every command that shows a network."""

import json
from pathlib import Path

import pytest

from ntm.commands import figures
from ntm.commands.main import main
from ntm.evaluation import Evaluation
from ntm.paper import settings_for
from ntm.paper.experiment import Goal
from ntm.paper.verdicts import advice, goals_of, judge, meets, missed_in_validation, verdict_on
from ntm.runs import Run
from ntm.runs.opening import open_run

SHORT = ["train", "copy", "--model", "ntm-ff", "--sequences", "20", "--starts", "1"]


@pytest.fixture(scope="module")
def failed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of the default task that is much too short."""
    folder = tmp_path_factory.mktemp("runs") / "short"
    assert main([*SHORT, "--run", str(folder)]) == 0
    return folder


@pytest.mark.parametrize(
    ("goal", "bits", "perfect", "reached"),
    [
        (Goal(("ntm-ff",), below=0.1), 0.099, 0.0, True),
        (Goal(("ntm-ff",), below=0.1), 0.1, 1.0, False),
        (Goal(("ntm-ff",), published=0.1), 0.1, 0.0, True),
        (Goal(("ntm-ff",), published=0.1), 0.11, 1.0, False),
        (Goal(("ntm-ff",), perfect=0.99), 9.0, 0.99, True),
        (Goal(("ntm-ff",), perfect=0.99), 0.0, 0.98, False),
    ],
)
def test_a_goal_has_one_bound(goal: Goal, bits: float, perfect: float, reached: bool) -> None:
    assert meets(goal, bits, perfect) == reached


def test_goals_are_for_the_task_of_the_experiment() -> None:
    settings = settings_for("copy", "ntm-ff")
    assert [dict(goal.at) for goal in goals_of(settings)] == [{}, {"length": 120}]
    assert goals_of(settings.with_(task={"max_length": 5})) == []
    assert goals_of(settings_for("copy", "lstm")) == []


def test_the_packaged_networks_reach_the_goals_of_the_trained_range() -> None:
    for name in ("copy-ff", "repeat-copy-lstm", "ngrams-lstm"):
        trained_range = judge(open_run(name))[0]
        assert trained_range.reached, trained_range.sentence
        assert trained_range.sentence.startswith("Goal reached, trained range: 0.")
        assert missed_in_validation(open_run(name)) == ""


def test_a_cost_is_compared_above_the_optimum() -> None:
    found = Evaluation(132.5, 132.5, 0.0, 10, optimal_bits=132.0, bits_above_optimal=0.5)
    verdict = verdict_on(found, settings_for("ngrams", "ntm-ff"), {})
    assert verdict is not None
    assert verdict.reached
    assert verdict.sentence == (
        "Goal reached, trained range: 0.5000 bits per sequence above the optimum "
        "(below 1 bit above the optimum)."
    )
    assert verdict_on(found, settings_for("ngrams", "ntm-ff"), {"length": 400}) is None


def test_advice_depends_on_how_long_the_run_was() -> None:
    settings = settings_for("repeat-copy", "ntm-lstm")
    usual = settings.training.sequences
    shorter = settings.with_(training={"sequences": usual // 2})
    assert advice(shorter) == f"Train for longer: --sequences {usual}."
    other = settings.with_(training={"seed": 6, "starts": 3})
    assert advice(other) == (
        "Try another seed (--seed 7) or more starts (--set training.starts=6)."
    )


def test_training_says_that_it_failed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*SHORT, "--run", str(tmp_path / "a")]) == 0
    *_, within, beyond, what = capsys.readouterr().out.splitlines()
    assert within.startswith("Goal NOT reached, trained range: ")
    assert within.endswith(" bits per sequence (below 0.01 bits).")
    assert beyond == (
        "Goal NOT reached, length 120: 0 % without a wrong bit (99 % or more without a wrong bit)."
    )
    assert what == "Train for longer: --sequences 20000."
    assert main([*SHORT, "--run", str(tmp_path / "b"), "--require-solved"]) == 1


def test_a_run_without_goals_has_no_verdict(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = [*SHORT, "--run", str(tmp_path / "a"), "--set", "task.bits=3"]
    assert main(other) == 0
    assert "Goal" not in capsys.readouterr().out
    assert main([*other, "--resume", "--require-solved"]) == 2
    assert "--require-solved needs a goal, and ntm-ff has none" in capsys.readouterr().err


def test_eval_says_whether_the_goal_is_reached(
    failed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    few = ["--sequences", "5"]
    assert main(["eval", "copy-ff", *few]) == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith("Goal reached, trained range: ")
    assert main(["eval", str(failed), "--length", "120", *few]) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith("Goal NOT reached, length 120: ")
    assert last.endswith(" Train for longer: --sequences 20000.")
    assert main(["eval", str(failed), "--json", *few]) == 0
    assert json.loads(capsys.readouterr().out)["goal_reached"] is False
    for unknown in (["--length", "30"], ["--memory-locations", "256"]):
        assert main(["eval", "copy-ff", "--json", *unknown, *few]) == 0
        assert "goal_reached" not in json.loads(capsys.readouterr().out)


def test_figures_list_the_networks_that_failed(
    failed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    figures.print_failed([Run(failed), open_run("copy-ff")])
    _, heading, row = capsys.readouterr().out.splitlines()
    assert heading == "Goal missed, by the cost in validation:"
    assert row.startswith("short  Goal NOT reached, trained range: ")
    figures.print_failed([open_run("copy-ff")])
    assert capsys.readouterr().out == ""


def test_cards_say_whether_goals_are_reached(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["pretrained", "copy-ff"]) == 0
    within, beyond, enlarged = capsys.readouterr().out.splitlines()[1:4]
    assert within.endswith("; goal reached")
    assert beyond.endswith("; goal reached")
    assert "goal" not in enlarged
    assert main(["pretrained", "copy-ff", "--json"]) == 0
    abilities = json.loads(capsys.readouterr().out)["copy-ff"]["abilities"]
    assert [ability.get("goal") for ability in abilities] == [True, True, None]

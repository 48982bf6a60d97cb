"""`ntm analyse` as a person or a script meets it."""

import json
from pathlib import Path

import pytest

from ntm.commands.main import main
from ntm.evaluation import analyse, evaluate
from ntm.runs import Run, build_model
from ntm.training import paper_settings


def make_run(folder: Path, model: str, **sizes: int) -> Path:
    changes = {f"model.{name}": str(size) for name, size in sizes.items()}
    settings = paper_settings("copy", model).with_text({**changes, "task.bits": "3"})
    run = Run.create(folder, settings)
    run.save_weights("best", build_model(settings), {"sequences": 40})
    return folder


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return make_run(tmp_path / "run", "ntm-ff", controller_size=5, memory_locations=9)


def test_json_is_the_analysis_with_the_cost_of_the_network(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["analyse", str(run), "--sequences", "20", "--seed", "3", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    opened = Run(run)
    model, task = opened.load_model()[0], opened.settings.task
    expected = analyse(model, task, sequences=20, seed=3).to_json()
    assert {name: answer[name] for name in expected} == json.loads(json.dumps(expected))
    assert answer["mean_bits"] == evaluate(model, task, 20, 3).mean_bits
    assert answer["model"] == "ntm-ff"
    assert answer["trained_sequences"] == 40
    finding = answer["findings"][0]
    assert finding.keys() == {"name", "claim", "value", "measures", "numbers", "verdict"}


def test_text_has_a_verdict_for_every_claim(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["analyse", str(run), "--sequences", "20"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("copy, ntm-ff: ")
    assert shown.count('the paper: "') == 6
    assert "does not hold" in shown
    assert "first read of a pass" in shown


def test_an_lstm_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = make_run(tmp_path / "lstm", "lstm", hidden_size=4)
    assert main(["analyse", str(folder)]) == 2
    assert capsys.readouterr().err == "ntm: LSTM has no heads to watch; give an NTM.\n"


def test_wrong_arguments_are_refused(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["analyse", str(run), "--sequences", "0"]) == 2
    assert "sequences must be an integer of at least 1, got 0" in capsys.readouterr().err
    assert main(["analyse", str(run.parent)]) == 2
    assert "is not a run folder" in capsys.readouterr().err

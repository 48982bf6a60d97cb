"""Commands that read a network take a run folder or the name of a packaged network."""

import json
import shutil
from pathlib import Path

import pytest

from ntm import pretrained
from ntm.commands.main import main
from ntm.runs.opening import PackagedRun, open_run

RUN = Path(__file__).parents[1] / "runs" / "formats" / "run-1"


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[dict[str, object], str]:
    assert main([*arguments, "--json"]) == 0
    out, errors = capsys.readouterr()
    return json.loads(out), errors


def test_a_packaged_network_is_evaluated_as_its_card_says(
    capsys: pytest.CaptureFixture[str],
) -> None:
    facts = pretrained.facts("copy-ff")
    seed = str(pretrained.SEED)
    answer, errors = printed(capsys, "eval", "copy-ff", "--seed", seed)
    assert answer["mean_bits"] == pytest.approx(facts.mean_bits, rel=1e-3)
    assert answer["trained_sequences"] == facts.trained_sequences
    assert (answer["task"], answer["model"], answer["weights"]) == ("copy", "ntm-ff", "best")
    assert errors == ""


def test_a_packaged_network_is_analysed(capsys: pytest.CaptureFixture[str]) -> None:
    answer, _ = printed(capsys, "analyse", "copy-ff", "--sequences", "20")
    assert answer["trained_sequences"] == pretrained.facts("copy-ff").trained_sequences
    assert answer["perfect"] == 1


def drawn(out: Path, *networks: str) -> set[str]:
    assert main(["figures", *networks, "--out", str(out), "--format", "png"]) == 0
    return {file.name for file in out.iterdir()}


def test_figures_are_drawn_of_packaged_networks_but_for_learning_curves(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    curve, memory = "figure-03-copy-learning-curves.png", "figure-06-copy-memory-use.png"
    alone = drawn(tmp_path / "alone", "copy-ff")
    assert memory in alone
    assert curve not in alone
    assert "the runs of copy have no learning curve: ntm train copy" in capsys.readouterr().out
    assert {curve, memory} <= drawn(tmp_path / "both", "copy-ff", str(RUN))


def test_a_run_folder_comes_before_a_packaged_network_of_that_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert isinstance(open_run("copy-ff"), PackagedRun)
    shutil.copytree(RUN, "copy-ff")
    assert not isinstance(open_run("copy-ff"), PackagedRun)


@pytest.mark.parametrize("command", ["eval", "trace"])
def test_a_length_beyond_the_memory_is_noted(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    few = ["--sequences", "2"] if command == "eval" else []
    note = "--length 130 is more than the 128 locations of the memory; --memory-locations 256"
    assert main([command, "copy-ff", "--length", "130", *few]) == 0
    assert note in capsys.readouterr().err
    for enough in (["--length", "128"], ["--length", "130", "--memory-locations", "256"]):
        assert main([command, "copy-ff", *enough, *few]) == 0
        assert capsys.readouterr().err == ""


def test_a_task_that_needs_no_location_per_vector_gets_no_note(
    capsys: pytest.CaptureFixture[str],
) -> None:
    task = pretrained.settings("ngrams-ff").task
    _, usual = task.trained_range("length")
    assert usual > pretrained.settings("ngrams-ff").model.memory_locations
    for length in (usual, 2 * usual):
        given = ["--length", str(length), "--sequences", "1"]
        assert printed(capsys, "eval", "ngrams-ff", *given)[1] == ""

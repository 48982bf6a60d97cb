"""`ntm sweep` as it is typed."""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path

import pytest
from tests.same_run import assert_same_run
from tests.scale.runs import LONG, long_jobs, small_jobs

from ntm.commands.main import main
from ntm.scale import Job
from ntm.scale.ray_cluster import newest_record
from ntm.training import train

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "sweep.toml"
TWO_RUNS = """
tasks = ["copy"]
seeds = [1, 2]
[task]
bits = 3
max_length = 3
[model]
controller_size = 7
memory_locations = 11
memory_width = 5
[optimiser]
learning_rate = 1e-3
[training]
validation_sequences = 3
"""
SHORT_ONES = """
sequences = 500
report_every = 100
validate_every = 300
checkpoint_seconds = 0.2
"""
LONG_ONES = f"""
sequences = [{LONG}]
report_every = 1000
validate_every = 20_000
checkpoint_seconds = 0.05
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "two.toml"
    path.write_text(TWO_RUNS + SHORT_ONES)
    return path


def test_a_sweep_runs_and_is_there_when_it_is_asked_for_again(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["sweep", str(file), "--out", str(file.parent / "runs"), "--workers", "1"]
    assert main(command) == 0
    text = capsys.readouterr().out
    assert "copy-ntm-ff-2: finished at 500 of 500 sequences" in text
    assert "2 of 2" in text
    assert f"The runs are in {file.parent / 'runs'}. Next: ntm figures " in text
    assert main([*command, "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert [run["seed"] for run in data["runs"]] == [1, 2]
    assert [(group["seeds"], group["finished"]) for group in data["groups"]] == [(2, 2)]


def test_a_sweep_that_was_killed_goes_on(tmp_path: Path, eight_runs: Path) -> None:
    jobs, file = long_jobs(tmp_path / "runs"), tmp_path / "long.toml"
    file.write_text(TWO_RUNS + LONG_ONES)
    command = [sys.executable, "-m", "ntm", "sweep", str(file), "--workers", "2"]
    process = subprocess.Popen(
        [*command, "--out", str(tmp_path / "runs")], stdout=subprocess.DEVNULL
    )
    while not any(newest_record(job.folder) for job in jobs):
        assert process.poll() is None
        time.sleep(0.05)
    process.kill()
    assert process.wait() == -signal.SIGKILL
    assert main(["sweep", str(file), "--out", str(tmp_path / "runs"), "--workers", "1"]) == 0
    for job in jobs:
        assert_same_run(job.folder, eight_runs / job.name)


def test_the_example_is_listed_without_running(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sweep", str(EXAMPLE), "--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 12
    assert lines[0].split("  ")[0] == "runs/sweep/copy-ntm-ff-1-learning_rate=0.0001"
    assert all(line.endswith("0,000 sequences") for line in lines)
    assert len({len(line) for line in lines}) == 1  # aligned
    assert main(["sweep", str(EXAMPLE), "--list", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)) == 12


def test_a_failed_run_is_exit_code_1(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text(file.read_text().replace("1e-3", "1e38").replace("[1, 2]", "[1]"))
    assert main(["sweep", str(file), "--out", str(file.parent / "runs")]) == 1
    assert "failed at 0 sequences. Training stopped" in capsys.readouterr().out


def refused(arguments: Iterable[object], capsys: pytest.CaptureFixture[str]) -> str:
    assert main(["sweep", *map(str, arguments)]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("ntm: ")
    assert captured.err.count("\n") == 1
    return captured.err


def test_wrong_calls_are_refused_before_anything_runs(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = file.parent / "runs"
    assert "There is no file" in refused([file.parent / "none.toml"], capsys)
    assert "--workers must be at least 1" in refused([file, "--out", out, "--workers", "0"], capsys)
    file.write_text(file.read_text().replace("bits = 3", "bots = 3"))
    assert "did you mean 'bits'" in refused([file, "--out", out], capsys)
    assert not out.exists()


def test_a_folder_with_another_run_is_refused(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = file.parent / "runs"
    (job,) = small_jobs(out)
    other = Job(job.settings.with_text({"optimiser.momentum": "0.5"}), job.folder)
    train(other.settings, other.folder)
    assert "optimiser.momentum is 0.5" in refused([file, "--out", out], capsys)


@pytest.mark.parametrize("address", ["127.0.0.1:1", "127.0.0.1:port", "nowhere.invalid:6379"])
def test_an_address_without_a_cluster_is_told_at_once(
    file: Path, address: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["sweep", str(file), "--out", str(file.parent / "runs"), "--ray", address]) == 1
    sentence = capsys.readouterr().err
    assert sentence.startswith(f"ntm: There is no Ray cluster at '{address}'")
    assert "ray start --head" in sentence


def test_without_ray_the_sentence_says_how_to_install_it(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    assert main(["sweep", str(file), "--out", str(file.parent / "runs"), "--ray", "auto"]) == 1
    assert "pip install 'neural-turing-machines[scale]'" in capsys.readouterr().err

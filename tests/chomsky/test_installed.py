"""The plug-in as a user installs it: `ntm` finds its tasks through entry points."""

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ntm_chomsky import ALL
from ntm_chomsky.column import QUICK

FOLDER = Path(__file__).parents[2] / "chomsky"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the installed plug-in; the environment itself stays as it is."""
    folder = tmp_path_factory.mktemp("installed")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    options = ["--no-deps", "--no-build-isolation", "--target", str(folder)]
    subprocess.run([*pip, *options, str(FOLDER)], check=True)
    return folder


def ntm(installed: Path, *words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "ntm", *words],
        env=os.environ | {"PYTHONPATH": str(installed), "COLUMNS": "500"},
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout


def test_the_command_lists_every_task(installed: Path) -> None:
    told = ntm(installed, "train", "--help")
    assert [task.name for task in ALL if task.name not in told] == []


def test_every_task_has_an_ntm_and_the_baseline(installed: Path) -> None:
    code = (
        "from ntm_chomsky.column import chosen_networks as c; print(*map(' '.join, c()), sep=';')"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONPATH": str(installed)},
        check=True,
        capture_output=True,
        text=True,
    )
    networks = [pair.split() for pair in done.stdout.strip().split(";")]
    for task in ALL:
        models = {model for name, model in networks if name == task.name}
        assert "lstm" in models
        assert models & {"ntm-ff", "ntm-lstm"}


def test_a_task_is_trained_and_evaluated(installed: Path, tmp_path: Path) -> None:
    run = str(tmp_path / "run")
    ntm(installed, "train", "reverse-string", "--sequences", "64", "--run", run)
    found = json.loads(ntm(installed, "eval", run, "--length", "50", "--sequences", "8", "--json"))
    assert found["sequences"] == 8


def column(installed: Path, out: Path, task: str, seed: int) -> list[dict[str, str]]:
    """Run the column in quick form for one task and the NTM; return its scores."""
    words = ["--quick", "--seeds", "1", "--workers", "1", "--out", str(out), "--tasks", task]
    words += ["--models", "ntm-ff"]
    subprocess.run(
        [sys.executable, "-m", "ntm_chomsky", *words, "--first-seed", str(seed)],
        env=os.environ | {"PYTHONPATH": str(installed)},
        check=True,
        capture_output=True,
        text=True,
    )
    with (out / "scores.csv").open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


# Each of these seeds learns its task with the first start, with every instruction set.
@pytest.mark.parametrize(
    ("task", "seed"), [("parity-check", 100), ("reverse-string", 100), ("duplicate-string", 101)]
)
def test_one_task_per_level_is_learned_and_scored(
    installed: Path, tmp_path: Path, task: str, seed: int
) -> None:
    (found,) = column(installed, tmp_path, task, seed)
    assert float(found["accuracy"]) > 90
    assert f"| `{task}` |" in (tmp_path / "table.md").read_text(encoding="utf-8")


def test_the_quick_column_has_one_task_per_level() -> None:
    levels = {task.name: task.level for task in ALL}
    assert [levels[name] for name in QUICK] == ["regular", "context-free", "context-sensitive"]


def test_a_second_call_keeps_what_is_there(installed: Path, tmp_path: Path) -> None:
    first = column(installed, tmp_path, "parity-check", 1)
    run = tmp_path / "parity-check-ntm-ff-1"
    before = {file: (run / file).stat().st_mtime_ns for file in ("score.json", "best.safetensors")}
    assert column(installed, tmp_path, "parity-check", 1) == first
    assert before == {file: (run / file).stat().st_mtime_ns for file in before}

"""The plug-in as a user installs it: `ntm` finds its tasks through entry points."""

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ntm_chomsky import ALL

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


def test_a_task_is_trained_and_evaluated(installed: Path, tmp_path: Path) -> None:
    run = str(tmp_path / "run")
    ntm(installed, "train", "reverse-string", "--sequences", "64", "--run", run)
    found = json.loads(ntm(installed, "eval", run, "--length", "50", "--sequences", "8", "--json"))
    assert found["sequences"] == 8


def column(installed: Path, out: Path, *words: str) -> list[dict[str, str]]:
    """Run the column in quick form; return its scores."""
    subprocess.run(
        [
            sys.executable,
            "-m",
            "ntm_chomsky",
            "--quick",
            "--seeds",
            "1",
            "--first-seed",
            "1",
            "--out",
            str(out),
            *words,
        ],
        env=os.environ | {"PYTHONPATH": str(installed)},
        check=True,
        capture_output=True,
        text=True,
    )
    with (out / "scores.csv").open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def test_one_task_per_level_is_learned_and_scored(installed: Path, tmp_path: Path) -> None:
    scores = column(installed, tmp_path)
    levels = {task.name: task.level for task in ALL}
    found = {levels[row["task"]]: float(row["accuracy"]) for row in scores}
    assert set(found) == {"regular", "context-free", "context-sensitive"}
    assert min(found.values()) > 90, found
    table = (tmp_path / "table.md").read_text(encoding="utf-8")
    assert all(f"`{row['task']}`" in table for row in scores)


def test_a_second_call_keeps_what_is_there(installed: Path, tmp_path: Path) -> None:
    first = column(installed, tmp_path, "--tasks", "parity-check")
    run = tmp_path / "parity-check-ntm-ff-1"
    before = {file: (run / file).stat().st_mtime_ns for file in ("score.json", "best.safetensors")}
    assert column(installed, tmp_path, "--tasks", "parity-check") == first
    assert before == {file: (run / file).stat().st_mtime_ns for file in before}

"""The plug-in as a user installs it: `ntm` finds its tasks through entry points."""

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

"""`ntm reproduce` and `ntm results`, as they are typed."""

import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ntm.commands.main import main
from ntm.runs import Run

pytestmark = pytest.mark.usefixtures("few_figures")
MakeRun = Callable[..., Run]


def test_results_of_runs(
    make_run: MakeRun, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    folder = make_run("priority-sort").path.parent
    assert main(["results", str(folder), "--out", str(out), "--sequences", "3"]) == 0
    assert capsys.readouterr().out.endswith(f"1 runs in {out / 'README.md'}\n")
    page = (out / "README.md").read_text()
    assert main(["results", "--out", str(out)]) == 0
    assert (out / "README.md").read_text() == page


def test_a_reproduction_of_runs_that_are_there(
    make_run: MakeRun, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, out = make_run().path.parent, tmp_path / "out"
    choice = ["--tasks", "copy", "--models", "ntm-ff"]
    assert main(["reproduce", "--quick", *choice, "--out", str(out), "--runs", str(folder)]) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith("Done in ")
    assert last.endswith(f"The report: {out / 'report.html'}")
    assert not (out / "runs").exists()
    assert "`copy-ntm-ff-0`" in (out / "README.md").read_text()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["reproduce", "--seeds", "0"], "--seeds must be at least 1; got 0."),
        (["reproduce", "--first-seed", "-1"], "seed must be"),
        (["reproduce", "--workers", "0"], "--workers must be at least 1; got 0."),
        (["reproduce", "--tasks", "copi"], "copy"),
        (["reproduce", "--models", "gru"], "ntm-ff"),
        (["reproduce", "--runs", "nowhere"], "There is no folder nowhere."),
        (["results", "nowhere"], "There is no folder nowhere."),
        (["results", "--sequences", "0"], "--sequences must be at least 1; got 0."),
    ],
)
def test_wrong_calls_are_one_sentence(
    arguments: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*arguments, "--out", str(tmp_path / "out")]) == 2
    captured = capsys.readouterr()
    assert said in captured.err
    assert captured.err.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_an_interrupted_reproduction_says_how_to_go_on(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "ntm", "reproduce", "--out", str(tmp_path / "out")]
    command += ["--tasks", "copy", "--models", "ntm-ff", "--workers", "1"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert "train" in process.stdout.readline()
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert errors.splitlines()[-1] == (
        f"ntm: Interrupted. Nothing in {tmp_path / 'out'} is lost: the same command resumes "
        f"from here."
    )

"""Real reproductions of tiny networks; real processes, killed without warning at any moment."""

import random
import re
import subprocess
import sys
import time
from base64 import b64decode
from pathlib import Path

import pytest
from tests.report.examples import small_settings, untrained_run

from ntm.report.measure import Effort
from ntm.report.pipeline import reproduce
from ntm.runs import Run

PROGRAM = """
import sys
from ntm.report.measure import Effort
from ntm.report.pipeline import STAGES, reproduce
from ntm.terminal.progress import ProgressDisplay
from ntm.report.progress import Stages
from tests.report.examples import small_settings

short = dict(sequences=300, report_every=50, validate_every=100, checkpoint_seconds=0.02)
wanted = [small_settings("copy", model, **short) for model in ("ntm-ff", "lstm")]
with ProgressDisplay(sys.stdout, every=15) as display:
    progress = Stages(STAGES, display)
    reproduce(wanted, sys.argv[1], effort=Effort(20, 10), workers=1, progress=progress)
"""
COMMAND = [sys.executable, "-c", PROGRAM]
ROOT = Path(__file__).parents[2]


def kill_in(stage: str, out: Path, moment: float) -> bool:
    """Start or go on, and kill a moment after the first word of a stage; whether it was killed."""
    process = subprocess.Popen([*COMMAND, str(out)], stdout=subprocess.PIPE, text=True, cwd=ROOT)
    assert process.stdout is not None
    for line in process.stdout:
        if stage in line:
            break
    time.sleep(moment)
    process.kill()
    process.stdout.close()
    return process.wait() != 0


def timeless(text: str) -> str:
    """A page without the times it tells, its pictures as text.

    The names of clip paths hash their places, of which the layout leaves the last bit to chance.
    """
    seen = re.sub(r"base64,([\w+/=]+)", lambda found: b64decode(found[1]).decode(), text)
    named = re.sub(r"\bp[0-9a-f]{10}\b", "clip", seen)
    return re.sub(r"\b(\d+ h \d+ min|\d+ min \d+ s|\d+ s)\b", "a while", named)


def contents(out: Path) -> dict[str, str]:
    """All that a reproduction leaves, without times."""
    files = [out / "README.md", out / "report.html", *(out / "figures").glob("*.svg")]
    files += (out / "data").glob("*/analysis.json")
    found = {str(file.relative_to(out)): timeless(file.read_text()) for file in files}
    for file in (out / "data").glob("*/curve.csv"):
        rows = (line.rpartition(",")[0] for line in file.read_text().splitlines())
        found[str(file.relative_to(out))] = "\n".join(rows)
    return found


def test_a_reproduction_that_was_killed_ends_with_the_same_report(tmp_path: Path) -> None:
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    subprocess.run([*COMMAND, str(whole)], check=True, capture_output=True, cwd=ROOT)
    moments = random.Random(1)
    assert kill_in("train", killed, moments.uniform(0, 0.3))
    assert kill_in("evaluate", killed, moments.uniform(0, 0.5))
    assert not (killed / "report.html").exists()
    done = subprocess.run(
        [*COMMAND, str(killed)], check=True, capture_output=True, text=True, cwd=ROOT
    )
    assert "[1/5] train 2 of 2 runs finished" in done.stdout
    ours, theirs = contents(killed), contents(whole)
    assert ours.keys() == theirs.keys()
    assert len(ours) >= 10
    assert [name for name in ours if ours[name] != theirs[name]] == []
    for run in ("copy-ntm-ff-0", "copy-lstm-0"):
        for weights in ("best.safetensors", "model.safetensors"):
            path = Path("runs") / run / weights
            assert (killed / path).read_bytes() == (whole / path).read_bytes()


@pytest.mark.usefixtures("few_figures")
def test_networks_that_have_runs_are_not_trained(tmp_path: Path) -> None:
    taken = untrained_run(tmp_path / "mine" / "my-copy", "copy", "ntm-ff", seed=8)
    wanted = [small_settings("copy", "ntm-ff"), small_settings("copy", "lstm", sequences=40)]
    results, failures = reproduce(
        wanted, tmp_path / "out", taken=[tmp_path / "mine"], effort=Effort(2, 4), workers=1
    )
    assert failures == []
    assert [record.name for record in results.records()] == ["copy-lstm-0", "my-copy"]
    assert [path.name for path in (tmp_path / "out" / "runs").iterdir()] == ["copy-lstm-0"]
    assert Run(tmp_path / "out" / "runs" / "copy-lstm-0").settings == wanted[1]
    assert Run(taken.path).settings == taken.settings
    assert "`my-copy`" in results.readme.read_text()


@pytest.mark.usefixtures("few_figures")
def test_a_run_that_fails_is_reported_with_the_others(tmp_path: Path) -> None:
    good = small_settings("copy", "lstm", sequences=40)
    bad = small_settings("copy", "ntm-ff", sequences=40).with_text(
        {"training.device": "no-such-device"}
    )
    results, failures = reproduce([good, bad], tmp_path, effort=Effort(2, 4), workers=1)
    assert [record.name for record in results.records()] == ["copy-lstm-0"]
    (failure,) = failures
    assert "copy-ntm-ff-0" in failure
    assert "no-such-device" in results.report.read_text()


@pytest.mark.usefixtures("few_figures")
def test_other_settings_in_the_same_folder_are_refused(tmp_path: Path) -> None:
    first = small_settings("copy", "lstm", sequences=40)
    reproduce([first], tmp_path, effort=Effort(2, 4), workers=1)
    other = first.with_text({"optimiser.learning_rate": "0.5"})
    with pytest.raises(ValueError, match=r"optimiser.learning_rate is 0.0003 in .* and 0.5 now"):
        reproduce([other], tmp_path, effort=Effort(2, 4), workers=1)

"""Progress of the whole and of the part."""

import io
from dataclasses import replace
from pathlib import Path

import pytest
from tests.report.examples import small_settings

from ntm.report.pipeline import STAGES
from ntm.report.progress import Stages
from ntm.scale import Job, Standing
from ntm.terminal.progress import ProgressDisplay

WAITING = Standing(Job(small_settings("copy", "lstm", sequences=400), Path("runs/copy-lstm-0")))
RUNNING = replace(WAITING, state="running", sequences=100, bits=7.5, speed=175.0)
FINISHED = replace(WAITING, state="finished", sequences=400, bits=0.5)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_the_whole_grows_from_nothing_to_everything() -> None:
    progress, seen = Stages(STAGES), []
    for stage in STAGES:
        progress.begin(stage, 2)
        for _ in range(2):
            seen.append(progress.of_all)
            progress.done()
    assert seen[0] == 0.0
    assert seen == sorted(set(seen))
    assert progress.of_all == 1.0
    assert progress.title == "[5/5] report"


def test_a_stage_without_parts_is_done() -> None:
    progress = Stages(STAGES)
    progress.begin("analyse", 0)
    assert progress.of_stage == 1.0


def test_without_a_display_nothing_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    progress = Stages(STAGES)
    progress.begin("train", 2)
    progress.doing("this")
    progress.training([RUNNING])
    progress.note("one thing")
    progress.done()
    assert capsys.readouterr() == ("", "")


def test_a_log_of_training() -> None:
    stream = io.StringIO()
    with ProgressDisplay(stream, every=15) as display:
        progress = Stages(STAGES, display)
        progress.begin("train", 2)
        progress.training([RUNNING, WAITING])
        progress.training([RUNNING, WAITING])  # too soon for another line
        progress.training([FINISHED, FINISHED])  # but not for the last
    first, last = stream.getvalue().splitlines()
    assert first == (
        "[1/5] train 0 of 2 runs finished (11% of all, 4 s of training left); "
        "copy-lstm-0 100 of 400, 7.500 bits"
    )
    assert last == "[1/5] train 2 of 2 runs finished (85% of all)"


def test_a_terminal_shows_the_stage_and_every_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    stream = Terminal()
    with ProgressDisplay(stream) as display:
        progress = Stages(STAGES, display)
        progress.begin("train", 2)
        progress.training([RUNNING, FINISHED])
        progress.note("one thing")
    shown = stream.getvalue()
    for words in ("one thing", "copy-lstm-0", "running", "finished", "100 of 400", "7.500"):
        assert words in shown
    assert "175" in shown
    assert ", 2 s of training left" in shown
    assert "[1/5] train" in shown


def test_parts_are_shown_on_a_terminal() -> None:
    stream = Terminal()
    with ProgressDisplay(stream) as display:
        progress = Stages(STAGES, display)
        progress.begin("evaluate", 3)
        progress.doing("copy-lstm-0, best weights, length 120")
    assert "copy-lstm-0, best weights, length 120" in stream.getvalue()


def test_lines_of_a_log_wait_for_their_time(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    stream = io.StringIO()
    display = ProgressDisplay(stream, every=10, delay=5)
    for moment in (100.0, 105.0, 114.0, 115.0):
        now[0] = moment
        display.show(f"at {now[0]:.0f}")
    display.show("at once", now=True)
    assert stream.getvalue().splitlines() == ["at 105", "at 115", "at once"]


@pytest.mark.parametrize("keep", [True, False])
def test_the_last_picture_stays_or_is_wiped_away(
    keep: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "xterm")  # a dumb terminal cannot erase
    stream = Terminal()
    with ProgressDisplay(stream, keep=keep) as display:
        assert display.is_terminal
        display.show("a line", below=lambda: ["a picture"])
    assert "a line" not in stream.getvalue()
    erased = "\x1b[2K" in stream.getvalue().rpartition("a picture")[2]
    assert erased is not keep

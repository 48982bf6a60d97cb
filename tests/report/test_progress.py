"""Progress of the whole and of the part."""

import io
from dataclasses import replace
from pathlib import Path

import pytest
from tests.report.examples import small_settings

from ntm.report.pipeline import STAGES
from ntm.report.progress import Lines, Live, Position, make_progress
from ntm.scale import Job, Standing

WAITING = Standing(Job(small_settings("copy", "lstm", sequences=400), Path("runs/copy-lstm-0")))
RUNNING = replace(WAITING, state="running", sequences=100, bits=7.5, speed=1234.0)
FINISHED = replace(WAITING, state="finished", sequences=400, bits=0.5)


def test_the_whole_grows_from_nothing_to_everything() -> None:
    position, seen = Position(STAGES), []
    for stage in STAGES:
        position.begin(stage, 2)
        for _ in range(2):
            seen.append(position.of_all)
            position.finished += 1
    assert seen[0] == 0.0
    assert seen == sorted(set(seen))
    assert position.of_all == 1.0
    assert position.title == "[5/5] report"


def test_a_stage_without_parts_is_done() -> None:
    position = Position(STAGES)
    position.begin("analyse", 0)
    assert position.of_stage == 1.0


def test_a_log_of_training() -> None:
    stream = io.StringIO()
    with Lines(STAGES, stream) as progress:
        progress.stage("train", 2)
        progress.training([RUNNING, WAITING])
        progress.training([RUNNING, WAITING])  # too soon for another line
        progress.training([FINISHED, FINISHED])  # but not for the last
    first, last = stream.getvalue().splitlines()
    assert first == (
        "[1/5] train 0 of 2 runs finished (11% of all); copy-lstm-0 100 of 400, 7.500 bits"
    )
    assert last == "[1/5] train 2 of 2 runs finished (85% of all)"


def test_a_terminal_shows_the_stage_and_every_run() -> None:
    stream = io.StringIO()
    with Live(STAGES, stream) as progress:
        progress.stage("train", 2)
        progress.training([RUNNING, FINISHED])
        progress.note("one thing")
    shown = stream.getvalue()
    for words in ("one thing", "copy-lstm-0", "running", "finished", "100 of 400", "7.500"):
        assert words in shown
    assert "1,234" in shown
    assert "[1/5] train" in shown


def test_parts_are_shown_on_a_terminal() -> None:
    stream = io.StringIO()
    with Live(STAGES, stream) as progress:
        progress.stage("evaluate", 3)
        progress.doing("copy-lstm-0, best weights, length 120")
        progress.done()
    assert "copy-lstm-0, best weights, length 120" in stream.getvalue()


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("stream", "kind"), [(io.StringIO(), Lines), (Terminal(), Live)])
def test_terminals_get_bars_and_pipes_get_lines(stream: io.StringIO, kind: type) -> None:
    assert type(make_progress(STAGES, stream)) is kind

"""What is shown while runs go on, on streams that are no terminal and on one that says it is."""

import io
from pathlib import Path

import pytest
from tests.scale.runs import small_jobs

from ntm.scale import Standing
from ntm.scale.table import RunsView, counts


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def standings() -> list[Standing]:
    jobs = small_jobs(Path("out"), seeds=[1, 2, 3, 4])
    return [
        Standing(jobs[0], "finished", 500, 0.25),
        Standing(jobs[1], "running", 200, 1.5, 1234.0),
        Standing(jobs[2], "failed", 100, None, 0.0, "It diverged."),
        Standing(jobs[3]),
    ]


def test_lines_tell_every_change_once(standings: list[Standing]) -> None:
    stream = io.StringIO()
    with RunsView(stream) as view:
        view.show(standings)
        view.show(standings)
    assert stream.getvalue().splitlines() == [
        "copy-ntm-ff-1: finished at 500 of 500 sequences, 0.250 bits per sequence",
        "copy-ntm-ff-2: running at 200 of 500 sequences, 1.500 bits per sequence",
        "copy-ntm-ff-3: failed at 100 of 500 sequences. It diverged.",
    ]


def test_the_table_shows_every_run(standings: list[Standing], monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    stream = Terminal()
    with RunsView(stream) as view:
        view.show(standings)
    text = stream.getvalue()
    for number in (1, 2, 3, 4):
        assert f"copy-ntm-ff-{number}" in text
    assert "1,234" in text
    assert "1 of 4 runs finished, 1 running, 1 failed, 1 waiting" in text


def test_a_table_beyond_the_screen_shows_what_runs_and_what_failed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("LINES", "12")
    jobs = small_jobs(Path("out"), seeds=list(range(100)))
    standings = [Standing(job) for job in jobs]
    standings[71] = Standing(jobs[71], "running")
    standings[93] = Standing(jobs[93], "failed")
    stream = Terminal()
    with RunsView(stream) as view:
        view.show(standings)
    shown = [line for line in stream.getvalue().splitlines() if line.startswith("copy-")]
    assert len(set(shown)) == 6
    assert "copy-ntm-ff-71 " in shown[0]
    assert "copy-ntm-ff-93 " in shown[1]


def test_counts_leave_out_what_there_is_none_of(standings: list[Standing]) -> None:
    assert counts(standings[:1], 0.0) == "1 of 1 runs finished"
    assert counts(standings[:2], 65.0) == "1 of 2 runs finished, 1 running; 1 min 05 s left"

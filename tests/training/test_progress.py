import io

import pytest

from ntm.common.text import duration
from ntm.training import make_progress
from ntm.training.display import Progress, Shown, Status


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


STATUS = Status(sequences=1500, total=10_000, bits=1.25, speed=500.0)


def test_without_a_terminal_there_are_plain_lines() -> None:
    stream = io.StringIO()
    progress = make_progress(stream)
    assert isinstance(progress, Shown)
    assert not progress.pictures
    progress.note("Training.")
    progress.update(STATUS)
    progress.update(Status(0, 10, None, 0.0))
    progress.update(Status(21, 40, 1.0, 1.0, 2))
    progress.close()
    assert stream.getvalue().splitlines() == [
        "Training.",
        "1,500 of 10,000 sequences, 1.250 bits per sequence, 500 sequences/s, 17 s left",
        "0 of 10 sequences, no cost yet, 0 sequences/s, ? left",
        "start 2: 21 of 40 sequences, 1.000 bits per sequence, 1 sequences/s, 19 s left",
    ]


def test_on_a_terminal_there_is_a_bar_with_the_same_numbers() -> None:
    stream = Terminal()
    progress = make_progress(stream)
    assert isinstance(progress, Shown)
    assert progress.pictures
    progress.note("Training [copy].")
    progress.update(STATUS)
    progress.update(STATUS._replace(start=2))
    progress.picture("a picture of one example")
    progress.close()
    shown = stream.getvalue()
    for part in (
        "Training [copy].",
        "15%",
        "start 2:  15%",
        "1.250 bits",
        "500 sequences/s",
        "17 s left",
        "example",
    ):
        assert part in shown


def test_silence_is_silent(capsys: pytest.CaptureFixture[str]) -> None:
    progress = Progress()
    progress.note("Training.")
    progress.update(STATUS)
    progress.picture("picture")
    progress.close()
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.2, "0 s"),
        (59.4, "59 s"),
        (59.6, "1 min 00 s"),
        (200, "3 min 20 s"),
        (7500, "2 h 05 min"),
        (float("inf"), "?"),
    ],
)
def test_durations_read_well(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_a_trial_fits_into_eighty_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    stream = Terminal()
    progress = make_progress(stream)
    progress.update(Status(119_999, 200_000, 184.123, 1234.0, 10))
    progress.close()
    assert "start 10:  60%" in stream.getvalue()
    assert "184.123 bits per sequence, 1,234 sequences/s, 1 min 05 s left" in stream.getvalue()

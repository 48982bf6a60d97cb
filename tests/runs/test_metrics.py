import io
import json
from pathlib import Path
from typing import Any

import pytest

from ntm.runs import RunError, read_metrics
from ntm.training.observing import MetricsLog

RUN: Any = None  # which no log looks at


def line(sequences: int) -> dict[str, float]:
    return {"sequences": sequences, "bits": sequences / 3, "seconds": sequences / 7}


def test_lines_come_back_as_they_were(tmp_path: Path) -> None:
    file = tmp_path / "metrics.jsonl"
    assert read_metrics(file) == []
    metrics = MetricsLog(file, 0)
    for sequences in (10, 20, 30):
        metrics.reported(RUN, line(sequences))
    metrics.saving(RUN)
    metrics.close()
    assert read_metrics(file) == [line(10), line(20), line(30)]


@pytest.mark.parametrize("torn", [b"", b'{"sequences": 40, "bi', b"\x00\x00", b'{"sequences": 40}'])
def test_lines_beyond_the_checkpoint_and_torn_ones_are_cut(tmp_path: Path, torn: bytes) -> None:
    file = tmp_path / "metrics.jsonl"
    metrics = MetricsLog(file, 0)
    for sequences in (10, 20, 30):
        metrics.reported(RUN, line(sequences))
    metrics.close()
    with file.open("ab") as opened:
        opened.write(torn)
    assert read_metrics(file) == [line(10), line(20), line(30)]
    again = MetricsLog(file, 20)
    again.reported(RUN, line(25))
    again.close()
    assert read_metrics(file) == [line(10), line(20), line(25)]


def test_garbage_in_the_middle_is_not_passed_over(tmp_path: Path) -> None:
    file = tmp_path / "metrics.jsonl"
    whole = json.dumps(line(1))
    for garbage in ("not json", "[" * 100_000, "[]", '{"sequences": 1}', '{"bits": 1}', ""):
        file.write_text(f"{whole}\n{garbage}\n{whole}\n")
        with pytest.raises(RunError, match=r"cannot be used; line 2: .*\.$"):
            read_metrics(file)
    file.write_text('{"sequences": "1", "bits": 2}\n')
    with pytest.raises(RunError, match="sequences must be an integer, got '1'"):
        read_metrics(file)


class NearlyFull(io.FileIO):
    """A file on a disk that takes a few bytes at a time."""

    def write(self, data: Any) -> int:
        return super().write(data[:7])


def test_a_line_is_written_whole_however_little_the_disk_takes_at_once(tmp_path: Path) -> None:
    file = tmp_path / "metrics.jsonl"
    metrics = MetricsLog(file, 0)
    metrics._file.close()
    metrics._file = NearlyFull(file, "ab")
    for sequences in (10, 20):
        metrics.reported(RUN, line(sequences))
    metrics.close()
    assert read_metrics(file) == [line(10), line(20)]

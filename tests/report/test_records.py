"""The small data that tables are made from."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.report.examples import made_up_record

from ntm.report.records import (
    FINENESS,
    Results,
    is_up_to_date,
    store_json,
    store_run,
    thinned,
)
from ntm.runs import Run, RunError


def metrics(counts: list[int]) -> list[dict[str, Any]]:
    """Lines with so many sequences each, whose costs fall."""
    ends = np.cumsum(counts).tolist()
    return [
        {"sequences": end, "bits": 100.0 / (number + 1), "seconds": float(end)}
        for number, end in enumerate(ends)
    ]


@given(st.lists(st.integers(1, 50), min_size=1, max_size=300))
def test_a_thinned_curve_keeps_the_total_and_the_end(counts: list[int]) -> None:
    lines = metrics(counts)
    curve = thinned(lines)
    widths = np.diff(curve.sequences, prepend=0.0)
    total = sum(count * line["bits"] for count, line in zip(counts, lines, strict=True))
    assert float(widths @ curve.bits) == pytest.approx(total)
    assert curve.sequences[-1] == lines[-1]["sequences"]
    assert curve.seconds[-1] == lines[-1]["seconds"]
    assert (widths[:-1] >= curve.sequences[:-1] / FINENESS).all()


def test_a_long_curve_becomes_short_and_a_short_one_stays() -> None:
    assert len(thinned(metrics([1000] * 1000)).bits) < 350
    short = metrics([1000] * 30)
    assert thinned(short).bits.tolist() == [line["bits"] for line in short]
    assert len(thinned([]).bits) == 0


def test_what_was_stored_is_read(make_run: Callable[..., Run], tmp_path: Path) -> None:
    run, folder = make_run(), tmp_path / "data" / "copy-ntm-ff-0"
    store_run(run, folder)
    assert Results(tmp_path).records() == []  # not evaluated yet
    evaluation = made_up_record(bits=0.75).evaluation
    store_json(folder / "evaluation.json", {"key": {"seed": 1}, **evaluation})
    (record,) = Results(tmp_path).records()
    assert (record.name, record.task, record.model, record.seed) == (
        "copy-ntm-ff-0", "copy", "ntm-ff", 0,
    )  # fmt: skip
    assert record.settings == run.settings
    assert record.curve.sequences.tolist() == [1000, 2000, 3000]
    assert record.curve.bits.tolist() == [9.0, 4.5, 3.0]
    assert record.seconds == 7.5
    assert record.at({"length": 30})["mean_bits"] == 0.75
    assert record.analysis is None


def test_what_was_measured_with_another_key_is_not_up_to_date(tmp_path: Path) -> None:
    file = tmp_path / "evaluation.json"
    assert not is_up_to_date(file, {"seed": 1})
    store_json(file, {"key": {"seed": 1}, "best": {}})
    assert is_up_to_date(file, {"seed": 1})
    assert not is_up_to_date(file, {"seed": 2})


@pytest.mark.parametrize(
    ("content", "said"), [(b"{", "is not JSON"), (json.dumps({"format": 9}).encode(), "format 9")]
)
def test_files_of_something_else_are_refused(tmp_path: Path, content: bytes, said: str) -> None:
    file = tmp_path / "evaluation.json"
    file.write_bytes(content)
    with pytest.raises(RunError, match=said):
        is_up_to_date(file, {})


def test_a_case_that_was_not_measured_is_missed() -> None:
    with pytest.raises(RunError, match=r"was not evaluated at .*17"):
        made_up_record().at({"length": 17})


def test_a_run_without_validation_has_only_latest_weights() -> None:
    record = made_up_record(bits=0.5, latest=0.75, curve=[(1000, 3.0)])
    del record.evaluation["best"]
    assert record.at({})["mean_bits"] == 0.75
    assert record.best_at == record.sequences == 1000
    assert record.validation_bits == float("inf")

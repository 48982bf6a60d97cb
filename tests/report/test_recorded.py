"""What the figures of a folder of results are drawn from."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from tests.report.examples import made_up_record, small_settings

from ntm import pretrained
from ntm.figures.runs import MissingError
from ntm.paper import experiment_of
from ntm.paper.gallery import drawn
from ntm.report.pipeline import RecordedRuns
from ntm.report.records import Results, RunRecord, store_json, store_run
from ntm.runs import Run

MakeRun = Callable[..., Run]
FIGURE_8 = experiment_of("repeat-copy").figures[1]


def stored(run: Run, data: Path) -> RunRecord:
    """The record of a run, with costs that are made up."""
    folder = data / run.path.name
    store_run(run, folder)
    store_json(folder / "evaluation.json", made_up_record(run.settings.task.name).evaluation)
    return next(record for record in Results(data.parent).records() if record.name == run.path.name)


def run_with_trials(folder: Path) -> Run:
    """Two starts of 2,000 sequences: the first is kept and goes on to 3,000."""
    changes = {"starts": 2, "trial_sequences": 2000, "sequences": 3000, "report_every": 1000}
    run = Run.create(folder, small_settings("copy", "ntm-ff", 0, **changes))
    lines = [(1000, 9.0, 1), (2000, 8.0, 1), (3000, 7.0, 2), (4000, 6.0, 2), (5000, 5.0, 1)]
    rows = [{"sequences": n, "bits": bits, "seconds": 1.0, "start": s} for n, bits, s in lines]
    run.metrics.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return run


def test_learning_curves_are_of_every_run_of_the_folder(make_run: MakeRun, tmp_path: Path) -> None:
    first, second = make_run(), make_run(seed=1)
    records = [stored(run, tmp_path / "data") for run in (first, second)]
    (curves,) = RecordedRuns(records, [second]).learning_curves("copy").values()
    assert [curve.x.tolist() for curve in curves] == [[1.0, 2.0, 3.0]] * 2


def test_a_run_with_trials_is_drawn_over_the_sequences_of_its_network(tmp_path: Path) -> None:
    record = stored(run_with_trials(tmp_path / "copy-ntm-ff-0"), tmp_path / "data")
    assert record.curve.sequences.tolist() == [1000, 2000, 3000, 4000, 5000]
    runs = RecordedRuns([record], [])
    ((curve,),) = runs.learning_curves("copy").values()
    assert curve.x.tolist() == [1.0, 2.0, 3.0]
    assert curve.bits.tolist() == [9.0, 8.0, 5.0]
    assert runs.lacking == []


def test_a_curve_that_was_not_stored_is_lacking(tmp_path: Path) -> None:
    record = stored(run_with_trials(tmp_path / "copy-ntm-ff-0"), tmp_path / "data")
    runs = RecordedRuns([replace(record, chosen=None)], [])
    with pytest.raises(MissingError, match="learning curves of copy"):
        runs.learning_curves("copy")
    assert runs.lacking == ["the curve of the chosen start of copy-ntm-ff-0"]


def test_costs_are_those_of_the_records() -> None:
    records = [
        made_up_record("associative-recall", seed=seed, at={"6": 0.5, "20": bits})
        for seed, bits in enumerate((8.0, 9.0))
    ]
    (curves,) = RecordedRuns(records, []).costs("associative-recall", "items", [6, 20]).values()
    assert [curve.bits.tolist() for curve in curves] == [[0.5, 8.0], [0.5, 9.0]]


def test_networks_are_those_at_hand_or_else_of_the_package(make_run: MakeRun) -> None:
    run = make_run()
    records = [made_up_record("copy", "ntm-ff"), made_up_record("copy", "lstm")]
    at_hand = RecordedRuns(records, [run]).best("copy", "ntm-ff").model
    assert torch.equal(next(at_hand.parameters()), next(run.load_model()[0].parameters()))
    packaged = RecordedRuns(records, []).best("copy", "ntm-ff").model
    expected = pretrained.load("copy-ff")
    assert all(map(torch.equal, packaged.parameters(), expected.parameters()))
    with pytest.raises(MissingError):
        RecordedRuns(records, []).best("copy", "lstm")


def test_a_task_without_a_record_is_missing() -> None:
    runs = RecordedRuns([made_up_record("copy")], [])
    assert runs.tasks == ["copy"]
    assert runs.task("copy").name == "copy"
    with pytest.raises(MissingError, match="ntm train ngrams"):
        runs.learning_curves("ngrams")


def test_a_figure_is_not_replaced_by_one_that_lacks_something(
    make_run: MakeRun, tmp_path: Path
) -> None:
    both = [make_run("repeat-copy"), make_run("repeat-copy", "lstm")]
    records = [stored(run, tmp_path / "data") for run in both]
    experiment = experiment_of("repeat-copy")

    def draw(runs: list[Run], out: Path, *, keep: bool = True) -> tuple[bytes, int]:
        outcome = drawn(experiment, FIGURE_8, RecordedRuns(records, runs), out, ["svg"], keep=keep)
        return outcome.files[0].read_bytes(), len(outcome.lacking)

    whole = draw(both, tmp_path)
    assert whole[1] == 0
    assert draw(both[:1], tmp_path) == whole
    less = draw(both[:1], tmp_path / "new")
    assert less[1] == 1
    assert less[0] != whole[0]
    assert draw(both[:1], tmp_path, keep=False) == less
    assert draw(both, tmp_path) == whole


def test_a_run_without_a_report_has_no_curve(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "copy-lstm-0", small_settings("copy", "lstm"))
    record = stored(run, tmp_path / "data")
    assert np.array_equal(record.curve.bits, [])
    with pytest.raises(MissingError, match="learning curves of copy"):
        RecordedRuns([record], []).learning_curves("copy")

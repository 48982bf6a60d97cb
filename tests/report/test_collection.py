"""From run folders to a folder of results, and what is not done twice."""

import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ntm import pretrained
from ntm.paper import experiment_of, gallery
from ntm.paper.gallery import figures_of
from ntm.report.measure import Effort
from ntm.report.page import readme
from ntm.report.pipeline import MEASURING, collect
from ntm.report.progress import Stages
from ntm.report.records import Results
from ntm.runs import FolderError, Run, build_model, find_runs
from ntm.terminal.progress import ProgressDisplay

pytestmark = pytest.mark.usefixtures("few_figures")
MakeRun = Callable[..., Run]
EFFORT = Effort(sequences=3, watched=4)
FIGURE_4 = experiment_of("copy").figures[1]


def stamps(folder: Path) -> dict[str, int]:
    """When each file was last written."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.stat().st_mtime_ns for path in files}


def collected(runs: list[Run], out: Path, effort: Effort = EFFORT) -> Results:
    return collect(runs, out, effort, Stages(MEASURING))


def test_the_folder_has_all_that_is_needed(make_run: MakeRun, tmp_path: Path) -> None:
    results = collected([make_run(), make_run(model="lstm")], tmp_path / "out")
    names = {str(path.relative_to(results.path)) for path in results.data.rglob("*.*")}
    assert names == {
        "data/machine.json",
        *(f"data/copy-ntm-ff-0/{name}" for name in ("config.json", "curve.csv", "chosen.csv")),
        *(f"data/copy-ntm-ff-0/{name}.json" for name in ("evaluation", "analysis")),
        *(f"data/copy-lstm-0/{name}" for name in ("config.json", "curve.csv", "evaluation.json")),
    }
    drawn = [figure.number for _, figure in figures_of() if results.figure(figure).exists()]
    assert drawn == [4]
    assert sum(path.stat().st_size for path in results.data.rglob("*.*")) < 20_000
    page = results.readme.read_text()
    assert "figures/figure-04-copy-generalisation-ntm.svg" in page
    assert "`copy-lstm-0`" in page


def test_what_is_up_to_date_is_not_done_again(make_run: MakeRun, tmp_path: Path) -> None:
    runs, out = [make_run(), make_run(seed=1)], tmp_path / "out"
    collected(runs, out)
    first = stamps(out)
    collected(runs, out)
    measured = [name for name in first if name.endswith(("evaluation.json", "analysis.json"))]
    figures = [name for name in first if name.startswith("figures/")]
    assert len(measured) == 4
    assert len(figures) == 2
    again = stamps(out)
    assert {name for name in [*measured, *figures] if again[name] != first[name]} == set()

    network = build_model(runs[1].settings.with_text({"training.seed": "9"}))
    runs[1].save_weights("best", network, {"sequences": 2500})
    collected(runs, out)
    changed = {name for name, stamp in stamps(out).items() if stamp != again[name]}
    assert {name for name in measured if name in changed} == {
        "data/copy-ntm-ff-1/evaluation.json",
        "data/copy-ntm-ff-1/analysis.json",
    }
    assert set(figures) <= changed


def test_other_packaged_networks_draw_the_figures_again(
    make_run: MakeRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packaged = tmp_path / "packaged"
    packaged.mkdir()
    for file in pretrained.FOLDER.glob("copy-*.safetensors"):
        shutil.copy(file, packaged)
    monkeypatch.setattr("ntm.runs.packaged.FOLDER", packaged)
    run, out = make_run(), tmp_path / "out"
    collected([run], out)
    first = stamps(out)
    (packaged / "copy-lstm.safetensors").unlink()
    collected([run], out)
    changed = {name for name, stamp in stamps(out).items() if stamp != first[name]}
    assert {name for name in first if name.startswith("figures/")} <= changed
    assert not any(name.endswith("evaluation.json") for name in changed)


def test_another_effort_measures_again(make_run: MakeRun, tmp_path: Path) -> None:
    run = make_run()
    collected([run], tmp_path)
    (record,) = collected([run], tmp_path, Effort(sequences=5, watched=4)).records()
    assert record.at({})["sequences"] == 5


def test_figures_that_were_cut_short_are_drawn_again(
    make_run: MakeRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = make_run()
    whole = collected([run], tmp_path / "whole").figure(FIGURE_4).read_bytes()
    out = tmp_path / "cut"

    def fails(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(gallery, "drawn", fails)
        with pytest.raises(KeyboardInterrupt):
            collected([run], out)
    Results(out).figure(FIGURE_4).write_bytes(whole[:100])
    assert collected([run], out).figure(FIGURE_4).read_bytes() == whole


def test_runs_are_added_to_those_that_are_there(make_run: MakeRun, tmp_path: Path) -> None:
    collected([make_run()], tmp_path / "out")
    both = collected([make_run(seed=1)], tmp_path / "out")
    assert [record.name for record in both.records()] == ["copy-ntm-ff-0", "copy-ntm-ff-1"]
    assert both.readme.read_text().count("| 0 to 1 |") == 1


def test_the_page_is_made_from_the_data_alone(make_run: MakeRun, tmp_path: Path) -> None:
    results = collected([make_run(), make_run("associative-recall")], tmp_path / "out")
    moved = Results(tmp_path / "moved")
    results.path.rename(moved.path)
    page = moved.readme.read_text()
    assert readme(moved) == page
    collected([], moved.path)
    assert moved.readme.read_text() == page
    file = moved.data / "copy-ntm-ff-0" / "evaluation.json"
    file.write_text(file.read_text().replace('"perfect": 0.0', '"perfect": 0.5'))
    assert readme(moved) != page


def test_without_any_runs_the_page_says_so(tmp_path: Path) -> None:
    assert "There are no runs here yet." in collected([], tmp_path).readme.read_text()


def test_two_runs_of_one_name_are_refused(make_run: MakeRun, tmp_path: Path) -> None:
    run = make_run()
    with pytest.raises(FolderError, match="have the same name"):
        collected([run, Run(run.path)], tmp_path / "out")


def test_runs_are_found_in_folders(make_run: MakeRun, tmp_path: Path) -> None:
    one, two = make_run(), make_run(seed=1)
    assert [run.path for run in find_runs([one.path.parent])] == [one.path, two.path]
    assert [run.path for run in find_runs([two.path])] == [two.path]
    (tmp_path / "empty").mkdir()
    with pytest.raises(FolderError, match="empty is not a run folder, and no run is in it"):
        find_runs([tmp_path / "empty"])


def test_a_log_tells_the_stage_the_part_and_the_whole(
    make_run: MakeRun, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with ProgressDisplay(sys.stdout) as display:
        collect([make_run()], tmp_path / "out", EFFORT, Stages(MEASURING, display))
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "[1/4] evaluate 1 of 1: copy-ntm-ff-0 (40% of all)"
    assert lines[1] == "[2/4] analyse 1 of 1: copy-ntm-ff-0 (67% of all)"
    assert lines[2].startswith("[3/4] draw 1 of 18: Figure 1: architecture")
    assert lines[5].startswith("[3/4] draw 4 of 18: Figure 4: copy generalisation NTM")
    assert lines[-1].endswith("README.md (100% of all)")

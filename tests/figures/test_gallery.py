"""From run folders to pictures, and what is said of those that cannot be drawn."""

import json
import subprocess
import sys
from pathlib import Path

import matplotlib
import numpy as np
import pytest
import torch

from ntm.commands.main import main
from ntm.figures.runs import ANSWERS, RunFolders
from ntm.paper import gallery
from ntm.runs import FolderError, Run, block_generator, build_model
from ntm.tasks import cost_in_bits
from ntm.training import paper_settings

SMALL_MODEL = {
    "lstm": {"hidden_size": "4", "layers": "1"},
    "ntm-ff": {"controller_size": "5", "memory_locations": "11", "memory_width": "4"},
}


def make_run(folder: Path, task: str, model: str, seed: int = 1, bits: float = 9.0) -> Path:
    """A run as training leaves it, without the training."""
    changes = {f"model.{name}": value for name, value in SMALL_MODEL[model].items()}
    if model == "ntm-ff":
        changes |= {"model.read_heads": "2", "model.write_heads": "2"}
    settings = paper_settings(task, model).with_text({**changes, "training.seed": str(seed)})
    run = Run.create(folder, settings)
    run.save_weights("best", build_model(settings), {"sequences": 3000})
    lines = [{"sequences": 1000 * n, "bits": bits / n, "seconds": float(n)} for n in (1, 2, 3)]
    run.metrics.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return folder


TASKS = ["copy", "repeat-copy", "associative-recall", "ngrams", "priority-sort"]


@pytest.fixture(scope="module")
def all_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small network of each kind for each task, in one folder."""
    folder = tmp_path_factory.mktemp("runs")
    for task in TASKS:
        for model in SMALL_MODEL:
            make_run(folder / f"{task}-{model}", task, model)
    return folder


def test_all_figures_can_be_drawn(all_runs: Path, tmp_path: Path) -> None:
    outcomes = list(gallery.draw_figures([all_runs], tmp_path, formats=["png"]))
    assert [outcome.figure.number for outcome in outcomes] == list(range(1, 19))
    assert [outcome.lacking for outcome in outcomes] == [()] * 18
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == [outcome.files[0].name for outcome in outcomes]
    assert names[2] == "figure-03-copy-learning-curves.png"
    assert names[16] == "figure-17-sort-memory-use.png"


def test_the_command_says_what_it_drew_and_what_is_missing(
    all_runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run, out = all_runs / "copy-lstm", tmp_path / "out"
    assert main(["figures", str(run), "--out", str(out), "--format", "svg"]) == 0
    shown = capsys.readouterr().out
    drawn = {int(path.name[7:9]) for path in out.iterdir()}
    assert drawn == {1, 2, 3, 5, 16}
    assert all(path.suffix == ".svg" for path in out.iterdir())
    assert (
        f"figure  3  copy learning curves          {out}/figure-03-copy-learning-curves.svg"
        in shown
    )
    assert "figure  4  needs  a run of copy with ntm-ff or ntm-lstm: " in shown
    assert "ntm train associative-recall --model ntm-ff" in shown
    missing = shown.partition("Missing:")[2]
    assert missing.count("  needs  a run of ") == 13


def test_what_can_do_without_the_lstm_says_so(all_runs: Path, tmp_path: Path) -> None:
    runs = [all_runs / "repeat-copy-ntm-ff"]
    outcomes = {o.figure.number: o for o in gallery.draw_figures(runs, tmp_path, ["png"])}
    assert outcomes[8].files
    assert outcomes[8].lacking == (
        "a run of repeat-copy with lstm: ntm train repeat-copy --model lstm",
    )
    assert outcomes[9].files
    assert not outcomes[9].lacking


def test_runs_are_grouped_and_the_best_is_taken(tmp_path: Path) -> None:
    for seed, bits in ((1, 9.0), (2, 3.0), (3, 6.0)):
        make_run(tmp_path / f"seed-{seed}", "copy", "ntm-ff", seed, bits)
    runs = RunFolders([tmp_path])
    curves = runs.learning_curves("copy")["ntm-ff"]
    assert sorted(curve.bits[0] for curve in curves) == [3, 6, 9]
    np.testing.assert_array_equal(curves[0].x, [1, 2, 3])
    best = runs.best("copy", "ntm-lstm", "ntm-ff")
    expected = Run(tmp_path / "seed-2").load_model()[0].state_dict()
    for name, tensor in best.model.state_dict().items():
        assert tensor.equal(expected[name]), name
    assert best.title == "NTM, feedforward controller"


def test_the_best_run_is_best_beyond_the_range_too(tmp_path: Path) -> None:
    for seed, validation, beyond in ((1, 0.1, 40.0), (2, 0.2, 0.5)):
        run = Run(make_run(tmp_path / f"seed-{seed}", "copy", "ntm-ff", seed))
        facts = {"sequences": 3000, "validation_bits": validation, "beyond_bits": beyond}
        run.save_weights("best", run.load_model()[0], facts)
    best = RunFolders([tmp_path]).best("copy", "ntm-ff")
    expected = Run(tmp_path / "seed-2").load_model()[0].state_dict()
    assert all(tensor.equal(expected[name]) for name, tensor in best.model.state_dict().items())


@pytest.mark.parametrize("model", ["ntm-ff", "lstm"])
def test_an_answer_is_the_median_of_the_same_problems(all_runs: Path, model: str) -> None:
    network = RunFolders([all_runs]).best("copy", model)
    answer = network.answer("", {"length": 7})
    batch = network.task.at(length=7).sample(ANSWERS, block_generator("figures", 1))
    costs = cost_in_bits(network.logits(batch.inputs), batch)
    shown = (batch.targets[8:] == torch.from_numpy(answer.targets).unsqueeze(1)).all(2).all(0)
    assert costs[shown].tolist() == [costs.median().item()]
    assert answer.outputs.shape == (7, 8)


def test_a_run_that_has_not_reported_yet_is_missing(tmp_path: Path) -> None:
    folder = make_run(tmp_path / "run", "copy", "ntm-ff")
    Run(folder).metrics.unlink()
    Run(folder).weights_file("best").unlink()
    outcomes = {
        o.figure.number: o for o in gallery.draw_figures([folder], tmp_path / "out", ["png"])
    }
    assert outcomes[3].lacking == ("the runs of copy have no learning curve: ntm train copy",)
    assert "does not exist yet" in outcomes[6].lacking[0]


def test_a_folder_without_runs_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(FolderError, match="is not a run folder, and no run is in it"):
        RunFolders([tmp_path])
    assert main(["figures", str(tmp_path), "--out", str(tmp_path / "out")]) == 2
    assert "no run is in it" in capsys.readouterr().err


def test_without_matplotlib_the_command_says_what_to_install(
    all_runs: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setitem(sys.modules, "ntm.paper.gallery", None)
    assert main(["figures", str(all_runs), "--out", str(tmp_path)]) == 1
    assert "pip install 'neural-turing-machines[figures]'" in capsys.readouterr().err


def test_drawing_leaves_no_trace_in_matplotlib(all_runs: Path, tmp_path: Path) -> None:
    # Reading the setting "backend" is what makes matplotlib load pyplot.
    script = (
        "import sys, matplotlib\n"
        "def settings():\n"
        "    return {k: matplotlib.rcParams[k] for k in matplotlib.rcParams if k != 'backend'}\n"
        "before = settings()\n"
        "from ntm.paper import gallery\n"
        f"runs, out = [{str(all_runs / 'copy-lstm')!r}], {str(tmp_path)!r}\n"
        "list(gallery.draw_figures(runs, out, ['png']))\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
        "assert settings() == before\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_the_callers_own_style_changes_nothing() -> None:
    from ntm.figures import addressing_flow, png

    plain = png(addressing_flow(), dpi=30)
    with matplotlib.rc_context({"font.size": 20, "axes.facecolor": "red", "lines.linewidth": 9}):
        assert png(addressing_flow(), dpi=30) == plain

"""Runs that start from the weights of a network instead of fresh ones."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.same_run import assert_same_run

from ntm import NTM, LSTMBaseline
from ntm.cli import main
from ntm.models import Model
from ntm.runs import FolderError, Run, Settings, checkpoints
from ntm.training import fine_tuned, train

Small = Callable[..., Settings]
MODELS = ("lstm", "ntm-ff", "ntm-lstm")


def saved(settings: Settings, folder: Path) -> Model:
    """A network for these settings, in a folder."""
    torch.manual_seed(5)
    kind = LSTMBaseline if settings.model_name == "lstm" else NTM
    net = kind.from_config(settings.model)
    net.save_pretrained(folder)
    return net


def first_weights(run: Path) -> dict[str, torch.Tensor]:
    """What the run had before its first step."""
    checkpoint, _ = checkpoints.load_newest(run / "checkpoint")
    assert checkpoint is not None
    return checkpoints.under("model/", checkpoint.tensors)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("of", ["saved", "run"])
def test_a_run_starts_from_these_weights(small: Small, tmp_path: Path, model: str, of: str) -> None:
    settings = small(model=model, optimiser__learning_rate=0.0)
    if of == "saved":
        given = saved(settings, tmp_path / "net")
    else:
        train(small(model=model, training__seed=7), tmp_path / "net")
        given = Run(tmp_path / "net").load_model()[0]
    result = train(fine_tuned(settings, tmp_path / "net"), tmp_path / "run")
    for name, tensor in given.state_dict().items():
        assert torch.equal(result.model.state_dict()[name], tensor), name
    assert Run(tmp_path / "run").settings.training.start_from == str(tmp_path / "net")


@pytest.mark.parametrize("model", MODELS)
def test_a_run_in_two_parts_is_the_same_run_without_the_network(
    small: Small, tmp_path: Path, model: str
) -> None:
    def settings(sequences: int) -> Settings:
        average = {"training__average_share": 0.5, "training__sequences": sequences}
        return fine_tuned(small(model=model, **average), tmp_path / "net")

    saved(small(model=model), tmp_path / "net")
    train(settings(80), tmp_path / "whole")
    train(settings(40), tmp_path / "parts")
    longer = settings(80)
    shutil.rmtree(tmp_path / "net")
    train(longer, tmp_path / "parts", resume=True)
    assert_same_run(tmp_path / "parts", tmp_path / "whole")


def test_a_run_that_was_stopped_at_once_needs_the_network_no_more(
    small: Small, tmp_path: Path
) -> None:
    net = saved(small(model="ntm-ff"), tmp_path / "net")
    settings = fine_tuned(small(model="ntm-ff"), tmp_path / "net")
    stopped = settings.with_(training={"stop_after_seconds": 1e-9})
    assert train(stopped, tmp_path / "run").ending == "out of time"
    assert first_weights(tmp_path / "run").keys() == net.state_dict().keys()
    shutil.rmtree(tmp_path / "net")
    train(settings, tmp_path / "run", resume=True)


def test_another_network_gives_another_run_and_fresh_weights_a_third(small: Small) -> None:
    settings = small(model="ntm-ff").with_(task={"bits": 8})
    tuned = train(fine_tuned(settings, "copy-ff"))
    assert tuned.bits is not None
    assert tuned.bits < 0.1 < (train(settings).bits or 0)


def test_sizes_follow_the_network_and_there_is_one_start(small: Small, tmp_path: Path) -> None:
    saved(small(model="ntm-lstm"), tmp_path / "net")
    asked = small(model="ntm-ff", training__starts=3, training__memory_locations=5)
    settings = fine_tuned(asked, tmp_path / "net")
    assert settings.model_name == "ntm-lstm"
    assert settings.model == small(model="ntm-lstm").model
    assert (settings.training.starts, settings.training.memory_locations) == (1, None)
    assert Settings.from_json(json.loads(json.dumps(settings.to_json()))) == settings


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"starts": 2}, "training.starts is 2, but the run starts from the weights of"),
        ({"memory_locations": 5}, "training.memory_locations is 5, but the run starts from"),
    ],
)
def test_what_needs_fresh_weights_is_refused(
    small: Small, tmp_path: Path, changes: dict[str, Any], told: str
) -> None:
    saved(small(model="ntm-ff"), tmp_path / "net")
    settings = fine_tuned(small(model="ntm-ff"), tmp_path / "net")
    with pytest.raises(ValueError, match=told):
        settings.with_(training=changes)


def test_a_network_of_other_sizes_leaves_no_folder(small: Small, tmp_path: Path) -> None:
    saved(small(model="ntm-ff"), tmp_path / "net")
    settings = fine_tuned(small(model="ntm-ff"), tmp_path / "net")
    wider = settings.with_(model={"controller_size": 9})
    with pytest.raises(FolderError, match=r"model.controller_size is 9, but .* has 7; leave"):
        train(wider, tmp_path / "run")
    missing = settings.with_(training={"start_from": str(tmp_path / "nowhere")})
    with pytest.raises(FolderError, match="There is no folder"):
        train(missing, tmp_path / "run")
    assert not (tmp_path / "run").exists()


# The command

FEW = ("--sequences", "20", "--set", "training.report_every=20", "--batch-size", "10")


def test_the_command_fine_tunes_a_packaged_network(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["train", "copy", "--from", "copy-ff", *FEW]) == 0
    run = Run("runs/copy-ntm-ff-1-from-copy-ff")
    assert run.settings.model == NTM.from_pretrained("copy-ff").config
    assert main(["train", "--run", str(run.path), "--resume", "--sequences", "40"]) == 0
    capsys.readouterr()
    assert main(["eval", str(run.path), "--sequences", "20", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["mean_bits"] < 1
    assert main(["results", str(run.path), "--out", "results", "--sequences", "5"]) == 0
    assert "training.start_from=copy-ff" in Path("results/README.md").read_text()


def test_the_same_command_resumes_when_the_network_has_gone(
    small: Small, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    saved(small(model="ntm-ff"), tmp_path / "net")
    sizes = ["--set", "task.bits=3", "--set", "task.max_length=3"]
    command = ["train", "copy", "--from", str(tmp_path / "net"), "--run", str(tmp_path / "run")]
    assert main([*command, *FEW, *sizes, "--resume"]) == 0
    shutil.rmtree(tmp_path / "net")
    assert main([*command, *FEW, *sizes, "--resume"]) == 0
    assert "Finished already" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--set", "model.controller_size=9"], "model.controller_size=9 does not go with --from"),
        (["--starts", "3"], "training.starts=3 does not go with --from copy-ff, which makes it 1"),
        (["--model", "lstm"], "The model of copy-ff is ntm-ff, not lstm; leave --model out"),
        (["--set", "task.bits=3"], "has 4 inputs and 3 outputs, but the model has 9 and 8"),
        (["--from", "copy-f"], "did you mean 'copy-ff'"),
    ],
)
def test_what_contradicts_the_network_is_refused(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    options: list[str],
    told: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["train", "copy", "--from", "copy-ff", *FEW, *options]) == 2
    assert told in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []

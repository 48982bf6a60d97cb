import errno
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from ntm.commands.main import main
from ntm.runs import FolderError, Run, RunError, Settings, build_model

Small = Callable[..., Settings]


def test_a_folder_gives_back_settings_and_weights(small: Small, tmp_path: Path) -> None:
    settings = small(model="ntm-ff", training__seed=5)
    run = Run.create(tmp_path / "deep" / "run", settings)
    model = build_model(settings)
    run.save_weights("latest", model, {"sequences": 7})
    opened = Run(tmp_path / "deep" / "run")
    assert opened.settings == settings
    loaded, facts = opened.load_model()
    assert facts == {"weights": "latest", "sequences": 7}
    for name, tensor in model.state_dict().items():
        assert torch.equal(loaded.state_dict()[name], tensor), name


@pytest.mark.parametrize("model", ["ntm-ff", "lstm"])
def test_a_run_from_a_machine_with_other_devices_is_loaded_on_the_cpu(
    small: Small, tmp_path: Path, model: str
) -> None:
    settings = small(model=model)
    trained = build_model(settings)
    run = Run.create(tmp_path, settings)
    run.save_weights("latest", trained, {})
    elsewhere = settings.with_text({"training.device": "cuda:63"})
    run.change_settings(elsewhere)
    loaded, _ = Run(tmp_path).load_model()
    for name, tensor in loaded.state_dict().items():
        assert torch.equal(tensor, trained.state_dict()[name]), name
    with pytest.raises(RunError, match=r"training\.device=cuda:63 cannot be used"):
        build_model(elsewhere)


def test_the_config_is_readable_and_has_a_format(small: Small, tmp_path: Path) -> None:
    Run.create(tmp_path, small())
    config = json.loads((tmp_path / "config.json").read_text())
    assert config["format"] == 2
    assert config["task"]["name"] == "copy"
    assert config["model"]["name"] == "lstm"
    assert config["training"]["seed"] == 1


def test_the_seed_decides_the_weights_and_nothing_else_does(small: Small) -> None:
    torch.manual_seed(1)
    first = build_model(small()).state_dict()
    torch.manual_seed(2)
    before = torch.get_rng_state()
    second = build_model(small()).state_dict()
    assert torch.equal(torch.get_rng_state(), before)
    other = build_model(small(training__seed=2)).state_dict()
    assert all(torch.equal(first[name], second[name]) for name in first)
    assert not torch.equal(first["output.weight"], other["output.weight"])


def test_a_folder_that_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FolderError, match="is not a run folder"):
        Run(tmp_path)
    with pytest.raises(FolderError, match=r"There is no folder .*nowhere"):
        Run(tmp_path / "nowhere")
    (tmp_path / "file").touch()
    with pytest.raises(FolderError, match="file is not a folder"):
        Run(tmp_path / "file")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "is not JSON"),
        ("[1]", "is not the config.json of a run"),
        ('{"task": {"name": "copy"}}', "is not the config.json of a run"),
        ('{"format": 3}', "has the format 3; this version reads 1 and 2"),
        ('{"format": 1}', "no task called 'None'"),
    ],
)
def test_a_config_of_something_else_is_explained(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "config.json").write_text(text)
    with pytest.raises(RunError, match=message):
        Run(tmp_path)


@pytest.mark.parametrize(
    ("section", "key", "value", "message"),
    [
        ("task", "bitz", 3, "did you mean 'bits'"),
        ("task", "bits", "3", "bits must be an integer from 1 to 4096, got '3'"),
        ("model", "layers", 0, "layers must be an integer of at least 1"),
        ("model", "input_size", 3, "4 inputs and 3 outputs, but the model has 3 and 3"),
        ("training", "seed", -1, "at least 0"),
    ],
)
def test_a_config_with_a_wrong_setting_is_explained(
    small: Small, tmp_path: Path, section: str, key: str, value: object, message: str
) -> None:
    Run.create(tmp_path, small())
    file = tmp_path / "config.json"
    config = json.loads(file.read_text())
    config[section][key] = value
    file.write_text(json.dumps(config))
    with pytest.raises(RunError, match=message):
        Run(tmp_path)


def test_weights_that_cannot_be_used_are_explained(small: Small, tmp_path: Path) -> None:
    run = Run.create(tmp_path, small())
    with pytest.raises(RunError, match="does not exist yet"):
        run.load_model()
    other = build_model(small(model__hidden_size=6))
    run.save_weights("best", other, {})
    with pytest.raises(RunError, match="does not hold the weights of this run"):
        run.load_model()
    file = run.weights_file("best")
    file.write_bytes(file.read_bytes()[:50])
    with pytest.raises(RunError, match="does not hold the weights of this run"):
        run.load_model("best")


@pytest.mark.parametrize("model", ["ntm-ff", "ntm-lstm", "lstm"])
def test_weights_are_compared_with_a_network_without_the_compiler_of_torch(
    small: Small, tmp_path: Path, model: str
) -> None:
    """It takes seconds to import."""
    settings = small(model=model)
    Run.create(tmp_path, settings).save_weights("best", build_model(settings), {"sequences": 1})
    script = (
        f"import sys; from ntm.runs import Run; Run({str(tmp_path)!r}).load_model('best'); "
        f"print('torch._dynamo' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], check=True, capture_output=True, text=True
    )
    assert done.stdout == "False\n"


def test_a_file_system_without_locks_is_trained_on_all_the_same(
    small: Small, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import fcntl

    def unsupported(*_: object) -> None:
        raise OSError(errno.ENOTSUP, "Operation not supported")

    monkeypatch.setattr(fcntl, "flock", unsupported)
    with Run.create(tmp_path, small()).locked():
        pass


def test_a_file_in_place_of_a_folder_is_called_that(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("not a folder")
    assert main(["trace", "copy-ff", "--save", str(tmp_path / "file" / "x.npz")]) == 2
    assert f"{tmp_path / 'file' / 'x.npz'} is not a folder" in capsys.readouterr().err

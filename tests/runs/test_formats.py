"""What earlier versions wrote is still read; `formats/` keeps one of each as it was written."""

import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from ntm import NTM, LSTMBaseline, LSTMConfig, pretrained
from ntm.common.fields import Checked
from ntm.config import Initialisation
from ntm.models import MODELS, Family, register
from ntm.paper import settings_for
from ntm.runs import Run, Settings, read_metrics
from ntm.runs.opening import open_run
from ntm.tasks import make_task
from ntm.training import train

FORMATS = Path(__file__).parent / "formats"


def test_a_run_of_format_1_has_the_settings_it_was_made_with() -> None:
    settings = Run(FORMATS / "run-1").settings
    assert settings.initialisation == Initialisation("random", head_gain=0.25)
    assert (settings.optimiser.clip, settings.optimiser.backward_clip) == (10.0, None)
    assert settings.optimiser.backward_clip_until is None
    assert settings.training.stop_after_seconds is None
    assert Settings.from_json(settings.to_json()) == settings


def test_a_run_of_format_1_gives_back_its_weights() -> None:
    for weights, file in (("best", "best"), ("latest", "model")):
        model, facts = Run(FORMATS / "run-1").load_model(weights)
        assert facts["sequences"] == 20
        stored = load_file(FORMATS / "run-1" / f"{file}.safetensors")
        assert all(torch.equal(tensor, stored[n]) for n, tensor in model.state_dict().items())


def test_a_run_of_format_1_is_resumed_as_if_it_had_never_stopped(tmp_path: Path) -> None:
    shutil.copytree(FORMATS / "run-1", tmp_path / "old")
    settings = Run(tmp_path / "old").settings.with_(training={"sequences": 30})
    resumed = train(settings, tmp_path / "old", resume=True)
    fresh = train(settings, tmp_path / "new")
    for ours, theirs in zip(resumed.model.parameters(), fresh.model.parameters(), strict=True):
        torch.testing.assert_close(ours, theirs)  # versions may round otherwise
    costs = [
        [line["bits"] for line in read_metrics(tmp_path / name / "metrics.jsonl")]
        for name in ("old", "new")
    ]
    assert costs[0] == pytest.approx(costs[1], rel=1e-5)
    assert Run(tmp_path / "old").settings == settings


def test_a_network_of_format_1_loads() -> None:
    file = FORMATS / "network-1.safetensors"
    facts = pretrained.read_facts(file)
    assert facts.trained_sequences == 20
    net = NTM.from_config(facts.settings.model, facts.settings.initialisation)
    net.load_state_dict(load_file(file))
    assert net.initialisation.start_memory == "random"


@pytest.mark.parametrize("controller", ["ff", "lstm"])
def test_a_saved_network_of_format_1_loads_and_is_written_as_it_was(
    tmp_path: Path, controller: str
) -> None:
    folder = FORMATS / f"saved-1-{controller}"
    net = NTM.from_pretrained(folder)
    assert (net.batch_first, net.backward_clip) == (True, 0.5)
    stored = load_file(folder / "model.safetensors")
    empty = {name for name, tensor in stored.items() if not tensor.numel()}
    assert empty == ({"start.hidden", "start.cell"} if controller == "ff" else set())
    assert stored.keys() - net.state_dict().keys() == empty
    assert all(torch.equal(tensor, stored[n]) for n, tensor in net.state_dict().items())
    net.save_pretrained(tmp_path)
    assert (tmp_path / "config.json").read_bytes() == (folder / "config.json").read_bytes()


def test_a_saved_network_of_format_2_loads() -> None:
    net = LSTMBaseline.from_pretrained(FORMATS / "saved-2")
    assert (net.config, net.batch_first) == (LSTMConfig(4, 3, 2, 1), True)
    task = open_run(FORMATS / "saved-2").settings.task
    assert task == make_task("copy", bits=3, max_length=4)


def test_settings_of_the_present_format_are_left_as_they_are() -> None:
    @dataclass(frozen=True)
    class Sizes(Checked):
        input_size: int = 1
        output_size: int = 1
        head_gain: float = 2.0  # format 1 had a setting of this name in another place

    class Ours(Family):
        config = Sizes

        def build(self, config: Sizes, initialisation: object, engine: str) -> NTM:
            raise NotImplementedError

    register(Ours("ours", "Ours", "#123456"))
    try:
        settings = Settings(settings_for("copy").task, Sizes(9, 8, 3.0))
        assert Settings.from_json(settings.to_json()) == settings
    finally:
        del MODELS["ours"]

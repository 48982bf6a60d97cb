"""Lightning: the Trainer, its summary of the model, and its checkpoints."""

from pathlib import Path

import pytest
import torch
from lightning import LightningModule, Trainer
from tests.ecosystem.examples import assert_example_runs
from tests.ecosystem.tagger import RATE, VARIANTS, assert_same, cost, loader, tagger, train
from torch import Tensor


class Lightning(LightningModule):
    def __init__(self, controller: str, engine: str, seed: int) -> None:
        super().__init__()
        self.save_hyperparameters()
        self.model = tagger(controller, engine, seed)

    def forward(self, x: Tensor) -> Tensor:
        return self.model(x)

    def training_step(self, batch: list[Tensor]) -> Tensor:
        return cost(self(batch[0]), batch[1])

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.Adam(self.parameters(), lr=RATE)


def trainer(folder: Path, epochs: int) -> Trainer:
    quiet = {"logger": False, "enable_progress_bar": False, "enable_checkpointing": False}
    return Trainer(accelerator="cpu", max_epochs=epochs, default_root_dir=folder, **quiet)


@VARIANTS
def test_a_resumed_training_equals_one_by_plain_torch(
    controller: str, engine: str, tmp_path: Path
) -> None:
    first, file = trainer(tmp_path, epochs=1), tmp_path / "one.ckpt"
    first.fit(Lightning(controller, engine, seed=1), loader())
    first.save_checkpoint(file)
    second = Lightning(controller, engine, seed=9)
    trainer(tmp_path, epochs=2).fit(second, loader(), ckpt_path=file, weights_only=False)
    assert_same(second.model, train(tagger(controller, engine), epochs=2))


@VARIANTS
def test_a_checkpoint_loads(controller: str, engine: str, tmp_path: Path) -> None:
    done, file = trainer(tmp_path, epochs=1), tmp_path / "one.ckpt"
    module = Lightning(controller, engine, seed=1)
    done.fit(module, loader())
    done.save_checkpoint(file)
    again = Lightning.load_from_checkpoint(file, seed=9, weights_only=False)
    assert_same(again.model, module.model)


@pytest.mark.filterwarnings("ignore:The native engine does not run this network")
@pytest.mark.parametrize("engine", ["auto", "reference"])
@pytest.mark.parametrize("controller", ["feedforward", "lstm"])
def test_the_summary_runs_an_example(
    controller: str, engine: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    module = Lightning(controller, engine, seed=1)
    module.example_input_array = torch.rand(2, 5, 3)
    trainer(tmp_path, epochs=1).fit(module, loader())
    assert "[2, 5, 2]" in capsys.readouterr().out  # the shape of the output
    # The summary's hooks are for the reference engine; the training is as fast as ever.
    fast = "native" if engine == "auto" else "reference"
    assert_same(module.model, train(tagger(controller, fast)))


def test_the_example_trains_and_saves_a_network(tmp_path: Path) -> None:
    assert_example_runs("with_lightning.py", tmp_path)

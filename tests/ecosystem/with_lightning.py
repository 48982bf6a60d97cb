"""Lightning: the Trainer, its summary of the model, and its checkpoints."""

from pathlib import Path

import pytest
import torch
from lightning import LightningModule, Trainer
from tests.ecosystem.tagger import RATE, VARIANTS, assert_same, cost, loader, tagger, train
from torch import Tensor


class Lightning(LightningModule):
    def __init__(self, controller: str, engine: str, seed: int) -> None:
        super().__init__()
        self.save_hyperparameters()
        self.model = tagger(controller, engine, seed)
        self.example_input_array = torch.rand(2, 5, 3)  # the summary runs the model on it

    def forward(self, x: Tensor) -> Tensor:
        return self.model(x)

    def training_step(self, batch: list[Tensor]) -> Tensor:
        return cost(self(batch[0]), batch[1])

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.Adam(self.parameters(), lr=RATE)


def trainer(folder: Path, steps: int) -> Trainer:
    quiet = {"logger": False, "enable_progress_bar": False}
    return Trainer(accelerator="cpu", max_steps=steps, default_root_dir=folder, **quiet)


@VARIANTS
def test_a_resumed_training_equals_one_by_plain_torch(
    controller: str, engine: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = trainer(tmp_path, steps=3)
    first.fit(Lightning(controller, engine, seed=1), loader())
    assert "[2, 5, 2]" in capsys.readouterr().out  # the summary knows the shape of the output
    file = tmp_path / "three.ckpt"
    first.save_checkpoint(file)
    second = Lightning(controller, engine, seed=9)
    trainer(tmp_path, steps=6).fit(second, loader(), ckpt_path=file, weights_only=False)
    assert_same(second.model, train(tagger(controller, engine)))


@VARIANTS
def test_a_checkpoint_loads(controller: str, engine: str, tmp_path: Path) -> None:
    done, file = trainer(tmp_path, steps=2), tmp_path / "two.ckpt"
    module = Lightning(controller, engine, seed=1)
    done.fit(module, loader())
    done.save_checkpoint(file)
    again = Lightning.load_from_checkpoint(file, seed=9, weights_only=False)
    assert_same(again.model, module.model)

"""Train a Neural Turing Machine on copy with Lightning: its Trainer, progress bar and checkpoints.

    pip install lightning
    python examples/with_lightning.py

The network is an attribute of the LightningModule like any other module. `save_pretrained` saves it
without Lightning, for `NTM.from_pretrained` and the commands.
"""

import argparse
import math
from typing import Any

import torch
from lightning import LightningModule, Trainer, seed_everything
from torch import Tensor
from torch.utils.data import DataLoader, Dataset

from ntm import NTM
from ntm.tasks import Batch, Copy, cost_in_bits

TASK = Copy()


class Problems(Dataset[Batch]):
    """Batches of copy problems; an index always gives the same batch."""

    def __init__(self, batches: int, batch_size: int, seed: int) -> None:
        self.batches, self.batch_size, self.seed = batches, batch_size, seed

    def __len__(self) -> int:
        """Return the number of batches."""
        return self.batches

    def __getitem__(self, index: int) -> Batch:
        """Draw the batch with this index."""
        generator = torch.Generator().manual_seed(self.seed * self.batches + index)
        return TASK.sample(self.batch_size, generator)


class Copier(LightningModule):
    """A copy network, its cost and its optimiser."""

    def __init__(self, learning_rate: float = 1e-4) -> None:
        super().__init__()
        self.save_hyperparameters()
        sizes = {"input_size": TASK.input_size, "output_size": TASK.output_size}
        self.net = NTM(**sizes, head_gain=0.25, backward_clip=1.0)

    def training_step(self, batch: Batch) -> Tensor:
        """Return the mean cost of a batch in nats, and log it in bits."""
        logits, _ = self.net(batch.inputs, lengths=batch.lengths)
        bits = cost_in_bits(logits, batch).mean()
        self.log("bits", bits, prog_bar=True, batch_size=batch.batch_size)
        return bits * math.log(2)

    def configure_optimizers(self) -> torch.optim.Optimizer:
        """Return the optimiser in torch that is closest to the paper's."""
        options: dict[str, Any] = {"alpha": 0.95, "eps": 1e-2, "momentum": 0.9, "centered": True}
        rate: float = self.hparams["learning_rate"]
        return torch.optim.RMSprop(self.parameters(), lr=rate, **options)


def main() -> None:
    """Train the network and save it."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--steps", type=int, default=5_000, help="updates (default: 5,000)")
    parser.add_argument("--batch-size", type=int, default=1, help="batch size (default: 1)")
    parser.add_argument("--out", default="lightning-copy", help="folder (default: lightning-copy)")
    options = parser.parse_args()
    seed_everything(1)
    model = Copier()
    data = DataLoader(Problems(options.steps, options.batch_size, seed=1), batch_size=None)
    trainer = Trainer(
        accelerator="cpu",
        max_epochs=1,
        gradient_clip_val=10.0,
        gradient_clip_algorithm="value",
        default_root_dir=options.out,
        logger=False,
    )
    trainer.fit(model, data)
    model.net.save_pretrained(f"{options.out}/network", task=TASK)
    print(f"{trainer.callback_metrics['bits']:.4f} bits in the last batch")
    print(f"Look at it with: ntm trace {options.out}/network")


if __name__ == "__main__":
    main()

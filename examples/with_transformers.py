"""Train a Neural Turing Machine on copy with the Trainer of Hugging Face transformers.

    pip install transformers accelerate
    python examples/with_transformers.py

The Trainer calls the model with the entries of a batch by name and expects the cost under "loss".
`save_pretrained` saves the network without the Trainer, for `NTM.from_pretrained` and the commands;
`push_to_hub` shares it.
"""

import argparse
import math
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import Dataset
from transformers import Trainer, TrainingArguments, set_seed

from ntm import NTM
from ntm.tasks import Batch, Copy, cost_in_bits

TASK = Copy()


class Problems(Dataset[Batch]):
    """Copy problems; an index always gives the same problem."""

    def __init__(self, count: int) -> None:
        self.count = count

    def __len__(self) -> int:
        """Return the number of problems."""
        return self.count

    def __getitem__(self, index: int) -> Batch:
        """Draw the problem with this index."""
        return TASK.sample(1, torch.Generator().manual_seed(index))


def padded(problems: list[Batch]) -> dict[str, Tensor]:
    """Return problems of mixed lengths as one batch, batch first."""

    def joined(name: str) -> Tensor:
        return pad_sequence([getattr(each, name)[:, 0] for each in problems], batch_first=True)

    lengths = torch.cat([each.lengths for each in problems])
    parts = {"inputs": joined("inputs"), "labels": joined("targets"), "mask": joined("mask")}
    return {**parts, "lengths": lengths}


class Copier(nn.Module):
    """A copy network that returns its cost, as the Trainer expects."""

    def __init__(self) -> None:
        super().__init__()
        sizes = {"input_size": TASK.input_size, "output_size": TASK.output_size}
        self.net = NTM(**sizes, head_gain=0.25, backward_clip=1.0, batch_first=True)

    def forward(
        self, inputs: Tensor, labels: Tensor, mask: Tensor, lengths: Tensor
    ) -> dict[str, Tensor]:
        """Return the mean cost in nats and the logits (batch, time, output_size)."""
        logits, _ = self.net(inputs, lengths=lengths)
        batch = Batch(inputs.transpose(0, 1), labels.transpose(0, 1), mask.T, lengths)
        bits = cost_in_bits(logits.transpose(0, 1), batch).mean()
        return {"loss": bits * math.log(2), "logits": logits}


def make_trainer(model: Copier, out: str, steps: int, batch_size: int) -> Trainer:
    """Return a Trainer with the optimiser in torch that is closest to the paper's."""
    options: dict[str, Any] = {"alpha": 0.95, "eps": 1e-2, "momentum": 0.9, "centered": True}
    optimiser = torch.optim.RMSprop(model.parameters(), lr=1e-4, **options)
    settings = TrainingArguments(
        output_dir=out,
        max_steps=steps,
        per_device_train_batch_size=batch_size,
        lr_scheduler_type="constant",
        logging_steps=500,
        max_grad_norm=10.0,
        use_cpu=True,
        report_to=[],
    )
    return Trainer(
        model=model,
        args=settings,
        data_collator=padded,
        train_dataset=Problems(steps * batch_size),
        optimizers=(optimiser, None),
    )


def main() -> None:
    """Train the network and save it."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--steps", type=int, default=5_000, help="updates (default: 5,000)")
    parser.add_argument("--batch-size", type=int, default=1, help="batch size (default: 1)")
    parser.add_argument("--out", default="trainer-copy", help="folder (default: trainer-copy)")
    options = parser.parse_args()
    set_seed(1)
    model = Copier()
    result = make_trainer(model, options.out, options.steps, options.batch_size).train()
    model.net.save_pretrained(f"{options.out}/network", task=TASK)
    bits = result.training_loss / math.log(2)
    print(f"{bits:.4f} bits per sequence, mean of the whole training")
    print(f"Look at it with: ntm trace {options.out}/network")


if __name__ == "__main__":
    main()

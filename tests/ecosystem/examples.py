"""Runs of the examples, in a short form."""

import re
import subprocess
import sys
from pathlib import Path

import torch

from ntm import NTM
from ntm.tasks import Copy

FOLDER = Path(__file__).parents[2] / "examples"


def assert_example_runs(name: str, folder: Path) -> None:
    """Run an example in a separate process; fail unless it prints a cost and saves a network."""
    out = folder / "out"
    options = ["--steps", "6", "--batch-size", "2", "--out", str(out)]
    done = subprocess.run(
        [sys.executable, str(FOLDER / name), *options],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert re.search(r"^\d+\.\d{4} bits", done.stdout, re.MULTILINE)
    net = NTM.from_pretrained(out / "network", batch_first=False)
    batch = Copy().sample(2, torch.Generator().manual_seed(1))
    logits, _ = net(batch.inputs, lengths=batch.lengths)
    assert logits.isfinite().all()

"""Demo of half a minute: a Neural Turing Machine learns to copy, and generalises."""

from pathlib import Path
from typing import Any

import torch

from ntm import pretrained
from ntm.evaluation import generalise
from ntm.models import Model
from ntm.paper.registry import experiment_of
from ntm.paper.settings import paper_settings
from ntm.runs import block_generator
from ntm.tasks import Batch, Task
from ntm.terminal.table import Table
from ntm.training import make_progress
from ntm.training.begin import train

SECONDS = 120.0
"""Time limit for training. The native engine needs a fifth of it; plain PyTorch needs hours."""
_LENGTHS = [case["length"] for case in experiment_of("copy").beyond]
_TRAINED = "copy-lstm"
_TOO_SLOW = (
    "\nTraining stopped at {sequences:,} sequences, after {seconds:.0f} seconds: this machine is "
    "slow, or busy. The demo continues with the packaged {name}, a network of the same kind."
)


def demonstrate(out: Path) -> int:
    """Train a network, show its results, and return the exit code."""
    changes = {"sequences": 20_000, "stop_after_seconds": SECONDS, "validate_every": 0}
    settings = paper_settings("copy", "ntm-lstm").with_(training=changes)
    result = train(settings, progress=make_progress(), raises=False)
    if result.signal is not None:
        return 128 + result.signal
    model = result.model
    if result.ending == "out of time":
        print(_TOO_SLOW.format(sequences=result.sequences, seconds=SECONDS, name=_TRAINED))
        model = pretrained.load(_TRAINED)
    _show_copies(model, settings.task, out)
    _show_pretrained("associative-recall-ff")
    return 0


def _show_copies(model: Model, task: Task, out: Path) -> None:
    print("\nIt was trained on sequences of up to 20 vectors. Longer ones, 50 of each length:\n")
    measured = generalise(model, task, "length", _LENGTHS, sequences=50)
    header = ("length", "bits per sequence", "without a wrong bit")
    rows = [(str(n), f"{e.mean_bits:.4f}", f"{e.perfect:.0%}") for n, e in measured.items()]
    print(Table("", header, rows, texts=0).as_text())
    examples = [_answered(model, task.at(length=length)) for length in _LENGTHS]
    print(f"\n{task.render(examples[2][0], 0, examples[2][1])}")
    _draw(examples, out)


def _show_pretrained(name: str) -> None:
    print(f"\nA network that comes with the package, NTM.from_pretrained({name!r}):\n")
    task = pretrained.settings(name).task
    batch, logits = _answered(pretrained.load(name), task)
    print(task.render(batch, 0, logits))
    print(f"\nThe others: {', '.join(other for other in pretrained.names() if other != name)}.")


@torch.no_grad()
def _answered(model: Model, task: Task) -> tuple[Batch, Any]:
    batch = task.sample(1, block_generator("demo", 1))
    return batch, model(batch.inputs)[0]


def _draw(examples: list[tuple[Batch, Any]], folder: Path) -> None:
    try:
        from ntm.figures import Answer, draw_answers, save
    except ImportError:
        print("\nFor a picture, install matplotlib: pip install 'neural-turing-machines[figures]'")
        return
    answers = [
        Answer.of(f"length {length}", batch, logits)
        for length, (batch, logits) in zip(_LENGTHS, examples, strict=True)
    ]
    figure = draw_answers("NTM: generalisation on the copy task", [answers[:-1], answers[-1:]])
    (path,) = save(figure, folder / "copy", ["png"])
    print(f"\nA picture of all lengths is in {path}")

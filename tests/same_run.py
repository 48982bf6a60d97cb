"""Bit-exact comparison of two run folders."""

from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file

from ntm.runs import Run, checkpoints, read_metrics

_TIMES = {"seconds", "sequences_per_second"}


def curve(folder: Path) -> list[dict[str, Any]]:
    """Return the metrics without times."""
    lines = read_metrics(folder / "metrics.jsonl")
    return [{k: v for k, v in line.items() if k not in _TIMES} for line in lines]


def everything(folder: Path) -> dict[str, torch.Tensor]:
    """Return all tensors in a run folder: newest weights, best weights, optimiser."""
    newest, problems = checkpoints.load_newest(folder / "checkpoint")
    assert newest is not None
    assert problems == []
    found = dict(newest.tensors)
    for name in ("model", "best"):
        stored = load_file(folder / f"{name}.safetensors")
        found |= {f"{name}:{key}": tensor for key, tensor in stored.items()}
    return found


def assert_same_run(left: Path, right: Path, *, same_settings: bool = True) -> None:
    """Assert that curve, weights, optimiser and, unless one was cut short, settings are equal."""
    assert not same_settings or Run(left).settings == Run(right).settings
    assert curve(left) == curve(right)
    ours, theirs = everything(left), everything(right)
    assert ours.keys() == theirs.keys()
    for name, tensor in ours.items():
        assert torch.equal(tensor, theirs[name]), f"{left.name}: {name}"

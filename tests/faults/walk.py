"""Killed, or out of disk, at every system call that changes a run folder, one after the other.

    python -m tests.faults.walk FOLDER [STEP]

Called by `tests.faults.forked.warm`. Prints how many calls were tried; a run that is not whole, or
does not end with the bits of one that nothing happened to, is an error.
"""

import ctypes
import errno
import json
import os
import shutil
import sys
from pathlib import Path

from tests.faults.forked import KILLED, Ended, arm, run, shim
from tests.same_run import assert_same_run

from ntm.runs import Run, checkpoints, read_metrics
from ntm.training import paper_settings, train

SETTINGS = {
    "training.sequences": 60,
    "training.batch_size": 1,
    "training.report_every": 20,
    "training.validate_every": 40,
    "training.validation_sequences": 3,
    "training.checkpoint_seconds": 0,
    "optimiser.learning_rate": 1e-3,
    "model.hidden_size": 4,
    "model.layers": 1,
    "task.bits": 2,
    "task.max_length": 3,
}


def training(folder: Path) -> int:
    """Train in a folder, or go on there. A run in three parts: two checkpoints and the end."""
    texts = {key: str(value) for key, value in SETTINGS.items()}
    for sequences in ("20", "40", "60"):
        settings = paper_settings("copy", "lstm").with_text(
            texts | {"training.sequences": sequences, "training.checkpoint_seconds": "1000"}
        )
        if Run.exists(folder) and Run(folder).settings.training.sequences > int(sequences):
            continue
        train(settings, folder, resume=True)
    return 0


def assert_whole(folder: Path) -> None:
    """Whatever happened, everything in the folder can be read."""
    if not Run.exists(folder):
        return
    opened = Run(folder)
    read_metrics(opened.metrics)
    checkpoint, problems = checkpoints.load_newest(opened.checkpoints)
    assert problems == []
    if checkpoint is not None:
        opened.load_model("latest")


def calls_of(folder: Path, scratch: Path) -> int:
    """How many calls an undisturbed run makes."""

    def counted() -> int:
        arm(folder, 0)
        training(folder)
        (scratch / "calls").write_text(str(shim().fault_calls()))
        return 0

    assert run(scratch / "output", counted).code == 0, (scratch / "output").read_text()
    return int((scratch / "calls").read_text())


def disturbed(folder: Path, scratch: Path, number: int, error: int) -> Ended:
    """A run that ends at a call, and another that goes on where it was."""

    def faulty() -> int:
        arm(folder, number, error)
        try:
            return training(folder)
        except OSError as full:
            return 1 if full.errno == error else 2

    ended = run(scratch / "output", faulty)
    assert_whole(folder)
    again = run(scratch / "output", lambda: training(folder))
    assert again.code == 0, again.output
    return ended


def walk(scratch: Path, step: int, error: int) -> int:
    """Disturb every `step`-th call in turn; returns how many."""
    whole = scratch / "whole"
    calls = calls_of(whole, scratch)
    assert calls > 60
    numbers = range(1, calls + 1, step)
    for number in numbers:
        folder = scratch / "disturbed"
        ended = disturbed(folder, scratch, number, error)
        # After the last call of all but removals, a full disk is not noticed any more.
        assert ended.code in ((0, 1) if error else (KILLED,)), (number, ended)
        assert_same_run(folder, whole)
        left = [path.name for path in folder.rglob(".*.tmp")]
        assert left == [], (number, left)
        shutil.rmtree(folder)
    shutil.rmtree(whole)
    return len(numbers)


if __name__ == "__main__":
    place, step = Path(sys.argv[1]), int(sys.argv[2])
    assert ctypes.CDLL(None).fault_calls() == 0
    sys.modules["tensorboard"] = None  # type: ignore[assignment]  # its thread is not forked
    os.environ["OMP_NUM_THREADS"] = "1"
    tried = {"killed": walk(place, step, 0), "disk full": walk(place, step, errno.ENOSPC)}
    print(json.dumps(tried))

"""Real processes, killed without warning at any moment, and the bits they end with."""

import random
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.same_run import assert_same_run

from ntm.runs import read_metrics

SETTINGS = {
    "training.sequences": 600,
    "training.batch_size": 1,
    "training.report_every": 50,
    "training.validate_every": 100,
    "training.validation_sequences": 3,
    "training.average_share": 0.3,
    "training.checkpoint_seconds": 0.02,
    "optimiser.learning_rate": 1e-3,
    "model.hidden_size": 4,
    "model.layers": 1,
    "task.bits": 2,
    "task.max_length": 3,
}
TRIALS = {
    "training.starts": 3,
    "training.trial_sequences": 250,
    "training.bucketed": "true",
    "training.mixture": "share=0.5,until=200,length=2",
}


def command(folder: Path) -> list[str]:
    changes = SETTINGS | (TRIALS if "trials" in folder.name else {})
    options = [text for key, value in changes.items() for text in ("--set", f"{key}={value}")]
    start = [sys.executable, "-m", "ntm", "train", "copy", "--model", "lstm"]
    return [*start, *options, "--run", str(folder), "--resume"]


def kill_while_training(folder: Path, moment: float) -> bool:
    """Start or resume the run and kill it a moment after it has begun; whether it was killed."""
    with subprocess.Popen(command(folder), stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        begun = process.stdout.readline()
        if begun.startswith("Finished already"):  # the kill before came after the last sequence
            return False
        assert "Training lstm on copy" in begun
        time.sleep(moment)
        process.kill()
    return process.returncode != 0


@pytest.mark.parametrize(("seed", "kind", "sequences"), [(1, "plain", 600), (2, "trials", 1100)])
def test_a_run_that_was_killed_ends_with_the_same_bits(
    tmp_path: Path, seed: int, kind: str, sequences: int
) -> None:
    whole, killed = tmp_path / f"{kind}-whole", tmp_path / f"{kind}-killed"
    subprocess.run(command(whole), check=True, capture_output=True)
    lasted = read_metrics(whole / "metrics.jsonl")[-1]["seconds"]
    moments = random.Random(seed)
    kills = sum(kill_while_training(killed, moments.uniform(0, lasted / 2)) for _ in range(3))
    assert kills >= 2
    subprocess.run(command(killed), check=True, capture_output=True)
    assert read_metrics(killed / "metrics.jsonl")[-1]["sequences"] == sequences
    assert_same_run(killed, whole)
    seconds = [line["seconds"] for line in read_metrics(killed / "metrics.jsonl")]
    assert seconds == sorted(seconds)

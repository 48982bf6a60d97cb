"""Kill a training run many times, resume it each time, and compare the results to the bit.

    python benchmarks/kill_resume.py --kills 20

Trains the same network twice: once undisturbed, once in a process that is killed (SIGKILL) at
random moments and resumed. Exits with 1 unless weights, optimiser state and learning curve are
identical.
"""

import argparse
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file

from ntm.runs import checkpoints, read_metrics

TIMES = {"seconds", "sequences_per_second"}


def main() -> int:
    options = parse_options()
    folder = Path(tempfile.mkdtemp(prefix="kill-resume-"))
    print(f"Working in {folder}", flush=True)
    subprocess.run(command(options, folder / "whole"), check=True)
    lasted = read_metrics(folder / "whole" / "metrics.jsonl")[-1]["seconds"]
    moments = random.Random(options.seed)
    kills, processes = 0, 0
    while kills < options.kills:
        processes += 1
        # On average the kills use up half of the run's time, so the run does not end too early.
        wait = moments.uniform(0, lasted / options.kills)
        killed = kill_after(command(options, folder / "killed"), wait)
        kills += killed
        print(f"process {processes}: {'killed' if killed else 'ended'} after {wait:.2f} s, "
              f"{sequences(folder / 'killed'):,} sequences kept", flush=True)  # fmt: skip
        if not killed:
            break
    subprocess.run(command(options, folder / "killed"), check=True)
    differences = compare(folder / "whole", folder / "killed")
    print(f"{kills} kills: " + ("identical to the bit" if not differences else "DIFFERENT"))
    for difference in differences:
        print(f"  {difference}")
    shutil.rmtree(folder)
    return 1 if differences else 0


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1, help="seed of the random moments")
    parser.add_argument("--task", default="copy")
    parser.add_argument("--model", default="ntm-ff")
    parser.add_argument("--sequences", type=int, default=60_000)
    return parser.parse_args()


def command(options: argparse.Namespace, folder: Path) -> list[str]:
    start = [sys.executable, "-m", "ntm", "train", options.task, "--model", options.model]
    settings = ["--set", "training.checkpoint_seconds=0.1", "--set", "training.report_every=100"]
    settings += ["--set", "training.validate_every=1000", "--sequences", str(options.sequences)]
    return [*start, *settings, "--run", str(folder), "--resume"]


def kill_after(arguments: list[str], seconds: float) -> bool:
    """Kill the run this long after training starts; return whether it was still alive."""
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(seconds)
        process.kill()
    return process.returncode != 0


def sequences(folder: Path) -> int:
    newest, _ = checkpoints.load_newest(folder / "checkpoint")
    return 0 if newest is None else int(newest.values["sequences"])


def compare(left: Path, right: Path) -> list[str]:
    differences = [] if curve(left) == curve(right) else ["metrics.jsonl"]
    ours, theirs = tensors(left), tensors(right)
    if ours.keys() != theirs.keys():
        return [*differences, "the names of the tensors"]
    return differences + [name for name in ours if not torch.equal(ours[name], theirs[name])]


def curve(folder: Path) -> list[dict[str, Any]]:
    lines = read_metrics(folder / "metrics.jsonl")
    return [{name: v for name, v in line.items() if name not in TIMES} for line in lines]


def tensors(folder: Path) -> dict[str, torch.Tensor]:
    newest, _ = checkpoints.load_newest(folder / "checkpoint")
    found = {} if newest is None else dict(newest.tensors)
    for name in ("model", "best"):
        stored = load_file(folder / f"{name}.safetensors")
        found |= {f"{name}.safetensors {key}": tensor for key, tensor in stored.items()}
    return found


if __name__ == "__main__":
    sys.exit(main())

"""Overhead of a sweep over single runs, and throughput of several workers.

    python benchmarks/sweep.py --seconds 60

Overhead: trains the same copy runs with `ntm train`, one after another, and with `ntm sweep` and
one worker, and compares their processor time. Start-up: the fixed extra time of a sweep, measured
with a run of one sequence. Throughput: for one worker up to one per core, trains one run per worker
and multiplies the sequences per second of a worker's processor time by the number of workers.

Every ratio is taken within a round, in which all contestants take turns; medians over the rounds
are printed. Other programs also change processor time: on a busy machine, rounds of 15 s differed
by 20 %. Measure on a quiet machine, with runs of a minute.
"""

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

RUNS = 2  # runs in the comparison with bare runs
FORMS = {"overhead": "{:+.1%}", "start-up": "{:.1f} s"}
FILE = """
tasks = ["copy"]
seeds = {seeds}
[training]
sequences = {sequences}
"""


class Cost(NamedTuple):
    processor: float
    wall: float


def main() -> None:
    options = parse_options()
    folder = Path(tempfile.mkdtemp(prefix="sweep-benchmark-"))
    try:
        sequences = calibrated(options.seconds, folder / "calibration")
        print(f"A run is {sequences:,} sequences of copy, about {options.seconds} s.", flush=True)
        rounds = [
            measured(sequences, folder / str(n), options.workers) for n in range(options.rounds)
        ]
    finally:
        shutil.rmtree(folder)
    report(rounds)


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=60.0, help="processor time of one run")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--workers", type=int, default=os.cpu_count(), help="most workers to try")
    return parser.parse_args()


def calibrated(seconds: float, folder: Path) -> int:
    """Return the sequences that a run trains on in this time, without start-up."""
    few, many = (bare(n, folder / str(n), seeds=[1]).processor for n in (1, 4001))
    return max(1000, round(seconds * 4000 / (many - few) / 1000) * 1000)


def measured(sequences: int, folder: Path, most_workers: int) -> dict[str, float]:
    """Measure one round: overhead, start-up, and throughput relative to one worker."""
    seeds = list(range(1, RUNS + 1))
    alone = bare(sequences, folder / "bare", seeds)
    together = swept(sequences, folder / "swept", seeds, workers=1)
    start = swept(1, folder / "start", [1], workers=1).processor
    found = {
        "overhead": together.processor / alone.processor - 1,
        "start-up": start - bare(1, folder / "bare-start", [1]).processor,
    }
    rates = {}
    for workers in range(1, most_workers + 1):
        seeds = list(range(1, workers + 1))
        cost = swept(sequences, folder / f"workers-{workers}", seeds, workers)
        # Every worker has a start-up time. The first one includes the start-up of the sweep.
        seconds = (cost.processor - start - (workers - 1) * start / 2) / workers
        rates[workers] = workers * sequences / seconds
    found |= {f"throughput of {w}": rate / rates[1] for w, rate in rates.items()}
    print(", ".join(f"{name} {value:.3f}" for name, value in found.items()), flush=True)
    return found


def bare(sequences: int, folder: Path, seeds: Sequence[int]) -> Cost:
    settings = ["--sequences", str(sequences), "--set", "training.threads=1"]
    start = ["train", "copy", *settings]
    return total(
        [[*start, "--seed", str(seed), "--run", str(folder / str(seed))] for seed in seeds]
    )


def swept(sequences: int, folder: Path, seeds: Sequence[int], workers: int) -> Cost:
    folder.mkdir(parents=True)
    file = folder / "sweep.toml"
    file.write_text(FILE.format(seeds=list(seeds), sequences=sequences))
    return total([["sweep", str(file), "--out", str(folder), "--workers", str(workers)]])


def total(commands: Sequence[Sequence[str]]) -> Cost:
    """Run commands one after another; return their time, including all their children."""
    before, began = children_seconds(), time.perf_counter()
    for command in commands:
        subprocess.run(
            [sys.executable, "-m", "ntm", *command],
            check=True,
            stdout=subprocess.DEVNULL,
            env=os.environ | {"OMP_NUM_THREADS": "1"},
        )
    return Cost(children_seconds() - before, time.perf_counter() - began)


def children_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def report(rounds: Sequence[dict[str, float]]) -> None:
    print(f"\nMedian (and range) of {len(rounds)} rounds:")
    for name in rounds[0]:
        values = [found[name] for found in rounds]
        shown = [statistics.median(values), min(values), max(values)]
        form = FORMS.get(name, "{:.2f}")
        texts = [form.format(value) for value in shown]
        print(f"{name:<16} {texts[0]} ({texts[1]} to {texts[2]})")


if __name__ == "__main__":
    main()

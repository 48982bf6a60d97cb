"""What a sweep costs over bare runs, and what more workers give.

    python benchmarks/sweep.py --seconds 60

Trains the same copy runs by `ntm train`, one after the other, and by `ntm sweep` with one worker,
and compares their processor time, which other programs change less than the clock's, but do: on a
busy machine rounds of 15 s differed by 20 %. Measure on a quiet one, with runs of a minute. The
start-up is what a sweep of a single run takes longer than the bare run, however long that is. Then
trains as many runs at once as there are workers, for one worker up to one per core: the throughput
is the sequences per second of a worker's processor time, times the workers. Every ratio is taken
within a round, in which all take turns; medians over the rounds are reported.
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

RUNS = 2  # of the comparison with bare runs
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
    """Sequences that take a run that long, start-up not counted."""
    few, many = (bare(n, folder / str(n), seeds=[1]).processor for n in (1, 4001))
    return max(1000, round(seconds * 4000 / (many - few) / 1000) * 1000)


def measured(sequences: int, folder: Path, most_workers: int) -> dict[str, float]:
    """One round: the overhead, and the throughput of every number of workers over that of one."""
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
        # Every worker has its own start-up; the sweep's own is in the first.
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
    """The time of commands that run one after the other, with all their children."""
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

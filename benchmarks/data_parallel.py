"""Cost of a data-parallel update by several processes: bytes, and ratios of times.

    python benchmarks/data_parallel.py --ranks 2

torchrun starts the processes on this machine, one thread each; they communicate over the loopback
interface. In every round, rank 0 first trains on a whole batch alone while the others wait. Then
all ranks train on the same batch together. Times are wall-clock times, because processor time would
miss the waiting. Use a quiet machine with at least one core per rank.
"""

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable

import torch

from ntm.bench.timing import Quartiles, spread_of_ratios
from ntm.models import family_of
from ntm.runs import Stream, build_model
from ntm.training import GravesRMSprop, paper_settings
from ntm.training.parallel import Ranks, SharedStep, joined

NETWORKS = ("ntm-ff", "ntm-lstm", "lstm")
WARM_UP = 3


def seconds(work: Callable[..., object], *arguments: object) -> float:
    start = time.perf_counter()
    work(*arguments)
    return time.perf_counter() - start


class Contest:
    """Training of one network on copy, with `share` sequences per rank."""

    def __init__(self, ranks: Ranks, network: str, share: int) -> None:
        settings = paper_settings("copy", network)
        model = build_model(settings)
        self.ranks, self.share, self.whole = ranks, share, share * ranks.size
        self.step = family_of(model).step(model, GravesRMSprop(model.parameters()))
        self.shared = SharedStep(self.step, ranks, lambda: False)
        self.stream = Stream(settings.task, settings.training.seed, self.whole)
        self.block = self.stream.block(0)

    def round(self, number: int) -> dict[str, float]:
        """Return the seconds of rank 0 for one batch. Every round uses another batch."""
        start = number * self.whole % self.stream.block_size
        batch = (self.block, start, start + self.whole)
        first = start + self.share * self.ranks.rank
        blocks_per_batch = self.whole / self.stream.block_size
        taken = {"sampling": seconds(self.stream.block, number) * blocks_per_batch}
        if self.ranks.leads:
            taken["alone"] = seconds(self.step, *batch)
        self.ranks.meet()
        taken["together"] = seconds(self.shared, *batch)
        taken["own"] = seconds(self.step.differentiate, self.block, first, first + self.share)
        self.ranks.meet()
        taken["exchange"] = seconds(self.shared.exchange, 0.0)
        taken["own"] += seconds(self.step.update, 0.0)
        return taken

    def ratios(self, rounds: int) -> dict[str, Quartiles]:
        """Return the ratios that rank 0 measured: exchange per update, sampling per sequence."""
        measured = [self.round(number) for number in range(rounds + WARM_UP)][WARM_UP:]
        if not self.ranks.leads:
            return {}
        times = {name: [taken[name] for taken in measured] for name in measured[0]}
        sequence = [seconds / self.share for seconds in times["own"]]
        sampled = [seconds / self.whole for seconds in times["sampling"]]
        return {
            "exchange / training on a sequence": spread_of_ratios(times["exchange"], sequence),
            "sampling / training on a sequence": spread_of_ratios(sampled, sequence),
            "one process / all together": spread_of_ratios(times["alone"], times["together"]),
        }


def work(shares: list[int], rounds: int) -> None:
    torch.set_num_threads(1)
    with joined("cpu") as ranks:
        for network in NETWORKS:
            for share in shares:
                contest = Contest(ranks, network, share)
                found = contest.ratios(rounds)
                if ranks.leads:
                    print(f"{network}, {ranks.size} ranks, {share} sequences each", end="")
                    print(f", {contest.shared.bytes:,} bytes per update")
                    for name, spread in found.items():
                        quartiles = f"{spread.lower_quartile:.3f} to {spread.upper_quartile:.3f}"
                        print(f"  {name:35}{spread.median:.3f}   {quartiles}", flush=True)


def launch(ranks: int) -> int:
    """Start this program again, once per rank, and return the exit code."""
    options = ["--standalone", "--nproc-per-node", str(ranks)]
    torchrun = [sys.executable, "-m", "torch.distributed.run", *options]
    return subprocess.run([*torchrun, __file__, *sys.argv[1:]], check=False).returncode


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--ranks", type=int, default=2, help="processes (default: 2)")
    parser.add_argument("--rounds", type=int, default=100, help="rounds to measure (default: 100)")
    parser.add_argument(
        "--shares", type=int, nargs="+", default=[1, 8, 32], help="sequences per rank"
    )
    options = parser.parse_args()
    if "TORCHELASTIC_RUN_ID" not in os.environ:
        sys.exit(launch(options.ranks))
    work(options.shares, options.rounds)


if __name__ == "__main__":
    main()

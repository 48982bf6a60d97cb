"""Training speed of the LSTM baseline on mixed lengths: torch packed, torch padded, and native.

    python benchmarks/baseline.py --batch-size 16

All contestants train the same network on the same sequences, on one thread, and take turns in one
run. "Packed" uses torch's packed sequences and torch operations for the update. With "like
lengths", the sequences of a batch have nearly equal lengths.
"""

import argparse
import functools
from collections.abc import Callable

import torch

from ntm.bench.timing import Work, alternate, spread_of_ratios
from ntm.engine.machine import threads
from ntm.models.family import family
from ntm.models.lstm_family import PaddedStep
from ntm.paper import settings_for
from ntm.runs import Stream, build_model
from ntm.training import GravesRMSprop, Step, TorchStep

BATCHES = 64
TASKS = ("copy", "associative-recall", "repeat-copy")


def contestants(task: str, batch_size: int) -> dict[str, Work]:
    """Return the contestants. One call trains on BATCHES batches of mixed lengths."""
    settings = settings_for(task, "lstm")

    def work(kind: Callable[..., Step], bucketed: bool) -> Work:
        model = build_model(settings)
        optimiser = GravesRMSprop(model.parameters(), lr=1e-6)
        optimiser.ensure_state()
        step = kind(model, optimiser)
        stream = Stream(settings.task, 1, batch_size, bucketed=bucketed)

        blocks = functools.lru_cache(1)(stream.block)

        def train(number: int) -> None:
            for first in range(0, batch_size * BATCHES, batch_size):
                block, start = divmod(number * batch_size * BATCHES + first, stream.block_size)
                step(blocks(block), start, start + batch_size)

        return train

    return {
        "packed": work(TorchStep, bucketed=False),
        "padded": work(PaddedStep, bucketed=False),
        "padded, like lengths": work(PaddedStep, bucketed=True),
        "native": work(family("lstm").step, bucketed=False),
        "native, like lengths": work(family("lstm").step, bucketed=True),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--tasks", nargs="+", default=TASKS, choices=TASKS)
    options = parser.parse_args()
    print(f"{'':24}{'':24}{'sequences/s':>12}{'ratio':>8}   quartiles")
    for task in options.tasks:
        with threads(1):
            seconds = alternate(contestants(task, options.batch_size), options.rounds, 0.0)
        sequences = options.batch_size * BATCHES
        for name, taken in seconds.items():
            ratio = spread_of_ratios(seconds["packed"], taken)
            speed = sequences / torch.tensor(taken).median().item()
            quartiles = f"{ratio.lower_quartile:.2f} to {ratio.upper_quartile:.2f}"
            print(f"{task:24}{name:24}{speed:>12.0f}{ratio.median:>8.2f}   {quartiles}")


if __name__ == "__main__":
    main()

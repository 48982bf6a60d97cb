"""Training speed on the copy task, against a checkout of loudinthecloud/pytorch-ntm.

    git clone https://github.com/loudinthecloud/pytorch-ntm /tmp/pytorch-ntm
    pip install attrs argcomplete
    python benchmarks/pytorch_ntm.py --checkout /tmp/pytorch-ntm

Both have the same sizes (100 controller units, 128 x 20 memory, one read and one write head, 8
bits, lengths 1 to 20), the same sequences, batch size 1 and one thread, and take turns within one
run. Their training step is the step of their `train.py`, ours is the step of `ntm train`. The time
to draw the data is not counted.

The checkout is not changed. Its package is called `ntm` like this one, and its tasks use an
argument of attrs that has since been renamed. The import works around both in memory.
"""

import argparse
import functools
import importlib
import importlib.abc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.machinery import PathFinder
from pathlib import Path
from statistics import median
from types import ModuleType
from typing import Any

import attr

from ntm.bench.networks import PaperNTM, TimedTraining, native_step, reference_step
from ntm.bench.timing import Work, alternate, spread_of_ratios
from ntm.engine.machine import threads
from ntm.tasks import Batch

_PACKAGES = ("ntm", "tasks", "train")


class TheirTraining:
    """Their training step on our sequences."""

    def __init__(self, train: ModuleType, block: Batch, portion: int) -> None:
        params, model = train.TASKS["copy"][1](), train.TASKS["copy"][0]
        self._train, self._model = train.train_batch, model(params=params)
        self._block, self._portion = block, portion

    def __call__(self, number: int) -> None:
        first = number * self._portion
        for index in range(first, first + self._portion):
            problem = self._block.narrow(index, index + 1)
            vectors = len(problem.inputs) // 2
            inputs, answer = problem.inputs[: vectors + 1], problem.targets[vectors + 1 :]
            model = self._model
            self._train(model.net, model.criterion, model.optimizer, inputs, answer)

    @property
    def parameters(self) -> int:
        return int(self._model.net.calculate_num_params())


def their_train(checkout: Path) -> ModuleType:
    """Import their `train` module without disturbing this package."""
    if not (checkout / "train.py").exists() or not (checkout / "ntm" / "aio.py").exists():
        sys.exit(f"{checkout} is not a checkout of pytorch-ntm: it lacks train.py or ntm/aio.py.")
    sys.dont_write_bytecode = True
    with _hidden(_PACKAGES), _found_in(checkout), _accepting_convert():
        return importlib.import_module("train")


@contextmanager
def _hidden(packages: tuple[str, ...]) -> Iterator[None]:
    """Import modules of these names anew within this context, and restore ours afterwards."""

    def loaded() -> list[str]:
        return [name for name in sys.modules if name.partition(".")[0] in packages]

    ours = {name: sys.modules.pop(name) for name in loaded()}
    try:
        yield
    finally:
        for name in loaded():
            del sys.modules[name]
        sys.modules.update(ours)


@contextmanager
def _found_in(folder: Path) -> Iterator[None]:
    """Look for packages in this folder first, within this context.

    `sys.path` would not be enough: the finder of an editable install comes before it.
    """

    class Finder(importlib.abc.MetaPathFinder):
        def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
            return PathFinder.find_spec(name, path or [str(folder)], target)

    finder = Finder()
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


@contextmanager
def _accepting_convert() -> Iterator[None]:
    """Let attrs accept `convert`, the former name of `converter`, within this context."""
    attrib: Any = attr.attrib

    @functools.wraps(attrib)
    def renamed(*arguments: Any, convert: Any = None, **options: Any) -> Any:
        return attrib(*arguments, converter=convert, **options)

    attr.attrib = renamed
    try:
        yield
    finally:
        attr.attrib = attrib


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--checkout", type=Path, required=True, help="folder of pytorch-ntm")
    parser.add_argument("--rounds", type=int, default=15, help="rounds to measure (default: 15)")
    parser.add_argument(
        "--sequences", type=int, default=4, help="sequences in a round (default: 4)"
    )
    options = parser.parse_args()
    feedforward, lstm = PaperNTM("copy", "ntm-ff"), PaperNTM("copy", "ntm-lstm")
    block = feedforward.block(1)
    theirs = TheirTraining(their_train(options.checkout), block, options.sequences)

    def ours(network: PaperNTM, step: Any) -> TimedTraining:
        return TimedTraining(network.config, step(network.config), block, 1, options.sequences)

    contestants: dict[str, Work] = {
        "pytorch-ntm, lstm": theirs,
        "ntm, lstm, reference engine": ours(lstm, reference_step),
        "ntm, lstm": ours(lstm, native_step),
        "ntm, feedforward": ours(feedforward, native_step),
    }
    print(f"pytorch-ntm has {theirs.parameters:,} parameters.", file=sys.stderr)
    with threads(1):
        seconds = alternate(contestants, options.rounds, slice_seconds=0.02)
    print(f"{'':30}{'sequences/s':>12}{'times faster':>14}   quartiles")
    for name, taken in seconds.items():
        ratio = spread_of_ratios(seconds["pytorch-ntm, lstm"], taken)
        rate = options.sequences / median(taken)
        quartiles = f"{ratio.lower_quartile:.1f} to {ratio.upper_quartile:.1f}"
        print(f"{name:30}{rate:>12,.1f}{ratio.median:>14.1f}   {quartiles}")


if __name__ == "__main__":
    main()

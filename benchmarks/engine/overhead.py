"""Overhead of `ntm train` around the kernels: sampling, Python, logs, validation, checkpoints.

One run measures both the total time and the time in the kernels. The kernels are timed by wrapping
the extension's functions. The engine itself has no clock, because every run would pay for it.
"""

import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple, Self

import torch

from ntm.bench.timing import Quartiles
from ntm.engine import native
from ntm.runs import Settings, Stream
from ntm.training import make_progress, train


class KernelClock:
    """Time spent in calls of the extension."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def timed(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function with its calls timed."""
        clock = time.perf_counter

        def call(*arguments: Any) -> Any:
            start = clock()
            result = function(*arguments)
            self.seconds += clock() - start
            return result

        return call


class _TimedObject:
    """Object of the extension whose methods are timed."""

    def __init__(self, clock: KernelClock, inner: Any) -> None:
        self._clock, self._inner = clock, inner

    def __getattr__(self, name: str) -> Any:
        # Stored as an attribute, so that __getattr__ is called once per method.
        method = self._clock.timed(getattr(self._inner, name))
        setattr(self, name, method)
        return method


@contextmanager
def kernel_clock() -> Iterator[KernelClock]:
    """Time all kernels that are requested within this context."""
    clock, function = KernelClock(), native.function

    def watched(name: str, dtype: torch.dtype) -> Any:
        original = function(name, dtype)
        if hasattr(original, "compute"):  # a class: time the methods of its objects
            return lambda *arguments: _TimedObject(clock, original(*arguments))
        return clock.timed(original)

    native.function = watched  # type: ignore[assignment]
    try:
        yield clock
    finally:
        native.function = function


class Times(NamedTuple):
    """Seconds of one run: in total, in the kernels, and to draw the same sequences again."""

    whole: float
    kernels: float
    sampling: float


@dataclass(frozen=True)
class Overhead:
    """Time spent by `ntm train` at batch size 1, in seconds per sequence."""

    task: str
    model: str
    sequences: int
    """Sequences per run."""
    seconds: float
    """Total time, from the first block sampled to the last checkpoint written."""
    kernel_seconds: float
    sampling_seconds: float
    """Time to draw the training data. It is part of the overhead."""
    share: Quartiles
    """Share of the total time that is spent outside the kernels."""

    @classmethod
    def of(cls, task: str, model: str, sequences: int, runs: Sequence[Times]) -> Self:
        """Summarise the times of several runs, each of this many sequences."""
        whole, kernels, sampling = (median(part) / sequences for part in zip(*runs, strict=True))
        share = Quartiles.of([1 - run.kernels / run.whole for run in runs])
        return cls(task, model, sequences, whole, kernels, sampling, share)


def measured_run(settings: Settings) -> Times:
    """Train in a temporary folder, with everything that `ntm train` writes, and time it."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        progress = make_progress(stack.enter_context(Path(os.devnull).open("w")))
        clock = stack.enter_context(kernel_clock())
        result = train(settings, folder / "run", progress=progress)
    return Times(result.seconds, clock.seconds, _sampling_seconds(settings))


def _sampling_seconds(settings: Settings) -> float:
    chosen = settings.training
    stream = Stream(settings.task, chosen.seed, chosen.batch_size)
    start = time.perf_counter()
    for number in range(-(-chosen.sequences // stream.block_size)):
        stream.block(number)
    return time.perf_counter() - start

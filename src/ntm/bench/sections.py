"""Sections of `ntm bench`: each measures and returns rows.

speedup    whole training steps, native against reference
threads    two threads against one, compared with two independent trainings
layer      the layer through autograd, beside the fused step and `torch.nn.LSTM`: layer.py
"""

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from statistics import median

import torch

from ntm import engine
from ntm.bench.equivalence import require_equivalence
from ntm.bench.layer import LAYER
from ntm.bench.networks import (
    PAPER,
    BenchEffort,
    NetworkRow,
    PaperNTM,
    TimedTraining,
    Workload,
    native_step,
    reference_step,
)
from ntm.bench.results import BATCH, BenchResults, Note, Section, milliseconds, times
from ntm.bench.timing import Quartiles, Work, alternate, spread_of_ratios
from ntm.common.text import unknown
from ntm.config import NTMConfig
from ntm.engine.machine import machine, threads
from ntm.runs import RunError
from ntm.training import Step


@dataclass(frozen=True)
class Speedup(NetworkRow):
    """Training step of one network: native against reference."""

    native_seconds: float
    reference_seconds: float
    ratio: Quartiles
    """Time of the reference engine divided by the time of the native engine."""


def measure_speedup(effort: BenchEffort, note: Note) -> list[Speedup]:
    """Measure both engines in turn on the same sequences, for every network and batch size."""
    return [_speedup(*case, effort) for case in announced("both engines", effort.speedups, note)]


def _speedup(network: PaperNTM, batch_size: int, effort: BenchEffort) -> Speedup:
    native, reference = (
        timed_training(network, step, batch_size, effort) for step in (native_step, reference_step)
    )
    seconds = alternate(
        {"native": native, "reference": reference}, effort.rounds, effort.slice_seconds
    )
    return Speedup(
        *network,
        batch_size,
        median(seconds["native"]) / native.portion,
        median(seconds["reference"]) / reference.portion,
        spread_of_ratios(seconds["reference"], seconds["native"]),
    )


@dataclass(frozen=True)
class Threads(NetworkRow):
    """Training step of one network on two threads and on one."""

    one_seconds: float
    two_seconds: float
    ratio: Quartiles
    """Time on one thread divided by the time on two."""
    machine: Quartiles
    """Same ratio for two independent trainings at once: the most that this machine can reach."""


def measure_threads(effort: BenchEffort, note: Note) -> list[Threads]:
    """Measure the native engine on two threads and on one, in turn, by wall-clock time."""
    cases = announced("two threads and one", effort.threads, note)
    return [_threads(*case, effort) for case in cases]


def _threads(network: PaperNTM, batch_size: int, effort: BenchEffort) -> Threads:
    one, two, other = (_on_threads(count, network, batch_size, effort) for count in (1, 2, 1))
    with ThreadPoolExecutor(2) as pool:

        def both(number: int) -> None:
            for training in [pool.submit(work, number) for work in (one, other)]:
                training.result()

        works = {"one": one, "two": two, "both": both}
        seconds = alternate(works, effort.rounds, effort.slice_seconds, time.perf_counter)
    ratio = spread_of_ratios(seconds["one"], seconds["two"])
    machine = spread_of_ratios([2 * taken for taken in seconds["one"]], seconds["both"])
    one_seconds, two_seconds = median(seconds["one"]), median(seconds["two"])
    return Threads(*network, batch_size, one_seconds, two_seconds, ratio, machine)


def _on_threads(count: int, network: PaperNTM, batch_size: int, effort: BenchEffort) -> Work:
    training = timed_training(network, native_step, batch_size, effort)

    def work(number: int) -> None:
        with threads(count):
            training(number)

    return work


def announced(title: str, cases: Sequence[Workload], note: Note) -> Iterator[Workload]:
    """Yield the cases; call `note` with a description before each case."""
    for network, batch_size in cases:
        note(f"{title}: {network}, batch {batch_size}")
        yield network, batch_size


def timed_training(
    network: PaperNTM, step: Callable[[NTMConfig], Step], batch_size: int, effort: BenchEffort
) -> TimedTraining:
    """Return the training of one network, ready to be timed."""
    portion = effort.portion if batch_size == 1 else 1
    config = network.config
    return TimedTraining(config, step(config), network.block(batch_size), batch_size, portion)


SPEEDUP = Section(
    "Whole training steps, one thread: native against reference",
    {
        **BATCH,
        "native, ms": lambda row: milliseconds(row.native_seconds),
        "reference, ms": lambda row: milliseconds(row.reference_seconds),
        "times faster": lambda row: times(row.ratio),
    },
    measure_speedup,
)
THREADS = Section(
    "Two threads against one",
    {
        **BATCH,
        "one, ms": lambda row: milliseconds(row.one_seconds),
        "two, ms": lambda row: milliseconds(row.two_seconds),
        "times faster": lambda row: times(row.ratio),
        "two trainings at once": lambda row: times(row.machine),
    },
    measure_threads,
)
SECTIONS = {"speedup": SPEEDUP, "threads": THREADS, "layer": LAYER}


def run_bench(
    names: Collection[str] = (),
    effort: BenchEffort | None = None,
    note: Note = lambda _text: None,
    sections: Mapping[str, Section] = SECTIONS,
) -> BenchResults:
    """Check that the engines agree; then measure the named sections and return the results.

    names: sections to measure (empty: all).
    effort: amount of measurement (None: a whole benchmark). `QUICK` is short.
    note: called with a description of each measurement as it starts.
    """
    effort, chosen = effort or BenchEffort(), names or sections
    if strange := [name for name in chosen if name not in sections]:
        raise ValueError(unknown("section", strange[0], sections))
    with threads(1):
        _require_agreement(note)
        rows = {name: sections[name].measure(effort, note) for name in sections if name in chosen}
    return BenchResults(machine(), effort, sections, rows)


def _require_agreement(note: Note) -> None:
    """Raise a RunError if there is no native engine, or if the engines disagree."""
    try:
        engine.choose("native", torch.device("cpu"), torch.float32)
    except RuntimeError as error:
        raise RunError(f"There is nothing to compare. {error}") from error
    for network in PAPER:
        note(f"do the engines agree? {network}")
        require_equivalence(network)

"""Sections of the benchmark: each measures and returns rows.

speedup    whole training steps, native against reference
sgemm      speed of the native engine, as a share of the speed of matrix products on this core
growth     growth of the time with locations, steps, batch and heads, per doubling
threads    two threads against one, compared with two independent trainings
overhead   time that `ntm train` spends outside the kernels
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from statistics import median

from ntm.bench.networks import (
    COPY,
    PAPER,
    PaperNTM,
    TimedTraining,
    native_step,
    random_batch,
    reference_step,
)
from ntm.bench.overhead import Overhead, measured_run
from ntm.bench.timing import (
    MatrixProduct,
    Quartiles,
    Work,
    alternate,
    fastest_product,
    spread_of_ratios,
)
from ntm.config import NTMConfig
from ntm.engine.machine import threads
from ntm.paper import paper_settings
from ntm.training import Step

Note = Callable[[str], None]
"""Function that is called with a description of each measurement as it starts."""
Case = tuple[PaperNTM, int]
"""A network and a batch size."""


def _doubling_sizes() -> dict[str, tuple[int, ...]]:
    ranges = {"locations": (128, 7), "steps": (80, 8), "batch": (1, 9), "heads": (1, 5)}
    return {
        axis: tuple(first * 2**power for power in range(count))
        for axis, (first, count) in ranges.items()
    }


@dataclass(frozen=True)
class BenchEffort:
    """Amount of measurement. The defaults are a whole benchmark, minutes long."""

    rounds: int = 9
    slice_seconds: float = 0.02
    """Seconds per slice of a fast contestant. The reference engine takes longer."""
    speedups: tuple[Case, ...] = tuple((net, size) for net in PAPER for size in (1, 16, 64))
    shares: tuple[Case, ...] = speedups
    threads: tuple[Case, ...] = tuple((net, 16) for net in PAPER)
    portion: int = 4
    """Batches per round at batch size 1. Larger batches are measured one at a time."""
    products: tuple[int, ...] = (256, 384, 512, 768, 1024)
    """Matrix sizes to try. The fastest product is used."""
    sizes: Mapping[str, tuple[int, ...]] = field(default_factory=_doubling_sizes)
    """Sizes along every axis of growth."""
    runs: int = 3
    """Number of runs of `ntm train`."""
    sequences: int = 10_000
    """Sequences per run of `ntm train`."""


QUICK = BenchEffort(
    rounds=5,
    slice_seconds=0.005,
    speedups=(*((net, 1) for net in PAPER), (COPY[0], 16), (COPY[0], 64)),
    shares=tuple((net, 16) for net in PAPER),
    portion=1,
    runs=1,
    sequences=4000,
)


@dataclass(frozen=True)
class NetworkRow:
    """Row about a training step of one network."""

    task: str
    model: str
    batch_size: int


@dataclass(frozen=True)
class Speedup(NetworkRow):
    """Training step of one network: native against reference."""

    native_seconds: float
    reference_seconds: float
    ratio: Quartiles
    """Time of the reference engine divided by the time of the native engine."""


def measure_speedup(effort: BenchEffort, note: Note) -> list[Speedup]:
    """Measure both engines in turn on the same sequences, for every network and batch size."""
    return [_speedup(*case, effort) for case in _announced("both engines", effort.speedups, note)]


def _speedup(network: PaperNTM, batch_size: int, effort: BenchEffort) -> Speedup:
    native, reference = (
        _training(network, step, batch_size, effort) for step in (native_step, reference_step)
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
class Share(NetworkRow):
    """Speed of the native engine as a share of the speed of `torch.mm`, on one core."""

    flops: int
    """Operations of a training step, averaged over the measured batches."""
    native_rate: float
    """Operations per second."""
    product_rate: float
    share: Quartiles


def measure_sgemm(effort: BenchEffort, note: Note) -> list[Share]:
    """Measure training steps and matrix products in turn, on one thread."""
    note("the fastest size of torch.mm")
    product = fastest_product(effort.products, effort.rounds, effort.slice_seconds)
    announced = _announced("native engine and torch.mm", effort.shares, note)
    return [_share(*case, product, effort) for case in announced]


def _share(
    network: PaperNTM, batch_size: int, product: MatrixProduct, effort: BenchEffort
) -> Share:
    training = _training(network, native_step, batch_size, effort)
    seconds = alternate(
        {"native": training, "product": product}, effort.rounds, effort.slice_seconds
    )
    flops = [training.flops(number) for number in range(effort.rounds)]
    rates = [count / taken for count, taken in zip(flops, seconds["native"], strict=True)]
    product_rates = [product.flops / taken for taken in seconds["product"]]
    return Share(
        *network,
        batch_size,
        round(sum(flops) / (effort.rounds * training.portion)),
        median(rates),
        median(product_rates),
        spread_of_ratios(rates, product_rates),
    )


@dataclass(frozen=True)
class Growth:
    """Training step at one size along an axis, compared with half that size."""

    axis: str
    size: int
    seconds: float
    times_longer: Quartiles | None
    """Time divided by the time at half the size (None: smallest size)."""
    times_flops: float | None
    """Operations divided by the operations at half the size (None: smallest size)."""


_GROWTH_STEPS = 32
"""Steps of a sequence along every axis except steps."""


def measure_growth(effort: BenchEffort, note: Note) -> list[Growth]:
    """Measure the native engine along every axis, from copy's feedforward network; one thread."""
    config = COPY[0].config
    rows = []
    for axis, sizes in effort.sizes.items():
        note(f"growth with {axis}")
        rows += _growth(axis, {size: _grown(config, axis, size) for size in sizes}, effort)
    return rows


def _grown(config: NTMConfig, axis: str, size: int) -> TimedTraining:
    if axis == "locations":
        config = replace(config, memory_locations=size)
    if axis == "heads":
        config = replace(config, read_heads=size, write_heads=size)
    steps = size if axis == "steps" else _GROWTH_STEPS
    sequences = size if axis == "batch" else 1
    return TimedTraining(
        config, native_step(config), random_batch(config, (steps,) * sequences), sequences
    )


def _growth(axis: str, trainings: dict[int, TimedTraining], effort: BenchEffort) -> list[Growth]:
    works = {str(size): training for size, training in trainings.items()}
    seconds = alternate(works, effort.rounds, effort.slice_seconds)
    rows: list[Growth] = []
    for size, training in trainings.items():
        longer = flops = None
        if rows:
            half = rows[-1].size
            longer = spread_of_ratios(seconds[str(size)], seconds[str(half)])
            flops = training.flops(0) / trainings[half].flops(0)
        rows.append(Growth(axis, size, median(seconds[str(size)]), longer, flops))
    return rows


@dataclass(frozen=True)
class Threads(NetworkRow):
    """Training step of one network on two threads and on one."""

    one_seconds: float
    two_seconds: float
    ratio: Quartiles
    """Time on one thread divided by the time on two."""
    machine: Quartiles
    """The same ratio for two independent trainings at once: the most this machine can reach."""


def measure_threads(effort: BenchEffort, note: Note) -> list[Threads]:
    """Measure the native engine on two threads and on one, in turn, by wall-clock time."""
    announced = _announced("two threads and one", effort.threads, note)
    return [_threads(*case, effort) for case in announced]


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
    training = _training(network, native_step, batch_size, effort)

    def work(number: int) -> None:
        with threads(count):
            training(number)

    return work


def measure_overhead(effort: BenchEffort, note: Note) -> list[Overhead]:
    """Measure `ntm train` on copy with both controllers, at batch size 1 as in the paper."""
    rows = []
    for network in COPY:
        note(f"ntm train {network}")
        changes = {"training.sequences": str(effort.sequences), "training.engine": "native"}
        settings = paper_settings(*network).with_text(changes)
        measured_run(settings.with_text({"training.sequences": "1"}))  # torch loads parts lazily
        runs = [measured_run(settings) for _ in range(effort.runs)]
        rows.append(Overhead.of(*network, effort.sequences, runs))
    return rows


def _announced(title: str, cases: Sequence[Case], note: Note) -> Iterator[Case]:
    for network, batch_size in cases:
        note(f"{title}: {network}, batch {batch_size}")
        yield network, batch_size


def _training(
    network: PaperNTM, step: Callable[[NTMConfig], Step], batch_size: int, effort: BenchEffort
) -> TimedTraining:
    portion = effort.portion if batch_size == 1 else 1
    config = network.config
    return TimedTraining(config, step(config), network.block(batch_size), batch_size, portion)

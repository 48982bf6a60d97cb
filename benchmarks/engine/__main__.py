"""Speed of the native engine, for its developers.

    python -m benchmarks.engine                everything, some minutes
    python -m benchmarks.engine --quick        about a minute
    python -m benchmarks.engine --only sgemm   one section

sgemm      speed of the native engine, as a share of the speed of matrix products on this core
growth     growth of the time with locations, steps, batch and heads, per doubling
overhead   time that `ntm train` spends outside the kernels

The method, the checks and the forms of the output are as in `ntm bench`.
"""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import median

import torch

from ntm.bench.networks import (
    COPY,
    PAPER,
    BenchEffort,
    NetworkRow,
    PaperNTM,
    TimedTraining,
    Workload,
    native_step,
    random_batch,
)
from ntm.bench.results import BATCH, NETWORK, Note, Section, milliseconds, times
from ntm.bench.sections import announced, timed_training
from ntm.bench.timing import Quartiles, alternate, spread_of_ratios
from ntm.commands import bench
from ntm.config import NTMConfig
from ntm.paper import paper_settings

from .flops import training_flops
from .overhead import Overhead, measured_run


def _doubling_sizes() -> dict[str, tuple[int, ...]]:
    ranges = {"locations": (128, 7), "steps": (80, 8), "batch": (1, 9), "heads": (1, 5)}
    return {
        axis: tuple(first * 2**power for power in range(count))
        for axis, (first, count) in ranges.items()
    }


@dataclass(frozen=True)
class EngineEffort(BenchEffort):
    """Amount of measurement. The defaults are a whole benchmark, minutes long."""

    shares: tuple[Workload, ...] = BenchEffort.speedups
    products: tuple[int, ...] = (256, 384, 512, 768, 1024)
    """Matrix sizes to try. The fastest product is used."""
    sizes: Mapping[str, tuple[int, ...]] = field(default_factory=_doubling_sizes)
    """Sizes along every axis of growth."""
    runs: int = 3
    """Number of runs of `ntm train`."""
    sequences: int = 10_000
    """Sequences per run of `ntm train`."""


QUICK = EngineEffort(
    rounds=5,
    slice_seconds=0.005,
    portion=1,
    shares=tuple((net, 16) for net in PAPER),
    runs=1,
    sequences=4000,
)


class MatrixProduct:
    """Work at the full speed of a core: a product of square float32 matrices by `torch.mm`."""

    def __init__(self, size: int) -> None:
        generator = torch.Generator().manual_seed(size)
        self._a, self._b = (torch.randn(size, size, generator=generator) for _ in range(2))
        self._product = torch.empty(size, size)
        self.flops = 2 * size**3

    def __call__(self, _number: int) -> None:
        """Multiply once; the round does not matter."""
        torch.mm(self._a, self._b, out=self._product)


def fastest_product(sizes: Sequence[int], rounds: int, slice_seconds: float) -> MatrixProduct:
    """Return the product of the size that this machine multiplies at the highest rate."""
    products = {str(size): MatrixProduct(size) for size in sizes}
    seconds = alternate(products, rounds, slice_seconds)

    def rate(name: str) -> float:
        return products[name].flops / median(seconds[name])

    return products[max(products, key=rate)]


def _flops(training: TimedTraining, number: int) -> int:
    """Return the operations that the training needs in this round."""
    return sum(training_flops(training.config, batch) for batch in training.batches(number))


@dataclass(frozen=True)
class Share(NetworkRow):
    """Speed of the native engine as a share of the speed of `torch.mm`, on one core."""

    flops: int
    """Operations of a training step, averaged over the measured batches."""
    native_rate: float
    """Operations per second."""
    product_rate: float
    share: Quartiles


def measure_sgemm(effort: EngineEffort, note: Note) -> list[Share]:
    """Measure training steps and matrix products in turn, on one thread."""
    note("the fastest size of torch.mm")
    product = fastest_product(effort.products, effort.rounds, effort.slice_seconds)
    cases = announced("native engine and torch.mm", effort.shares, note)
    return [_share(*case, product, effort) for case in cases]


def _share(
    network: PaperNTM, batch_size: int, product: MatrixProduct, effort: EngineEffort
) -> Share:
    training = timed_training(network, native_step, batch_size, effort)
    seconds = alternate(
        {"native": training, "product": product}, effort.rounds, effort.slice_seconds
    )
    flops = [_flops(training, number) for number in range(effort.rounds)]
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


def measure_growth(effort: EngineEffort, note: Note) -> list[Growth]:
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


def _growth(axis: str, trainings: dict[int, TimedTraining], effort: EngineEffort) -> list[Growth]:
    works = {str(size): training for size, training in trainings.items()}
    seconds = alternate(works, effort.rounds, effort.slice_seconds)
    rows: list[Growth] = []
    for size, training in trainings.items():
        longer = flops = None
        if rows:
            half = rows[-1].size
            longer = spread_of_ratios(seconds[str(size)], seconds[str(half)])
            flops = _flops(training, 0) / _flops(trainings[half], 0)
        rows.append(Growth(axis, size, median(seconds[str(size)]), longer, flops))
    return rows


def measure_overhead(effort: EngineEffort, note: Note) -> list[Overhead]:
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


def _percent(spread: Quartiles) -> str:
    return f"{spread.median:.1%} ({spread.lower_quartile:.1%} to {spread.upper_quartile:.1%})"


def _microseconds(seconds: float) -> str:
    return f"{seconds * 1e6:.1f}"


SECTIONS = {
    "sgemm": Section(
        "Share of one core's speed at float32 matrix products",
        {
            **BATCH,
            "step, Mflop": lambda row: f"{row.flops / 1e6:,.1f}",
            "native, Gflop/s": lambda row: f"{row.native_rate / 1e9:.1f}",
            "torch.mm, Gflop/s": lambda row: f"{row.product_rate / 1e9:.1f}",
            "share": lambda row: _percent(row.share),
        },
        measure_sgemm,
    ),
    "growth": Section(
        "Growth of a training step, one thread: how many times more than at half the size",
        {
            "axis": lambda row: str(row.axis),
            "size": lambda row: f"{row.size:,}",
            "native, ms": lambda row: milliseconds(row.seconds),
            "time, doubled": lambda row: (
                "" if row.times_longer is None else times(row.times_longer)
            ),
            "operations, doubled": lambda row: (
                "" if row.times_flops is None else f"{row.times_flops:.2f}"
            ),
        },
        measure_growth,
    ),
    "overhead": Section(
        "A sequence in ntm train, batch size 1",
        {
            **NETWORK,
            "all, us": lambda row: _microseconds(row.seconds),
            "kernels, us": lambda row: _microseconds(row.kernel_seconds),
            "sampling, us": lambda row: _microseconds(row.sampling_seconds),
            "outside kernels": lambda row: _percent(row.share),
        },
        measure_overhead,
    ),
}


def main() -> None:
    parser = argparse.ArgumentParser(description="Speed of the native engine, for its developers.")
    bench.add_options(parser, tuple(SECTIONS))
    options = parser.parse_args()
    bench.measure(options, SECTIONS, QUICK if options.quick else EngineEffort())


if __name__ == "__main__":
    main()

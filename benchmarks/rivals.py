"""Training speed against the alternatives: eager and compiled PyTorch, JAX, pytorch-ntm, dnc, LSTM.

    git clone https://github.com/loudinthecloud/pytorch-ntm /tmp/pytorch-ntm
    python benchmarks/rivals.py --checkout /tmp/pytorch-ntm

The first run makes the environment build/rivals with the other packages. The task is copy with 20
vectors, 41 time steps. The network is the paper's: 100 controller units, 128 x 20 memory, one read
and one write head. A step is forward, loss, backward, clipping and update, on a batch in memory.
All sequences have one length, because the compilers need a new program for every shape. The
contestants run in one process on one core and take turns. Processor time is measured.

    eager PyTorch   the reference engine of this package: section 3 of the paper in plain PyTorch
    torch.compile   the same with a compiled cell, which a Python loop calls at every time step
    JAX             benchmarks/jax_ntm.py: `scan` over time, `jit` of the whole training step
    pytorch-ntm     the step of its train.py, unchanged; LSTM controller
    dnc             a Differentiable Neural Computer of the same sizes; LSTM controller
    torch.nn.LSTM   the size of the paper's baseline, 3 x 256 units without a memory, for scale

First, the script checks that an update in JAX gives the weights of an update by the native engine.
"""

import argparse
import os
from collections.abc import Callable, Mapping
from importlib.metadata import version
from pathlib import Path
from statistics import median

import environment

PACKAGES = ("jax==0.10.2", "dnc==1.1.0", "attrs", "argcomplete")
VARIABLES = {
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false",
    "OMP_NUM_THREADS": "1",
    "TORCHINDUCTOR_FORCE_DISABLE_CACHES": "1",  # the first step compiles
}
HEAD = """| controller | batch | contestant | ms per step | native is faster | first step, s |
| --- | ---: | --- | ---: | ---: | ---: |"""
Work = Callable[[int], object]


def processor_seconds() -> float:
    """Return the processor time of this process and of compilers that it has started."""
    return sum(os.times()[:4])


def first_steps(contestants: Mapping[str, Work]) -> dict[str, float]:
    """Return the seconds of every contestant's first step, which compiles some of them."""
    seconds = {}
    for name, work in contestants.items():
        start = processor_seconds()
        work(0)
        seconds[name] = processor_seconds() - start
    return seconds


def digits(value: float) -> str:
    """Format a number with three significant digits."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def measure(model: str, batch_size: int, options: argparse.Namespace) -> None:
    """Print the rows of a controller and a batch size."""
    import rival_steps

    from ntm.bench.timing import alternate, spread_of_ratios

    config = rival_steps.paper_config(model)
    batch = rival_steps.copy_batch(options.length, batch_size)
    rival_steps.require_equal(config, batch)
    works = rival_steps.same_machine(config, batch)
    if config.controller == "lstm":
        works |= rival_steps.other_machines(config, batch, options.checkout)
    first = first_steps(works)
    seconds = alternate(works, options.rounds, slice_seconds=0.05)
    for name, taken in seconds.items():
        ratio = spread_of_ratios(taken, seconds[rival_steps.OURS])
        times = f"{digits(ratio.median)} ({digits(ratio.lowest)} to {digits(ratio.highest)})"
        cells = [config.controller, str(batch_size), name, digits(1e3 * median(taken))]
        cells += ["" if name == rival_steps.OURS else times, digits(first[name])]
        print(f"| {' | '.join(cells)} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--checkout", type=Path, help="folder of pytorch-ntm (default: leave out)")
    parser.add_argument("--rounds", type=int, default=9, help="rounds to measure (default: 9)")
    parser.add_argument("--length", type=int, default=20, help="vectors to copy (default: 20)")
    options = parser.parse_args()
    environment.run_inside("rivals", PACKAGES, VARIABLES)
    from ntm.engine.machine import machine, threads

    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    on, versions = machine(), [f"{name} {version(name)}" for name in ("torch", "jax", "dnc")]
    print(f"{on['processor']}, one core, ntm {on['ntm']}, {', '.join(versions)}; ", end="")
    print(f"medians of {options.rounds} rounds, ranges in brackets.\n\n{HEAD}")
    with threads(1):
        for model in ("ntm-ff", "ntm-lstm"):
            for batch_size in (1, 16):
                measure(model, batch_size, options)


if __name__ == "__main__":
    main()

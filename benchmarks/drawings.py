"""Tests of trained networks on structured inputs: blank, full and repeated vectors.

    python benchmarks/drawings.py                    # all packaged networks
    python benchmarks/drawings.py copy-ff runs/mine  # these networks, packaged or trained here
    python benchmarks/drawings.py copy-ff --drawings 100000

Prints a table in Markdown: the share of problems without a wrong bit, on random problems and on
each kind of structured problem. Sizes are within the trained range. N-grams have no vectors and
no right answer; their row shows the cost above the optimum, on constant and on periodic bits.

The problems here are made without the samplers of the tasks: every vector is drawn from the kinds
below by its own rule, so a network that was trained with task.structured meets another mixture.
"""

import argparse
from collections.abc import Callable, Iterator
from dataclasses import replace
from unittest import mock

import torch
from torch import Tensor

from ntm import pretrained
from ntm.models import Model
from ntm.runs.opening import open_run
from ntm.tasks import (
    AssociativeRecall,
    Batch,
    Copy,
    NGrams,
    RepeatCopy,
    Task,
    cost_in_bits,
    sampling,
    wrong_bits,
)

SEED, BLOCK = 11, 1000
BLANK, FULL, REPEATED, SPARSE, DENSE, FAIR = range(6)
PATTERNS = {
    "fair bits": (FAIR,),
    "sparse": (SPARSE,),
    "dense": (DENSE,),
    "fair and blank": (FAIR, BLANK),
    "fair and repeated": (FAIR, REPEATED),
    "blank and full": (BLANK, FULL),
    "blank": (BLANK,),
    "any": tuple(range(6)),
}
DENSITY = {BLANK: 0.0, FULL: 1.0, SPARSE: 0.1, DENSE: 0.9, FAIR: 0.5, REPEATED: 0.5}


def main() -> None:
    options = parse_options()
    names = options.networks or pretrained.names()
    row("network", *PATTERNS)
    row("---", *["---"] * len(PATTERNS))
    for name in names:
        run = open_run(name)
        net, task = run.load_model("best")[0], run.settings.task
        if isinstance(task, NGrams):
            continue
        row(name, *(share(net, task, kinds, options.drawings) for kinds in PATTERNS.values()))
    print()
    for name in names:
        run = open_run(name)
        if isinstance(run.settings.task, NGrams):
            periodic(name, run.load_model("best")[0], run.settings.task)


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("networks", nargs="*", help="packaged networks or run folders")
    parser.add_argument("--drawings", type=int, default=4000, help="problems per number")
    return parser.parse_args()


def row(*cells: str) -> None:
    print(f"| {' | '.join(cells)} |", flush=True)


def drawn(kinds: tuple[int, ...]) -> Callable[..., Tensor]:
    """Return a substitute for `random_bits`: (steps, batch, bits) from vectors of these kinds."""

    def bits(*shape: int, generator: torch.Generator) -> Tensor:
        steps, batch, _ = shape
        weights = torch.rand(batch, len(kinds), generator=generator).square() + 1e-3
        chosen = torch.multinomial(weights, steps, replacement=True, generator=generator).T
        kind = torch.tensor(kinds)[chosen]
        density = torch.tensor([DENSITY[number] for number in range(6)])[kind]
        vectors = (torch.rand(shape, generator=generator) < density.unsqueeze(-1)).float()
        source = torch.where(kind == REPEATED, 0, sampling.time_steps(steps)).cummax(dim=0).values
        return sampling.take_steps(vectors, source)

    return bits


def problems(task: Task, kinds: tuple[int, ...], count: int) -> Iterator[Batch]:
    """Sample problems of a task with vectors of these kinds."""
    generator = torch.Generator().manual_seed(SEED)
    with (
        mock.patch("ntm.tasks.sampling.random_bits", drawn(kinds)),
        mock.patch("ntm.tasks.priority_sort.random_bits", drawn(kinds)),
    ):
        for _ in range(0, count, BLOCK):
            yield task.sample(min(BLOCK, count), generator)


@torch.no_grad()
def share(net: Model, task: Task, kinds: tuple[int, ...], count: int) -> str:
    """Return the share of problems without a wrong bit."""
    right = asked = 0
    for batch in problems(_fair(task), kinds, count):
        answered = wrong_bits(net(batch.inputs, lengths=batch.lengths)[0], batch) == 0
        if isinstance(task, AssociativeRecall):
            answered = answered[_clear(task, batch)]
        right, asked = right + int(answered.sum()), asked + len(answered)
    return f"{right / asked:.2%}" if asked else "-"


def _fair(task: Task) -> Task:
    """Return the task with fair bits, which the problems here replace."""
    return replace(task, structured=0.0) if isinstance(task, Copy | RepeatCopy) else task


def _clear(task: AssociativeRecall, batch: Batch) -> Tensor:
    """Return whether the query is in the list once: otherwise several answers would be right."""
    period, bits = task.item_length + 1, batch.inputs[..., : task.bits]
    counts = (batch.lengths - task.item_length - int(task.close_query)) // period - 1
    steps = counts * period + 1 + sampling.time_steps(task.item_length)
    query, most = sampling.take_steps(bits, steps), int(counts.max())
    listed = bits[: most * period].view(most, period, len(counts), -1)[:, 1:]
    equal = (listed == query).all(dim=3).all(dim=1) & (sampling.time_steps(most) < counts)
    return equal.sum(dim=0) == 1


@torch.no_grad()
def periodic(name: str, net: Model, task: NGrams) -> None:
    """Print the cost above the optimum on random bits and on bits that repeat themselves."""
    random = task.sample(200, torch.Generator().manual_seed(SEED))
    row(name, f"random {above(net, task, random):.2f}", *(
        f"{pattern} {above(net, task, repeating(task, pattern)):.2f}"
        for pattern in ("0", "1", "01", "001", "0110", "00010111")
    ))  # fmt: skip


def repeating(task: NGrams, pattern: str) -> Batch:
    """Return one problem whose bits repeat a pattern."""
    bits = torch.tensor([float(pattern[step % len(pattern)]) for step in range(task.length)])
    batch = task.sample(1, torch.Generator().manual_seed(SEED))
    batch.inputs[:, 0, 0], batch.targets[:, 0, 0] = bits[:-1], bits[1:]
    return batch


def above(net: Model, task: NGrams, batch: Batch) -> float:
    """Return the mean cost above the optimum."""
    cost = cost_in_bits(net(batch.inputs, lengths=batch.lengths)[0], batch)
    best = cost_in_bits(torch.logit(task.optimal_probabilities(batch)), batch)
    return float((cost - best).mean())


if __name__ == "__main__":
    main()

"""A Neural Turing Machine learns to copy, in one file: the layer, a stock optimiser, a loop.

    python examples/minimal.py

Copy is the first task of the paper (Graves, Wayne and Danihelka, 2014, section 4.1). The network
receives 1 to 20 random vectors of eight bits, then a delimiter. It then has to output the vectors
without further input. Time goes to the right:

    input   bits       # . #  .  . . .
                       . # #  .  . . .
            delimiter  . . .  #  . . .
    target  bits                 # . #
                                 . # #

An untrained network costs one bit per output bit, 84 bits per sequence on average. After about
3,000 sequences, this network is below a tenth of a bit: it makes no mistakes. At the end it copies
50 vectors, more than twice the longest in training, and most sequences of 120.
"""

import argparse
import math
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits

from ntm import NTM

BITS = 8
LONGEST = 20  # most vectors per sequence in training


class Batch(NamedTuple):
    """Problems of mixed lengths; time is the first axis, the batch the second."""

    inputs: Tensor
    """(time, batch, BITS + 1): the vectors, the delimiter, then zeros."""
    targets: Tensor
    """(time, batch, BITS): the vectors again, after the delimiter."""
    scored: Tensor
    """(time, batch): whether the output counts at a step."""
    lengths: Tensor
    """(batch,): number of steps of each problem. Later steps are padding."""


def draw_batch(counts: Tensor, generator: torch.Generator) -> Batch:
    """Return random problems of mixed lengths.

    counts: number of vectors per problem, (batch,) whole numbers of at least 1.
    """
    lengths = 2 * counts + 1
    time, size = int(lengths.max()), len(counts)
    inputs, targets = torch.zeros(time, size, BITS + 1), torch.zeros(time, size, BITS)
    for number, count in enumerate(counts.tolist()):
        vectors = torch.randint(0, 2, (count, BITS), generator=generator).float()
        inputs[:count, number, :BITS] = vectors
        inputs[count, number, BITS] = 1
        targets[count + 1 : 2 * count + 1, number] = vectors
    step = torch.arange(time).unsqueeze(1)
    return Batch(inputs, targets, (step > counts) & (step < lengths), lengths)


def bits_per_sequence(logits: Tensor, batch: Batch) -> Tensor:
    """Return the paper's cost: cross-entropy over all scored steps and channels, in bits."""
    nats = binary_cross_entropy_with_logits(logits, batch.targets, reduction="none").sum(-1)
    return (nats * batch.scored).sum(0) / math.log(2)


def make_network(memory_locations: int = 128) -> NTM:
    """Build the network of the paper's first table: 100 feedforward units, 128 x 20 memory."""
    return NTM(
        input_size=BITS + 1,
        output_size=BITS,
        controller="feedforward",
        controller_size=100,
        memory_locations=memory_locations,
        memory_width=20,
        heads=1,
        backward_clip=1.0,  # bounds the gradient at every step: training does not explode
        head_gain=0.25,  # small initial weights of the heads: more starts learn
    )


def train(net: NTM, steps: int, batch_size: int, seed: int) -> None:
    """Train, and print the mean cost of every 500 steps."""
    # The closest optimiser in torch to the paper's: centred RMSProp with momentum.
    optimiser = torch.optim.RMSprop(
        net.parameters(), lr=1e-4, alpha=0.95, eps=1e-2, momentum=0.9, centered=True
    )
    generator = torch.Generator().manual_seed(seed)
    total = 0.0
    for step in range(1, steps + 1):
        counts = torch.randint(1, LONGEST + 1, (batch_size,), generator=generator)
        batch = draw_batch(counts, generator)
        logits, _ = net(batch.inputs, lengths=batch.lengths)
        bits = bits_per_sequence(logits, batch).mean()

        optimiser.zero_grad()
        (bits * math.log(2)).backward()
        torch.nn.utils.clip_grad_value_(net.parameters(), 10.0)  # as in the paper
        optimiser.step()

        total += bits.item()
        if step % 500 == 0:
            print(f"{step * batch_size:6,} sequences: {total / 500:8.4f} bits each", flush=True)
            total = 0.0


@torch.no_grad()
def measure(net: NTM, length: int, seed: int, sequences: int = 100) -> tuple[float, float]:
    """Return the mean cost of fresh problems of one length, and the share without a wrong bit."""
    batch = draw_batch(torch.full((sequences,), length), torch.Generator().manual_seed(seed))
    logits, _ = net(batch.inputs, lengths=batch.lengths)
    wrong = ((logits > 0) != (batch.targets > 0.5)) & batch.scored.unsqueeze(-1)
    perfect = (wrong.sum((0, 2)) == 0).float().mean()
    return bits_per_sequence(logits, batch).mean().item(), perfect.item()


def main() -> None:
    """Train, then copy sequences of trained lengths and of greater lengths."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--steps", type=int, default=10_000, help="updates (default: 10,000)")
    parser.add_argument("--batch-size", type=int, default=1, help="batch size (default: 1)")
    parser.add_argument("--seed", type=int, default=1, help="seed of weights and data (default: 1)")
    options = parser.parse_args()

    torch.manual_seed(options.seed)
    net = make_network()
    train(net, options.steps, options.batch_size, options.seed)
    for length in (10, LONGEST, 50, 120):
        bits, perfect = measure(net, length, seed=options.seed + 1)
        print(f"length {length:3}: {bits:9.4f} bits, {perfect:4.0%} without a wrong bit")


if __name__ == "__main__":
    main()

"""Vectorised building blocks of the samplers.

Time is the first axis and the batch the second, as in a Batch. No function loops over sequences.
"""

from typing import Any

import torch
from torch import Tensor

from ntm.common.fields import setting


def structured_setting() -> Any:
    """Declare the field `structured` of a task: the argument of `random_sequences`."""
    return setting(
        0.0,
        "share of sequences that look like drawings in the studio: blank, full and repeated "
        "vectors (0: none)",
        at_least=0,
        at_most=1,
    )


def random_integers(low: int, high: int, count: int, generator: torch.Generator) -> Tensor:
    """Return uniform random integers from low to high, both included: (count,) int64."""
    return torch.randint(low, high + 1, (count,), generator=generator)


def random_bits(*shape: int, generator: torch.Generator) -> Tensor:
    """Return fair random bits, 0.0 or 1.0, of the given shape: float32."""
    count = torch.Size(shape).numel()
    # One draw gives eight bits: random numbers are the most expensive part of a sampler.
    octets = torch.randint(0, 256, (-(-count // 8), 1), dtype=torch.uint8, generator=generator)
    bits = (octets >> torch.arange(8, dtype=torch.uint8)) & 1
    return bits.view(-1)[:count].view(shape).float()


def random_sequences(
    lengths: Tensor, bits: int, generator: torch.Generator, structured: float = 0.0
) -> Tensor:
    """Return random binary vectors, zero beyond each sequence's length: (longest, batch, bits).

    lengths: (batch,) int64.
    structured: share of the sequences that look like drawings; see `like_drawings` (0).
    """
    longest, batch_size = int(lengths.max()), len(lengths)
    vectors = random_bits(longest, batch_size, bits, generator=generator)
    if structured:
        chosen = torch.rand(batch_size, 1, generator=generator) < structured
        vectors = torch.where(chosen, like_drawings(lengths, bits, generator), vectors)
    return vectors.masked_fill_((time_steps(longest) >= lengths).unsqueeze(-1), 0.0)


def like_drawings(lengths: Tensor, bits: int, generator: torch.Generator) -> Tensor:
    """Return binary vectors with the structure of drawings: (longest, batch, bits).

    Every sequence has a density of ones from 0 to 1. In half of the sequences, vectors repeat the
    vector before them, with a probability that is drawn per sequence. Half of the sequences have a
    run of blank or full vectors, of any length.

    lengths: (batch,) int64.
    """
    longest, batch_size = int(lengths.max()), len(lengths)

    def uniform(*shape: int) -> Tensor:
        return torch.rand(*shape, generator=generator)

    vectors = (uniform(longest, batch_size, bits) < uniform(batch_size, 1)).float()
    step = time_steps(longest)
    repeats = uniform(longest, batch_size) < uniform(batch_size) * uniform(batch_size).round()
    vectors = take_steps(vectors, torch.where(repeats, 0, step).cummax(dim=0).values)
    first = (uniform(batch_size) * lengths).long()
    count = (uniform(batch_size) * lengths + 1).long() * uniform(batch_size).round().long()
    in_run = (step >= first) & (step < first + count)
    return torch.where(in_run.unsqueeze(-1), uniform(batch_size, 1).round(), vectors)


def time_steps(count: int) -> Tensor:
    """Return steps 0 to count - 1 as a column that broadcasts over a batch: (count, 1) int64."""
    return torch.arange(count).unsqueeze(1)


def between(start: Tensor | int, stop: Tensor) -> Tensor:
    """Return 1.0 at the steps from start to stop - 1, else 0.0: (latest stop, batch) float32.

    start, stop: (batch,) int64, one step per sequence; start may be one step for all sequences.
    """
    step = time_steps(int(stop.max()))
    return ((step >= start) & (step < stop)).float()


def take_steps(sequence: Tensor, position: Tensor) -> Tensor:
    """Return row `position[t, b]` of sequence b at step t; zeros outside the sequence.

    sequence: (steps, batch, width); position: (time, batch) int64; result: (time, batch, width).
    """
    steps, batch_size, width = sequence.shape
    # Positions outside the sequence read the step of zeros that is appended here.
    padded = torch.cat([sequence, sequence.new_zeros(1, batch_size, width)])
    inside = (position >= 0) & (position < steps)
    row = torch.where(inside, position, steps).mul_(batch_size).add_(torch.arange(batch_size))
    return padded.view(-1, width).index_select(0, row.view(-1)).view(*position.shape, width)


def put(tensor: Tensor, step: Tensor | int, channel: int, value: Tensor | float = 1.0) -> None:
    """Write one value per sequence: `tensor[step[b], b, channel] = value[b]`, in place.

    tensor: (time, batch, channels); step, value: (batch,), or one for all sequences.
    """
    tensor[step, torch.arange(tensor.shape[1]), channel] = value

"""Training data as a function of a seed and a block number, so that a run can resume anywhere.

A stream is divided into blocks. Block k is sampled with a new generator whose seed is

    mix(start + k)      start = the first four bytes of blake2b("<stream> <seed>"), a 32-bit number

where the sum is modulo 2^32 and mix is the finaliser of MurmurHash3. torch's CPU generator keeps
32 bits of a seed. mix is a bijection, so no two blocks of a stream share a seed. Nothing else in
training is random: the number of sequences seen is the complete random state.
"""

import hashlib
from collections.abc import Collection

import torch
from torch import Tensor

from ntm.tasks.base import Batch, Task
from ntm.tasks.mixture import Mixture

SMALLEST_BLOCK = 256
_BUCKETS = 64
_MASK = 0xFFFFFFFF


def stream_start(stream: str, seed: int) -> int:
    """Return the 32-bit number from which a named stream counts the seeds of its blocks."""
    digest = hashlib.blake2b(f"{stream} {seed}".encode(), digest_size=4).digest()
    return int.from_bytes(digest, "little")


def block_seed(stream: str, seed: int, block: int) -> int:
    """Return the 32-bit seed of one block of a named stream."""
    return mix((stream_start(stream, seed) + block) & _MASK)


def block_generator(stream: str, seed: int, block: int = 0) -> torch.Generator:
    """Return a CPU generator for one block of a named stream."""
    return torch.Generator().manual_seed(block_seed(stream, seed, block))


class Stream:
    """An endless sequence of problems, divided into blocks of whole batches.

    A block has at least 256 sequences, and at least 64 batches if bucketed; its size is
    `block_size`.

    name: name of the stream, which the seeds of its blocks depend on ("training").
    bucketed: put sequences of similar length into one batch; see `bucketed` (False).
    mixture: smaller problems for some batches (None: the full range throughout).
    """

    def __init__(
        self,
        task: Task,
        seed: int,
        batch_size: int,
        name: str = "training",
        device: str | torch.device = "cpu",
        bucketed: bool = False,
        mixture: Mixture | None = None,
    ) -> None:
        self.task, self.seed, self.name, self.device = task, seed, name, device
        self.batch_size, self.bucketed, self.mixture = batch_size, bucketed, mixture
        batches = -(-SMALLEST_BLOCK // batch_size)
        self.block_size = batch_size * max(batches, _BUCKETS if bucketed else 1)

    def block(self, number: int) -> Batch:
        """Sample block `number`; the same number always gives the same block."""
        generator = block_generator(self.name, self.seed, number)
        batch = self._sample(self.task, generator)
        if self.mixture is not None and (chosen := self.smaller(number)):
            task = self.mixture.task_after(number * self.block_size, self.task)
            batch = _replaced(batch, self._sample(task, generator), chosen, self.batch_size)
        return batch if self.device == "cpu" else batch.to(self.device)

    def smaller(self, number: int) -> frozenset[int]:
        """Return the start indices of the batches in block `number` that have smaller problems."""
        if self.mixture is None:
            return frozenset()
        before = number * self.block_size
        firsts = range(0, self.block_size, self.batch_size)
        return frozenset(
            first for first in firsts if self.mixture.has_smaller(before + first, self.batch_size)
        )

    def _sample(self, task: Task, generator: torch.Generator) -> Batch:
        block = task.sample(self.block_size, generator)
        return bucketed(block, self.batch_size, generator) if self.bucketed else block


def bucketed(block: Batch, batch_size: int, generator: torch.Generator) -> Batch:
    """Reorder the sequences of a block so that each batch has sequences of similar length.

    Sequences are sorted by length and divided into batches; then the batches are shuffled.
    Without the shuffle, every block would go from its shortest sequences to its longest.
    """
    by_length = block.lengths.argsort(stable=True).view(-1, batch_size)
    order = by_length[torch.randperm(len(by_length), generator=generator)].flatten()
    parts = (block.inputs[:, order], block.targets[:, order], block.mask[:, order])
    return type(block)(*parts, block.lengths[order])


def _replaced(block: Batch, other: Batch, firsts: Collection[int], batch_size: int) -> Batch:
    """Return the block with the batches that start at `firsts` taken from another block."""
    starts = torch.arange(block.batch_size) // batch_size * batch_size
    taken = torch.isin(starts, torch.tensor(sorted(firsts)))
    time = max(len(block.inputs), len(other.inputs))
    mixed = type(block)(
        torch.where(taken[:, None], _padded(other.inputs, time), _padded(block.inputs, time)),
        torch.where(taken[:, None], _padded(other.targets, time), _padded(block.targets, time)),
        torch.where(taken, _padded(other.mask, time), _padded(block.mask, time)),
        torch.where(taken, other.lengths, block.lengths),
    )
    return mixed.narrow(0, block.batch_size)


def _padded(steps: Tensor, time: int) -> Tensor:
    return torch.cat([steps, steps.new_zeros(time - len(steps), *steps.shape[1:])])


def mix(value: int) -> int:
    """Mix the bits of a 32-bit number with MurmurHash3's finaliser, a bijection."""
    value ^= value >> 16
    value = value * 0x85EBCA6B & _MASK
    value ^= value >> 13
    value = value * 0xC2B2AE35 & _MASK
    return value ^ value >> 16

"""The training data as a function of a seed and a number, so that a run can resume anywhere.

A stream is cut into blocks. Block k is sampled by a fresh generator whose seed is

    mix(start + k)      start = the first four bytes of blake2b("<stream> <seed>"), a 32-bit number

where the sum is modulo 2^32 and mix is the finaliser of MurmurHash3, a bijection: torch's CPU
generator keeps 32 bits of a seed, and no two blocks of a run share one. Nothing else is random in
training, so the number of sequences seen is the whole random state.
"""

import hashlib

import torch

from ntm.tasks.base import Batch, Task

SMALLEST_BLOCK = 256
_BUCKETS = 64
_MASK = 0xFFFFFFFF


def stream_start(stream: str, seed: int) -> int:
    """Where the seeds of a named stream begin, a 32-bit number."""
    digest = hashlib.blake2b(f"{stream} {seed}".encode(), digest_size=4).digest()
    return int.from_bytes(digest, "little")


def block_seed(stream: str, seed: int, block: int) -> int:
    """The 32-bit seed of one block of a named stream."""
    return mix((stream_start(stream, seed) + block) & _MASK)


def block_generator(stream: str, seed: int, block: int = 0) -> torch.Generator:
    """A CPU generator for one block of a named stream."""
    return torch.Generator().manual_seed(block_seed(stream, seed, block))


class Stream:
    """An endless sequence of problems, cut into blocks of whole batches.

    block_size: sequences in a block, the smallest multiple of the batch size that is at least 256.
    bucketed: put sequences of nearly equal lengths into one batch; see `bucketed`. Such a block has
        64 batches, or 256 sequences if that is more.
    """

    def __init__(
        self,
        task: Task,
        seed: int,
        batch_size: int,
        name: str = "training",
        device: str | torch.device = "cpu",
        bucketed: bool = False,
    ) -> None:
        self.task, self.seed, self.name, self.device = task, seed, name, device
        self.batch_size, self.bucketed = batch_size, bucketed
        batches = -(-SMALLEST_BLOCK // batch_size)
        self.block_size = batch_size * max(batches, _BUCKETS if bucketed else 1)

    def block(self, number: int) -> Batch:
        """Block `number`, always the same."""
        generator = block_generator(self.name, self.seed, number)
        batch = self.task.sample(self.block_size, generator)
        if self.bucketed:
            batch = bucketed(batch, self.batch_size, generator)
        return batch if self.device == "cpu" else batch.to(self.device)


def bucketed(block: Batch, batch_size: int, generator: torch.Generator) -> Batch:
    """The sequences of a block in an order that gives its batches nearly equal lengths.

    They are sorted by length and cut into batches, and the batches are shuffled: otherwise every
    block would go from its shortest sequences to its longest.
    """
    by_length = block.lengths.argsort(stable=True).view(-1, batch_size)
    order = by_length[torch.randperm(len(by_length), generator=generator)].flatten()
    return Batch(
        block.inputs[:, order], block.targets[:, order], block.mask[:, order], block.lengths[order]
    )


def mix(value: int) -> int:
    """MurmurHash3's finaliser: a bijection of the 32-bit numbers that looks random."""
    value ^= value >> 16
    value = value * 0x85EBCA6B & _MASK
    value ^= value >> 13
    value = value * 0xC2B2AE35 & _MASK
    return value ^ value >> 16

"""Training data as a function of a seed and a block number, so that a run can resume anywhere.

A stream is divided into blocks. Block k is sampled with a new generator whose seed is

    mix(start + k)      start = the first four bytes of blake2b("<stream> <seed>"), a 32-bit number

where the sum is modulo 2^32 and mix is the finaliser of MurmurHash3. torch's CPU generator keeps
32 bits of a seed. mix is a bijection, so no two blocks of a run share a seed. Nothing else in
training is random: the number of sequences seen is the complete random state.
"""

import hashlib

import torch

from ntm.tasks.base import Batch, Task

SMALLEST_BLOCK = 256
_BUCKETS = 64
_MASK = 0xFFFFFFFF


def stream_start(stream: str, seed: int) -> int:
    """Return the 32-bit number that the seeds of a named stream are counted from."""
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
        """Sample block `number`; the same number always gives the same block."""
        generator = block_generator(self.name, self.seed, number)
        batch = self.task.sample(self.block_size, generator)
        if self.bucketed:
            batch = bucketed(batch, self.batch_size, generator)
        return batch if self.device == "cpu" else batch.to(self.device)


def bucketed(block: Batch, batch_size: int, generator: torch.Generator) -> Batch:
    """Reorder the sequences of a block so that each batch has sequences of similar length.

    Sequences are sorted by length and divided into batches; then the batches are shuffled.
    Without the shuffle, every block would go from its shortest sequences to its longest.
    """
    by_length = block.lengths.argsort(stable=True).view(-1, batch_size)
    order = by_length[torch.randperm(len(by_length), generator=generator)].flatten()
    return Batch(
        block.inputs[:, order], block.targets[:, order], block.mask[:, order], block.lengths[order]
    )


def mix(value: int) -> int:
    """Mix the bits of a 32-bit number with MurmurHash3's finaliser, a bijection."""
    value ^= value >> 16
    value = value * 0x85EBCA6B & _MASK
    value ^= value >> 13
    value = value * 0xC2B2AE35 & _MASK
    return value ^ value >> 16

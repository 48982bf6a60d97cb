import pytest
import torch
from torch import Tensor

from ntm.runs import Stream, block_generator
from ntm.runs.stream import block_seed, mix
from ntm.tasks import Batch, Copy


def test_a_block_is_the_same_whenever_it_is_asked_for() -> None:
    stream = Stream(Copy(max_length=3), seed=5, batch_size=1)
    first = stream.block(7)
    stream.block(8)
    again = Stream(Copy(max_length=3), seed=5, batch_size=1).block(7)
    assert all(torch.equal(a, b) for a, b in zip(first, again, strict=True))


@pytest.mark.parametrize(
    "other",
    [
        Stream(Copy(max_length=3), seed=6, batch_size=1).block(7),
        Stream(Copy(max_length=3), seed=5, batch_size=1).block(6),
        Stream(Copy(max_length=3), seed=5, batch_size=1, name="validation").block(7),
    ],
    ids=["seed", "number", "stream"],
)
def test_seed_number_and_stream_all_matter(other: object) -> None:
    block = Stream(Copy(max_length=3), seed=5, batch_size=1).block(7)
    assert not torch.equal(block.lengths, other.lengths)


@pytest.mark.parametrize(
    ("batch_size", "block_size"), [(1, 256), (3, 258), (256, 256), (257, 257), (1000, 1000)]
)
def test_a_block_holds_whole_batches(batch_size: int, block_size: int) -> None:
    stream = Stream(Copy(max_length=2), seed=1, batch_size=batch_size)
    assert stream.block_size == block_size
    assert stream.block(0).batch_size == block_size


def test_no_two_blocks_of_a_run_share_a_seed() -> None:
    seeds = {block_seed("training", 1, block) for block in range(100_000)}
    assert len(seeds) == 100_000
    assert all(0 <= seed < 2**32 for seed in seeds)


def test_the_documented_hash_is_what_it_was() -> None:
    # Other numbers here would mean that old runs cannot be resumed or repeated.
    assert block_seed("training", 1, 0) == 1074745200
    assert block_seed("training", 1, 1) == 206618016
    assert block_seed("evaluation", 123, 456) == 974983515
    assert block_generator("evaluation", 123, 456).initial_seed() == 974983515


def test_the_mixing_function_is_murmur3s_finaliser() -> None:
    assert mix(0) == 0
    assert mix(1) == 0x514E28B7
    assert mix(2) == 0x30F4C306


@pytest.mark.parametrize("batch_size", [1, 4, 16])
def test_bucketed_blocks_hold_the_same_sequences_in_batches_of_like_lengths(
    batch_size: int,
) -> None:
    task = Copy(bits=12, max_length=10)
    stream = Stream(task, seed=2, batch_size=batch_size, bucketed=True)
    assert stream.block_size == max(256, 64 * batch_size)
    plain = task.sample(stream.block_size, block_generator("training", 2, 3))
    sorted_ = stream.block(3)

    def sequences(block: Batch) -> list[list[float]]:
        flat = [torch.cat([t[:, i].flatten() for t in block[:3]]) for i in range(len(block[3]))]
        return sorted(row.tolist() for row in flat)

    assert sequences(plain) == sequences(sorted_)
    lengths = sorted_.lengths.view(-1, batch_size)
    # Batches that were cut from one sorted list overlap at most at their ends.
    spread = (lengths.amax(dim=1) - lengths.amin(dim=1)).sum()
    assert spread <= plain.lengths.max() - plain.lengths.min()


def test_bucketed_batches_come_in_a_random_order_that_is_always_the_same() -> None:
    def lengths(block: int) -> Tensor:
        stream = Stream(Copy(max_length=10), seed=2, batch_size=16, bucketed=True)
        return stream.block(block).lengths.view(-1, 16).float().mean(dim=1)

    assert torch.equal(lengths(0), lengths(0))
    assert not torch.equal(lengths(0), lengths(0).sort().values)
    assert not torch.equal(lengths(0).argsort(), lengths(1).argsort())

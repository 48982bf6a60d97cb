import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ntm.tasks import sampling
from ntm.tasks.sampling import between, put, random_bits, random_integers, take_steps


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def test_random_integers_include_both_ends() -> None:
    values = random_integers(3, 7, 1000, generator())
    assert values.dtype == torch.int64
    assert set(values.tolist()) == {3, 4, 5, 6, 7}


@pytest.mark.parametrize("shape", [(1,), (5, 3, 7), (2, 11), (8,)])
def test_random_bits_have_the_shape_asked_for(shape: tuple[int, ...]) -> None:
    bits = random_bits(*shape, generator=generator())
    assert bits.shape == shape
    assert bits.dtype == torch.float32
    assert set(bits.unique().tolist()) <= {0.0, 1.0}


def test_random_bits_are_fair_and_uncorrelated_with_their_neighbours() -> None:
    count = 80_000
    bits = random_bits(count, generator=generator())
    five_sigma = 5 * 0.5 / count**0.5
    assert abs(bits.mean() - 0.5) < five_sigma
    for distance in range(1, 17):
        agree = (bits[distance:] == bits[:-distance]).float().mean()
        assert abs(agree - 0.5) < five_sigma


def test_random_sequences_are_zero_beyond_their_lengths_and_random_within() -> None:
    lengths = torch.tensor([2, 5, 3])
    drawn = torch.stack(
        [sampling.random_sequences(lengths, 7, generator(seed)) for seed in range(100)]
    )
    assert drawn.shape == (100, 5, 3, 7)
    ever_one = drawn.any(dim=0)
    within = (torch.arange(5).unsqueeze(1) < lengths).unsqueeze(-1).expand(5, 3, 7)
    assert torch.equal(ever_one, within)


def test_structured_sequences_have_what_drawings_have() -> None:
    lengths = torch.randint(1, 13, (4000,), generator=generator(5))
    fair, drawn = (
        sampling.random_sequences(lengths, 7, generator(6), structured=share)
        for share in (0.0, 1.0)
    )
    within = torch.arange(12).unsqueeze(1) < lengths
    assert not drawn[~within].any()
    assert set(drawn.unique().tolist()) == {0.0, 1.0}
    for extreme in (0.0, 1.0):
        alike = (drawn == extreme).all(dim=-1) & within
        assert 0.1 < alike.sum() / within.sum() < 0.5  # a vector of fair bits: 1 of 128
        assert (alike | ~within).all(dim=0).float().mean() > 0.02  # whole sequences
    repeated = ((drawn[1:] == drawn[:-1]).all(dim=-1) & within[1:]).sum() / within[1:].sum()
    assert 0.3 < repeated < 0.8
    density = drawn.sum(dim=(0, 2)) / (7 * lengths)
    assert density.std() > 2 * (fair.sum(dim=(0, 2)) / (7 * lengths)).std()
    assert abs(density.mean() - 0.5) < 0.03


def test_a_share_of_the_sequences_is_structured() -> None:
    lengths = torch.full((4000,), 9)
    fair = sampling.random_sequences(lengths, 7, generator(6))
    mixed = sampling.random_sequences(lengths, 7, generator(6), structured=0.3)
    unchanged = (mixed == fair).all(dim=2).all(dim=0).float().mean()
    assert abs(unchanged - 0.7) < 0.04


def test_between_marks_the_steps_of_each_sequence() -> None:
    marked = between(torch.tensor([0, 2]), torch.tensor([1, 5]))
    assert marked.T.tolist() == [[1, 0, 0, 0, 0], [0, 0, 1, 1, 1]]


def test_put_writes_one_value_per_sequence() -> None:
    tensor = torch.zeros(3, 2, 2)
    put(tensor, torch.tensor([2, 0]), 1, torch.tensor([5.0, 7.0]))
    put(tensor, 1, 0)
    assert tensor[:, 0].tolist() == [[0, 0], [1, 0], [0, 5]]
    assert tensor[:, 1].tolist() == [[0, 7], [1, 0], [0, 0]]


@settings(deadline=None, max_examples=50)
@given(
    st.integers(1, 7), st.integers(1, 5), st.integers(1, 3), st.integers(1, 11), st.integers(0, 99)
)
def test_take_steps_equals_a_loop(steps: int, batch: int, width: int, time: int, seed: int) -> None:
    sequence = torch.rand(steps, batch, width, generator=generator(seed))
    position = torch.randint(-3, steps + 3, (time, batch), generator=generator(seed))
    taken = take_steps(sequence, position)
    assert taken.shape == (time, batch, width)
    for t in range(time):
        for b in range(batch):
            p = int(position[t, b])
            expected = sequence[p, b] if 0 <= p < steps else torch.zeros(width)
            assert torch.equal(taken[t, b], expected)


def test_time_steps_is_a_column() -> None:
    assert sampling.time_steps(3).tolist() == [[0], [1], [2]]


def test_random_bits_take_one_octet_for_eight_of_them() -> None:
    """Nothing is drawn that is not used, and every octet may be any of the 256."""
    generator, other = (torch.Generator().manual_seed(3) for _ in range(2))
    bits = random_bits(3, 1, 7, generator=generator)
    octets = torch.randint(0, 256, (3, 1), dtype=torch.uint8, generator=other)
    expected = [octet >> place & 1 for octet in octets.flatten().tolist() for place in range(8)]
    assert bits.flatten().tolist() == expected[:21]
    assert torch.equal(generator.get_state(), other.get_state())

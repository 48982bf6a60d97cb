import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ntm.tasks import NGrams, cost_in_bits


def slow_probabilities(bits: list[int], context: int) -> list[float]:
    """The optimal estimator by counting: P(next bit = 1) after each of the bits."""
    answers = []
    for step in range(len(bits)):
        past = bits[: step + 1]
        if len(past) < context:
            answers.append(0.5)
            continue
        present = past[len(past) - context :]
        followers = [
            past[i + context]
            for i in range(len(past) - context)
            if past[i : i + context] == present
        ]
        answers.append((sum(followers) + 0.5) / (len(followers) + 1))
    return answers


@settings(deadline=None, max_examples=40)
@given(st.integers(2, 60), st.integers(0, 6), st.integers(1, 4), st.integers(0, 1000))
def test_bits_and_optimal_predictions_as_a_slow_reader_would_have_them(
    length: int, context: int, batch_size: int, seed: int
) -> None:
    task = NGrams(length=length, context=context)
    batch = task.sample(batch_size, torch.Generator().manual_seed(seed))
    assert batch.inputs.shape == (length - 1, batch_size, 1)
    assert batch.mask.eq(1).all()
    assert batch.lengths.tolist() == [length - 1] * batch_size
    probabilities, costs = task.optimal_probabilities(batch), task.optimal_bits(batch)
    for index in range(batch_size):
        seen = [int(bit) for bit in batch.inputs[:, index, 0].tolist()]
        wanted = [int(bit) for bit in batch.targets[:, index, 0].tolist()]
        assert seen[1:] == wanted[:-1]
        expected = slow_probabilities(seen, context)
        torch.testing.assert_close(probabilities[:, index, 0], torch.tensor(expected))
        paid = -sum(math.log2(p if bit else 1 - p) for p, bit in zip(expected, wanted, strict=True))
        assert float(costs[index]) == pytest.approx(paid, rel=1e-4)


def test_the_picture_shows_the_next_bit(drawn: Callable[..., Any]) -> None:
    picture = drawn(NGrams())
    assert picture.inputs[1:] == picture.answer[:-1]


def test_the_optimum_is_the_known_one() -> None:
    task = NGrams()
    batch = task.sample(4000, torch.Generator().manual_seed(1))
    costs = task.optimal_bits(batch)
    standard_error = float(costs.std()) / 4000**0.5
    # A simulation of 100,000 sequences gives 131.89 +- 0.11 bits, 36 between sequences.
    assert abs(float(costs.mean()) - 131.89) < 4 * math.hypot(standard_error, 0.11)
    assert float(costs.std()) == pytest.approx(36, abs=2)


def test_the_bits_before_a_full_context_cost_one_bit_each() -> None:
    task = NGrams(length=6, context=5)
    batch = task.sample(3, torch.Generator().manual_seed(1))
    # Bits 2 to 5 are fair; nothing is known of the table when bit 6 comes.
    torch.testing.assert_close(task.optimal_bits(batch), torch.full((3,), 5.0))


def test_tables_are_drawn_from_the_beta_distribution() -> None:
    # With no context a sequence is one biased coin, and its frequency of ones is the coin's bias.
    # Of Beta(1/2, 1/2) the moments are E p = 1/2, E p^2 = 3/8, E p^3 = 5/16, E p^4 = 35/128.
    count, length = 20_000, 4
    task = NGrams(length=length, context=0)
    batch = task.sample(count, torch.Generator().manual_seed(1))
    bits = torch.cat([batch.inputs[:1], batch.targets])[..., 0]
    for power, moment in [(1, 1 / 2), (2, 3 / 8), (3, 5 / 16), (4, 35 / 128)]:
        all_ones = float(bits[:power].prod(0).mean())
        assert abs(all_ones - moment) < 5 * (moment * (1 - moment) / count) ** 0.5


def test_the_context_and_nothing_else_decides_the_odds() -> None:
    task = NGrams(length=4, context=1)
    batch = task.sample(40_000, torch.Generator().manual_seed(1))
    first, second, third, fourth = torch.cat([batch.inputs[:1], batch.targets])[..., 0]
    # x y x: the context x was seen once, so y follows again with E[p^2 + (1 - p)^2] = 3/4.
    again = (fourth == second)[(second != first) & (third == first)].float()
    assert abs(float(again.mean()) - 3 / 4) < 5 * (3 / 16 / len(again)) ** 0.5
    # x x y: nothing has been seen after y.
    new = fourth[(second == first) & (third != first)]
    assert abs(float(new.mean()) - 1 / 2) < 5 * (1 / 4 / len(new)) ** 0.5


def test_nobody_beats_the_optimum_on_average() -> None:
    task = NGrams()
    batch = task.sample(500, torch.Generator().manual_seed(1))
    best = task.optimal_bits(batch).mean()
    logits = torch.logit(task.optimal_probabilities(batch))
    for sharpness in (0.8, 1.25):
        assert cost_in_bits(logits * sharpness, batch).mean() > best


def test_the_picture_of_a_problem_shows_the_optimal_predictions() -> None:
    task = NGrams(length=30)
    batch = task.sample(2, torch.Generator().manual_seed(1))
    text = task.render(batch, 1, torch.zeros_like(batch.targets))
    rows = [line.split() for line in text.splitlines()]
    assert ["P(1)", "optimal"] in [row[:2] for row in rows]
    assert rows[-1] == ["answer", "\N{LOWER FIVE EIGHTHS BLOCK}" * 29]


@pytest.mark.parametrize(("name", "value"), [("context", -1), ("context", 17), ("length", 1)])
def test_settings_are_checked(name: str, value: int) -> None:
    with pytest.raises(ValueError, match=rf"{name} must be an integer .*\d, got {value}\."):
        NGrams(**{name: value})


def test_the_optimum_of_other_sizes_is_sampled() -> None:
    assert NGrams().optimum == 131.89
    for task in (NGrams(length=40), NGrams(length=200, context=2)):
        batch = task.sample(3000, torch.Generator().manual_seed(7))
        costs = task.optimal_bits(batch)
        assert costs is not None
        assert task.optimum == pytest.approx(float(costs.mean()), rel=0.02)

from collections.abc import Callable, Iterator

import pytest
import torch
from benchmarks.engine.__main__ import MatrixProduct
from hypothesis import given
from hypothesis import strategies as st

from ntm.bench.timing import Quartiles, alternate, spread_of_ratios
from ntm.engine.machine import threads

times = st.floats(1e-6, 1e3)


def test_the_spread_of_known_values() -> None:
    assert Quartiles.of([5.0, 1.0, 3.0, 2.0, 4.0]) == Quartiles(3.0, 2.0, 4.0, 1.0, 5.0, rounds=5)
    assert Quartiles.of([7.0]) == Quartiles(7.0, 7.0, 7.0, 7.0, 7.0, rounds=1)


@given(st.lists(times, min_size=1, max_size=20))
def test_a_spread_is_ordered(values: list[float]) -> None:
    spread = Quartiles.of(values)
    ordered = (
        spread.lowest,
        spread.lower_quartile,
        spread.median,
        spread.upper_quartile,
        spread.highest,
    )
    assert list(ordered) == sorted(ordered)
    assert (spread.lowest, spread.highest) == (min(values), max(values))


def test_no_rounds_have_no_spread() -> None:
    with pytest.raises(ValueError, match="at least one round"):
        Quartiles.of([])


def test_a_moment_that_slows_both_leaves_their_ratio_alone() -> None:
    slow, quick = [20.0, 20.0, 60.0], [2.0, 2.0, 6.0]
    assert spread_of_ratios(slow, quick) == Quartiles(10.0, 10.0, 10.0, 10.0, 10.0, rounds=3)


def test_ratios_are_taken_round_by_round() -> None:
    assert spread_of_ratios([2.0, 9.0, 4.0], [1.0, 3.0, 1.0]).median == 3.0
    with pytest.raises(ValueError, match="zip"):
        spread_of_ratios([1.0], [1.0, 2.0])


class FakeTime:
    """A clock that only work moves."""

    def __init__(self) -> None:
        self.now, self.calls = 0.0, []

    def __call__(self) -> float:
        return self.now

    def work(self, name: str, seconds: Iterator[float] | float) -> Callable[[int], None]:
        def do(number: int) -> None:
            self.calls.append((name, number))
            self.now += seconds if isinstance(seconds, float) else next(seconds)

        return do


def test_contestants_take_turns_and_the_quick_one_repeats() -> None:
    clock = FakeTime()
    contestants = {"quick": clock.work("quick", 0.25), "slow": clock.work("slow", 3.0)}
    seconds = alternate(contestants, rounds=3, slice_seconds=1.0, clock=clock)
    assert seconds == {"quick": [0.25] * 3, "slow": [3.0] * 3}
    warm_up = [("quick", 0)] * 2 + [("slow", 0)]
    rounds = [
        *([("quick", 0)] * 4 + [("slow", 0)]),
        *([("slow", 1)] + [("quick", 1)] * 4),
        *([("quick", 2)] * 4 + [("slow", 2)]),
    ]
    assert clock.calls == warm_up + rounds


def test_every_round_has_its_own_time() -> None:
    clock = FakeTime()
    warm_up, rounds = [1.0], [2.0, 3.0, 5.0]
    work = clock.work("one", iter(warm_up + rounds))
    assert alternate({"one": work}, 3, slice_seconds=0.5, clock=clock) == {"one": rounds}


def test_the_number_of_threads_comes_back_even_after_an_error() -> None:
    before = torch.get_num_threads()

    def fail() -> None:
        with threads(before + 1):
            assert torch.get_num_threads() == before + 1
            raise LookupError

    with pytest.raises(LookupError):
        fail()
    assert torch.get_num_threads() == before


def test_a_product_counts_a_multiplication_and_an_addition_per_term() -> None:
    assert MatrixProduct(3).flops == 2 * 3 * 3 * 3

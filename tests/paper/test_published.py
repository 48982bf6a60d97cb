"""The paper's numbers, as its figures show them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ntm.common.text import bits_text
from ntm.evaluation.curves import first_below
from ntm.paper import published
from ntm.runs import block_generator
from ntm.tasks import NGrams


def reading(found: published.Reading | None) -> published.Reading:
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("task", "costs"),
    [
        ("copy", (0.000, 0.000, 0.49)),
        ("repeat-copy", (0.19, 0.00, 0.00)),
        ("associative-recall", (0.002, 0.04, 0.90)),
        ("ngrams", (1.75, 1.92, 4.06)),
        ("priority-sort", (20.3, 18.1, 56.6)),
    ],
)
def test_costs_at_the_end(task: str, costs: tuple[float, ...]) -> None:
    for model, bits in zip(("ntm-ff", "ntm-lstm", "lstm"), costs, strict=True):
        assert reading(published.final_cost(task, model)).bits == pytest.approx(
            bits, rel=0.01, abs=0.005
        )


def test_costs_on_the_way() -> None:
    assert reading(published.cost_at("repeat-copy", "lstm", 95_000)).bits == pytest.approx(
        18.7, abs=0.3
    )
    assert reading(published.cost_at("ngrams", "lstm", 95_000)).bits == pytest.approx(
        137.1 - 131.6, abs=0.2
    )
    assert str(published.cost_at("copy", "lstm", 20_000)) == "above 10.00"
    assert not reading(published.cost_at("copy", "lstm", 100_000)).beyond
    assert not reading(published.cost_at("repeat-copy", "lstm", 1)).beyond


def test_sequences_needed() -> None:
    assert published.sequences_needed("copy", "ntm-lstm", 0.01, 1000) == 26_000
    assert published.sequences_needed("priority-sort", "lstm", 15.0, 1000) is None


def test_recall_of_more_items() -> None:
    task = "associative-recall"
    assert published.cost_of_case(task, "ntm-ff", {"items": 15}) == published.Reading(1.47)
    assert published.cost_of_case(task, "ntm-ff", {"items": 8}) is None
    assert published.cost_of_case("copy", "ntm-ff", {"length": 120}) is None


def test_the_paper_says_nothing_of_other_tasks() -> None:
    assert published.paper_curves("reverse") == published.paper_costs("reverse") == {}
    assert published.final_cost("reverse", "ntm-ff") is None
    assert published.cost_at("reverse", "ntm-ff", 1000) is None
    assert published.sequences_needed("reverse", "ntm-ff", 1.0, 1000) is None


def slow_first_below(points: list[tuple[int, float]], threshold: float, window: int) -> int | None:
    """Sequence by sequence: each costs what its point says."""
    each: list[float] = []
    for sequences, bits in points:
        each += [bits] * (sequences - len(each))
        if len(each) >= window and sum(each[-window:]) / window < threshold:
            return sequences
    return None


@given(
    steps=st.lists(st.tuples(st.integers(1, 9), st.integers(0, 8)), min_size=1, max_size=12),
    window=st.integers(1, 7),
)
def test_first_below_is_what_it_says(steps: list[tuple[int, int]], window: int) -> None:
    x = np.cumsum([width for width, _ in steps])
    bits = np.array([float(height) for _, height in steps])
    points = list(zip(x.tolist(), bits.tolist(), strict=True))
    # Half a bit off every possible mean, so that no rounding decides.
    threshold = 4 + 1 / 1000
    expected = slow_first_below(points, threshold, window)
    assert first_below(x.astype(float), bits, threshold, window) == expected


def test_the_optimum_of_ngrams_is_what_sequences_cost_at_best() -> None:
    bits = NGrams().optimal_bits(NGrams().sample(4000, block_generator("optimum", 1)))
    error = float(bits.std()) / 4000**0.5
    assert abs(float(bits.mean()) - NGrams().optimum) < 4 * error


@pytest.mark.parametrize(
    ("bits", "text"), [(0.00012, "0.0001"), (0.5, "0.5000"), (1.234, "1.23"), (1234.56, "1234.6")]
)
def test_costs_have_as_many_digits_as_they_deserve(bits: float, text: str) -> None:
    assert bits_text(bits) == text

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.hand_made import LOCATIONS, NOWHERE, addressed, performed, sample, still

from ntm.evaluation.weightings import (
    MODES,
    Track,
    at_steps,
    cosine,
    displacement,
    equal,
    mean,
    modes,
)
from ntm.layer import NTM
from ntm.tasks import Copy
from ntm.trace import Trace


def network_trace(seed: int, shifts: tuple[int, ...] = (-1, 0, 1)) -> Trace:
    torch.manual_seed(seed)
    net = NTM(
        3, 2, controller_size=5, memory_locations=7, memory_width=3, read_heads=2, write_heads=3,
        shifts=shifts, start_memory="random",
    )  # fmt: skip
    with torch.no_grad():
        # Untrained heads ask for nothing in particular; these ask for all kinds of things.
        net.cell.heads.linear.weight *= 8
    return net.trace(torch.randn(11, 5, 3))


def mode_one_by_one(trace: Trace, kind: str, t: int, b: int, h: int) -> str:
    """Follow every bit of weight that arrives at the head's location back to where it was."""
    place = getattr(trace, f"{kind}_weightings")[t, b, h].argmax()
    gate = getattr(trace, f"{kind}_gates")[t, b, h]
    by_content, by_previous = {}, {}
    for number, shift in enumerate(trace.shifts):
        share = getattr(trace, f"{kind}_shifts")[t, b, h, number]
        origin = (place - shift) % 7
        content = gate * getattr(trace, f"{kind}_content")[t, b, h, origin]
        by_content[shift] = share * content
        by_previous[shift] = share * (getattr(trace, f"{kind}_gated")[t, b, h, origin] - content)
    if sum(by_content.values()) <= sum(by_previous.values()):
        return "shift"
    return "content" if max(by_content, key=lambda s: by_content[s]) == 0 else "content then shift"


@pytest.mark.parametrize("kind", ["read", "write"])
@pytest.mark.parametrize("shifts", [(-1, 0, 1), (2, 0)])
def test_modes_follow_the_weight_back(kind: str, shifts: tuple[int, ...]) -> None:
    seen = set()
    for seed in range(4):
        trace = network_trace(seed, shifts)
        for (t, b, h), mode in np.ndenumerate(modes(trace, kind)):  # type: ignore[arg-type]
            assert MODES[mode] == mode_one_by_one(trace, kind, t, b, h)
            seen.add(mode)
    assert seen == {0, 1, 2}


@pytest.mark.parametrize(
    ("match", "place", "mode"),
    [(5, 5, "content"), (5, 6, "content then shift"), (5, 4, "content then shift"),
     (NOWHERE, 1, "shift"), (NOWHERE, 0, "shift")],
)  # fmt: skip
def test_the_three_modes_of_the_paper(match: int, place: int, mode: str) -> None:
    task = Copy(bits=2, min_length=2, max_length=2)
    batch = sample(task, 1)
    moves = still(batch)
    moves.read[3], moves.match[3] = place, match
    followed = Track(performed(task, batch, moves).trace, "read", 0)
    assert MODES[followed.mode[3, 0]] == mode
    assert followed.place[3, 0] == place
    assert followed.focus[3, 0] == 1
    if match != NOWHERE:
        assert followed.match[3, 0] == match


def test_hand_made_addressing_is_consistent() -> None:
    places = np.array([[3], [4], [4], [3]])
    chain = addressed(places, np.array([[NOWHERE], [NOWHERE], [4], [4]]), LOCATIONS)
    for t in range(4):
        moved = sum(
            share * np.roll(chain["gated"][t, 0], shift)
            for share, shift in zip(chain["shifts"][t, 0], (-1, 0, 1), strict=True)
        )
        np.testing.assert_array_equal(moved, chain["shifted"][t, 0])


@given(st.integers(0, 10), st.integers(0, 10), st.integers(1, 3))
def test_displacement_is_the_shortest_way_round(start: int, end: int, turns: int) -> None:
    way = displacement(np.array(float(start)), np.array(float(end + 11 * turns)), 11)
    assert (start + way) % 11 == end
    assert abs(way) <= 5


def test_at_steps_takes_one_step_of_every_sequence() -> None:
    values = np.arange(24).reshape(4, 3, 2)
    taken = at_steps(values, np.array([[0, 3, -1], [1, 1, 2]]))
    assert taken.shape == (2, 3, 2)
    np.testing.assert_array_equal(taken[0, 1], values[3, 1])
    np.testing.assert_array_equal(taken[1, 2], values[2, 2])
    assert np.isnan(taken[0, 2]).all()


def test_what_is_unknown_does_not_count() -> None:
    hits = equal(np.array([1.0, 2.0, np.nan, 4.0]), np.array([1.0, 3.0, 3.0, np.nan]))
    np.testing.assert_array_equal(hits, [1, 0, np.nan, np.nan])
    assert mean(hits) == 0.5
    assert mean(np.array([np.nan])) == 0


def test_cosine() -> None:
    first, second = np.array([[1.0, 1.0], [0.0, 0.0]]), np.array([[2.0, 0.0], [1.0, 0.0]])
    np.testing.assert_allclose(cosine(first, second), [np.sqrt(0.5), 0])

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from ntm.addressing import (
    Addressing,
    Focus,
    address,
    cosine_similarity,
    focus_by_content,
    interpolate,
    rotate,
    sharpen,
    shift_from_logits,
    shift_from_scalar,
)

from . import slow_reference as slow
from .slow_reference import (
    assert_agrees,
    assert_distribution,
    distributions,
    randn,
    reals,
    some_examples,
)

BATCH, HEADS, N, M = 2, 3, 7, 5
SHIFTS = (2, -1, 0, 4)

memories = reals(BATCH, N, M)
keys = reals(BATCH, HEADS, M)
weightings = distributions(BATCH, HEADS, N)
gates = reals(BATCH, HEADS, low=0, high=1)
strengths = reals(BATCH, HEADS, low=0, high=50)
sharpnesses = reals(BATCH, HEADS, low=1, high=20)
shift_sets = st.lists(st.integers(-2 * N, 2 * N), min_size=1, max_size=5, unique=True)
# A location, allowed shifts, and which of them is taken.
moves = shift_sets.flatmap(
    lambda shifts: st.tuples(
        st.integers(0, N - 1), st.just(shifts), st.integers(0, len(shifts) - 1)
    )
)
Move = tuple[int, list[int], int]
EACH_HEAD = [(b, h) for b in range(BATCH) for h in range(HEADS)]


def one_hot(location: int, size: int = N, dtype: torch.dtype = torch.float64) -> Tensor:
    """The weighting or shift of one head of one sequence, all of it in one place."""
    return torch.nn.functional.one_hot(torch.tensor([[location]]), size).to(dtype)


def scalar(value: float) -> Tensor:
    """A strength, gate or sharpness of one head of one sequence."""
    return torch.tensor([[value]], dtype=torch.float64)


def focus_on(key: Tensor, shift: Tensor, **changes: float) -> Focus:
    """One head of one sequence: by content with gate 1, by location with gate 0."""
    values = {"strength": 50.0, "gate": 1.0, "sharpness": 1.0} | changes
    return Focus(key=key, shift=shift, **{name: scalar(value) for name, value in values.items()})


@some_examples
@given(keys, memories)
def test_cosine_similarity_is_equation_6(key: Tensor, memory: Tensor) -> None:
    rows = memory.tolist()
    expected = [
        [slow.cosine_similarity(key[b, h].tolist(), row) for row in rows[b]] for b, h in EACH_HEAD
    ]
    similarity = cosine_similarity(key, memory)
    assert_agrees(similarity, expected)
    assert (similarity.abs() <= 1 + 1e-12).all()


def test_similarity_tells_direction_and_not_length() -> None:
    memory = torch.tensor([[[3.0, 4.0], [-30, -40], [-4, 3], [0, 0]]])
    similarity = cosine_similarity(torch.tensor([[[6.0, 8.0]]]), memory)
    torch.testing.assert_close(similarity, torch.tensor([[[1.0, -1, 0, 0]]]))


@some_examples
@given(keys, memories, strengths)
def test_focus_by_content_is_equation_5(key: Tensor, memory: Tensor, strength: Tensor) -> None:
    rows = memory.tolist()
    expected = [
        slow.focus_by_content(rows[b], key[b, h].tolist(), float(strength[b, h]))
        for b, h in EACH_HEAD
    ]
    content = focus_by_content(cosine_similarity(key, memory), strength)
    assert_agrees(content, expected)
    assert_distribution(content)


@some_examples
@given(weightings, weightings, gates)
def test_interpolation_is_equation_7(content: Tensor, previous: Tensor, gate: Tensor) -> None:
    expected = [
        slow.interpolate(content[b, h].tolist(), previous[b, h].tolist(), float(gate[b, h]))
        for b, h in EACH_HEAD
    ]
    gated = interpolate(content, previous, gate)
    assert_agrees(gated, expected)
    assert_distribution(gated)


@some_examples
@given(weightings, shift_sets, st.data())
def test_rotation_is_equation_8(weighting: Tensor, shifts: list[int], data: st.DataObject) -> None:
    shift = data.draw(distributions(BATCH, HEADS, len(shifts)))
    expected = [
        slow.rotate(weighting[b, h].tolist(), shift[b, h].tolist(), shifts) for b, h in EACH_HEAD
    ]
    rotated = rotate(weighting, shift, shifts)
    assert_agrees(rotated, expected)
    assert_distribution(rotated)


@some_examples
@given(weightings, sharpnesses)
def test_sharpening_is_equation_9(weighting: Tensor, sharpness: Tensor) -> None:
    expected = [
        slow.sharpen(weighting[b, h].tolist(), float(sharpness[b, h])) for b, h in EACH_HEAD
    ]
    sharpened = sharpen(weighting, sharpness)
    assert_agrees(sharpened, expected)
    assert_distribution(sharpened)


@some_examples
@given(weightings, sharpnesses)
def test_sharpening_favours_the_likeliest_and_keeps_the_order(
    weighting: Tensor, sharpness: Tensor
) -> None:
    sharpened = sharpen(weighting, sharpness)
    assert (sharpened.amax(2) >= weighting.amax(2) - 1e-12).all()
    order = weighting.argsort(2)
    assert (sharpened.gather(2, order).diff(dim=2) >= -1e-12).all()
    torch.testing.assert_close(sharpen(weighting, torch.ones(BATCH, HEADS)), weighting)


@some_examples
@given(moves)
def test_a_one_hot_shift_moves_the_mass_to_the_stated_row(move: Move) -> None:
    location, shifts, chosen = move
    rotated = rotate(one_hot(location), one_hot(chosen, len(shifts)), shifts)
    assert torch.equal(rotated, one_hot((location + shifts[chosen]) % N))


@pytest.mark.parametrize(
    ("location", "offset", "arrives"), [(2, 1, 3), (2, -1, 1), (N - 1, 1, 0), (0, -1, N - 1)]
)
def test_shifts_go_both_ways_and_around_the_ends(location: int, offset: int, arrives: int) -> None:
    shift = one_hot((-1, 0, 1).index(offset), 3)
    assert int(rotate(one_hot(location), shift, (-1, 0, 1)).argmax()) == arrives


def test_a_soft_shift_blurs_a_point_over_its_neighbours() -> None:
    shift = torch.tensor([[[0.1, 0.8, 0.1]]], dtype=torch.float64)
    blurred = rotate(one_hot(0), shift, (-1, 0, 1))
    assert_agrees(blurred, [0.8, 0.1, 0, 0, 0, 0, 0.1])


def test_the_scalar_shift_of_the_papers_example() -> None:
    shift = shift_from_scalar(torch.tensor([6.7], dtype=torch.float64), range(9))
    assert_agrees(shift, [0, 0, 0, 0, 0, 0, 0.3, 0.7, 0])


def test_the_slope_of_a_scalar_shift_at_a_shift_reaches_both_neighbours() -> None:
    scalar = torch.tensor([0.0], requires_grad=True)
    shift = shift_from_scalar(scalar, (-2, -1, 0, 1, 2))
    slopes = [torch.autograd.grad(weight, scalar, retain_graph=True)[0].item() for weight in shift]
    assert slopes == [0, -1, 0, 1, 0]


@some_examples
@given(st.integers(-9, 9), st.integers(2, 7), st.floats(0, 1))
def test_a_scalar_shift_is_a_distribution_with_the_scalar_as_its_mean(
    first: int, count: int, fraction: float
) -> None:
    shifts = range(first, first + count)
    value = first + (count - 1) * fraction
    shift = shift_from_scalar(torch.tensor([value], dtype=torch.float64), shifts)
    assert_agrees(shift, slow.shift_from_scalar(value, shifts))
    assert_distribution(shift)
    mean = (shift * torch.tensor(shifts)).sum()
    torch.testing.assert_close(mean, torch.tensor(value, dtype=torch.float64))
    assert int((shift > 0).sum()) <= 2


@some_examples
@given(reals(BATCH, HEADS, 4, low=-1e3, high=1e3))
def test_softmax_shifts_are_a_distribution(logits: Tensor) -> None:
    shift = shift_from_logits(logits)
    assert_agrees(shift, [slow.softmax(logits[b, h].tolist()) for b, h in EACH_HEAD])
    assert_distribution(shift)


@some_examples
@given(
    st.builds(
        Focus,
        key=keys,
        strength=strengths,
        gate=gates,
        shift=distributions(BATCH, HEADS, len(SHIFTS)),
        sharpness=sharpnesses,
    ),
    memories,
    weightings,
)
def test_the_whole_chain_is_figure_2(focus: Focus, memory: Tensor, previous: Tensor) -> None:
    addressing = address(focus, memory, previous, SHIFTS)
    for b, h in EACH_HEAD:
        head = slow.Head(*(part[b, h].tolist() for part in focus), erase=[], add=[])
        expected = slow.address(head, memory[b].tolist(), previous[b, h].tolist(), SHIFTS)
        for name, weighting, wanted in zip(Addressing._fields, addressing, expected, strict=True):
            assert len(wanted) == N, name
            assert_agrees(weighting[b, h], wanted)
    for weighting in addressing:
        assert_distribution(weighting)


@some_examples
@given(memories, memories, weightings, weightings)
def test_claim_gate_zero_ignores_content_and_gate_one_ignores_the_past(
    memory: Tensor, other_memory: Tensor, previous: Tensor, other_previous: Tensor
) -> None:
    generic = Focus(
        key=randn(BATCH, HEADS, M),
        strength=randn(BATCH, HEADS).exp(),
        gate=torch.zeros(BATCH, HEADS, dtype=torch.float64),
        shift=randn(BATCH, HEADS, len(SHIFTS)).softmax(2),
        sharpness=1 + randn(BATCH, HEADS).exp(),
    )
    by_location = address(generic, memory, previous, SHIFTS)
    assert torch.equal(by_location.gated, previous)
    elsewhere = address(generic, other_memory, previous, SHIFTS)
    assert torch.equal(by_location.weighting, elsewhere.weighting)
    open_gate = generic._replace(gate=torch.ones(BATCH, HEADS, dtype=torch.float64))
    by_content = address(open_gate, memory, previous, SHIFTS)
    assert torch.equal(by_content.gated, by_content.content)
    afterwards = address(open_gate, memory, other_previous, SHIFTS)
    assert torch.equal(by_content.weighting, afterwards.weighting)


@some_examples
@given(moves)
def test_claim_a_chain_of_one_hot_shifts_iterates_through_the_memory(move: Move) -> None:
    start, shifts, chosen = move
    shift = one_hot(chosen, len(shifts))
    focus = focus_on(randn(1, 1, M), shift, gate=0, sharpness=2)
    weighting = one_hot(start)
    for step in range(1, N + 3):
        weighting = address(focus, randn(1, N, M), weighting, shifts).weighting
        expected = one_hot((start + step * shifts[chosen]) % N)
        torch.testing.assert_close(weighting, expected, rtol=0, atol=1e-12)


@some_examples
@given(st.integers(0, N - 1), st.sampled_from((-1, 0, 1)))
def test_claim_content_and_shift_land_next_to_the_found_location(found: int, offset: int) -> None:
    memory = torch.eye(N, dtype=torch.float64).unsqueeze(0)
    shift = one_hot(offset + 1, 3)
    focus = focus_on(memory[:, found : found + 1] * 0.3, shift)
    # Far from everything the key could find, so that an effect of the past would show.
    past = one_hot((found + 3) % N)
    addressing = address(focus, memory, past, (-1, 0, 1))
    assert int(addressing.content.argmax()) == found
    torch.testing.assert_close(addressing.weighting, one_hot((found + offset) % N))


@some_examples
@given(weightings, memories, st.integers(1, N - 1))
def test_rotating_the_memory_rotates_the_addressing(
    previous: Tensor, memory: Tensor, by: int
) -> None:
    focus = Focus(
        key=randn(BATCH, HEADS, M),
        strength=randn(BATCH, HEADS).exp(),
        gate=randn(BATCH, HEADS).sigmoid(),
        shift=randn(BATCH, HEADS, len(SHIFTS)).softmax(2),
        sharpness=1 + randn(BATCH, HEADS).exp(),
    )
    here = address(focus, memory, previous, SHIFTS)
    there = address(focus, memory.roll(by, 1), previous.roll(by, 2), SHIFTS)
    for weighting, rotated in zip(here, there, strict=True):
        torch.testing.assert_close(rotated, weighting.roll(by, 2))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("sharpness", [1.0, 1e3])
@pytest.mark.parametrize("strength", [0.0, 1e4])
@pytest.mark.parametrize("gate", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("empty", ["row", "key", "memory", "both"])
def test_extremes_leave_values_and_gradients_finite(
    dtype: torch.dtype, sharpness: float, strength: float, gate: float, empty: str
) -> None:
    memory, key = randn(1, N, M), randn(1, 1, M)
    memory[0, 3] = 0
    if empty in {"memory", "both"}:
        memory.zero_()
    if empty in {"key", "both"}:
        key.zero_()
    focus = focus_on(key, one_hot(2, 3), strength=strength, gate=gate, sharpness=sharpness)
    leaves = [part.to(dtype).requires_grad_() for part in (*focus, memory, one_hot(4))]
    *parts, memory, previous = leaves
    addressing = address(Focus(*parts), memory, previous, (-1, 0, 1))
    for name, weighting in addressing._asdict().items():
        assert weighting.isfinite().all(), name
        assert_distribution(weighting)
    loss = (addressing.weighting * randn(1, 1, N).to(dtype)).sum()
    names = (*Focus._fields, "memory", "previous")
    for name, gradient in zip(names, torch.autograd.grad(loss, leaves), strict=True):
        assert gradient.isfinite().all(), name


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_an_extreme_sharpness_picks_one_location_from_near_ties(dtype: torch.dtype) -> None:
    weighting = torch.tensor([[[0.2, 0.21, 0.19, 0.2, 0.2, 0.0, 0.0]]], dtype=dtype)
    sharpened = sharpen(weighting, torch.tensor([[1e3]], dtype=dtype))
    torch.testing.assert_close(sharpened, one_hot(1, dtype=dtype))
    halves = torch.tensor([[[0.5, 0.0, 0.5]]], dtype=dtype)
    torch.testing.assert_close(sharpen(halves, torch.tensor([[1e3]], dtype=dtype)), halves)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_an_extreme_strength_picks_the_most_similar_row(dtype: torch.dtype) -> None:
    angles = torch.arange(N, dtype=dtype) * (math.pi / N)
    memory = torch.stack([angles.cos(), angles.sin()], dim=1).unsqueeze(0)
    similarity = cosine_similarity(memory[:, 2:3], memory)
    content = focus_by_content(similarity, torch.tensor([[1e4]], dtype=dtype))
    torch.testing.assert_close(content, one_hot(2, dtype=dtype))

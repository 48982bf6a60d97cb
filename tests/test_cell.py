import io

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from ntm import NTM, State, Weightings
from ntm.addressing import cosine_similarity, focus_by_content

from . import slow_reference as slow
from .slow_reference import (
    OPTIONS,
    as_lists,
    assert_agrees,
    assert_distribution,
    few_examples,
    make_net,
    of_sequence,
    randn,
    reals,
)

BATCH = 2
every_option = pytest.mark.parametrize("option", OPTIONS)


def random_state(net: NTM, batch_size: int = BATCH) -> State:
    """A state that differs between sequences, locations and heads."""
    start = net.initial_state(batch_size)
    values = [randn(*tensor.shape, seed=seed) for seed, tensor in enumerate(start)]
    state = State(*values)
    return state._replace(
        read_weightings=state.read_weightings.softmax(2),
        write_weightings=state.write_weightings.softmax(2),
    )


@every_option
@few_examples
@given(x=reals(BATCH, slow.SIZES["input_size"]))
def test_a_step_is_the_slow_step(option: str, x: Tensor) -> None:
    net = make_net(option)
    state = random_state(net)
    step, after = net.cell(x, state)
    weights = as_lists(net.cell.state_dict())
    for b in range(BATCH):
        before = of_sequence(state, b)
        output, expected = slow.cell_step(net.config, weights, x[b].tolist(), before)
        assert_agrees(step.output[b], output)
        for actual, wanted in zip(after, expected, strict=True):
            assert_agrees(actual[b], wanted)


@every_option
def test_every_link_of_every_head_is_a_distribution(option: str) -> None:
    net = make_net(option)
    state = random_state(net)
    for x in randn(5, BATCH, 3):
        step, state = net.cell(x, state)
        for weighting in (*step.read, *step.write):
            assert_distribution(weighting)
        assert state.read_weightings is step.read.weighting
        assert state.write_weightings is step.write.weighting


def test_writing_comes_before_reading() -> None:
    net = make_net("more-write-heads")
    before = random_state(net)
    step, after = net.cell(randn(BATCH, 3), before)
    assert not torch.equal(after.memory, before.memory)
    torch.testing.assert_close(after.reads, after.read_weightings @ after.memory)
    heads = step.parameters
    for addressing, focus, memory in (
        (step.write, heads.write, before.memory),
        (step.read, heads.read, after.memory),
    ):
        similarity = cosine_similarity(focus.key, memory)
        expected = focus_by_content(similarity, focus.strength)
        torch.testing.assert_close(addressing.content, expected)


def test_the_output_sees_this_steps_reads() -> None:
    net = make_net()
    x, state = randn(BATCH, 3), random_state(net)
    step, after = net.cell(x, state)
    features = torch.cat([step.hidden, after.reads.flatten(1)], dim=1)
    torch.testing.assert_close(step.output, net.cell.output(features))


@every_option
@few_examples
@given(by=st.integers(1, slow.SIZES["memory_locations"] - 1))
def test_no_location_is_special(option: str, by: int) -> None:
    """Rotating the memory and all weightings rotates what follows, and changes no output."""
    net = make_net(option)
    x, state = randn(BATCH, 3), random_state(net)
    rotated = state._replace(
        memory=state.memory.roll(by, 1),
        read_weightings=state.read_weightings.roll(by, 2),
        write_weightings=state.write_weightings.roll(by, 2),
    )
    step, after = net.cell(x, state)
    rotated_step, rotated_after = net.cell(x, rotated)
    torch.testing.assert_close(rotated_step.output, step.output)
    torch.testing.assert_close(rotated_after.memory, after.memory.roll(by, 1))
    torch.testing.assert_close(rotated_after.read_weightings, after.read_weightings.roll(by, 2))
    torch.testing.assert_close(rotated_after.write_weightings, after.write_weightings.roll(by, 2))


def test_a_detached_state_has_the_values_and_no_history() -> None:
    net = make_net("lstm")
    _, state = net.cell(randn(BATCH, 3), net.initial_state(BATCH))
    assert all(tensor.requires_grad for tensor in state)
    detached = state.detach()
    assert isinstance(detached, State)
    for tensor, original in zip(detached, state, strict=True):
        assert not tensor.requires_grad
        assert torch.equal(tensor, original)


def test_a_saved_state_is_loaded_without_unpickling_code() -> None:
    state, file = random_state(make_net("defaults")), io.BytesIO()
    torch.save(state, file)
    file.seek(0)
    again = torch.load(file, weights_only=True)
    assert type(again) is State
    assert all(map(torch.equal, again, state))


def test_saved_weightings_are_loaded_without_unpickling_code() -> None:
    *_, weightings = make_net("defaults")(randn(5, BATCH, 3), return_weightings=True)
    file = io.BytesIO()
    torch.save(Weightings(*(part.detach() for part in weightings)), file)
    file.seek(0)
    again = torch.load(file, weights_only=True)
    assert type(again) is Weightings
    assert all(map(torch.equal, again, weightings))

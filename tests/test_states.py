"""A state is a value that people cut, copy and write to: the NTM's on both engines, the LSTM's."""

import copy
import io

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_map

from ntm import NTM, LSTMBaseline, State
from ntm.models.lstm import LSTMState

from .slow_reference import SIZES, make_net, randn

BATCH, STEPS = 4, 3
NETWORKS = {
    f"{option} {engine}": (option, engine)
    for option in ("defaults", "two-lstm-layers")
    for engine in ("native", "reference")
}
AnyState = State | LSTMState
every_network = pytest.mark.parametrize("name", [*NETWORKS, "baseline"])


def network(name: str) -> NTM | LSTMBaseline:
    if name in NETWORKS:
        return make_net(*NETWORKS[name])
    torch.manual_seed(7)
    return LSTMBaseline(SIZES["input_size"], SIZES["output_size"], 5, 2, dtype=torch.float64)


def ran(net: nn.Module) -> tuple[Tensor, AnyState]:
    """A call, whose final state differs between sequences."""
    logits, state = net(randn(STEPS, BATCH, SIZES["input_size"], seed=3))
    return logits, state


def assert_equal(ours: object, theirs: object) -> None:
    torch.testing.assert_close(ours, theirs, rtol=0, atol=0)


def weights(net: nn.Module) -> dict[str, Tensor]:
    return {name: tensor.clone() for name, tensor in net.state_dict().items()}


# Writing


@every_network
def test_writing_to_a_start_changes_neither_weights_nor_other_sequences(name: str) -> None:
    net = network(name)
    before, other = weights(net), net.initial_state(2)
    for start in (net.initial_state(2).detach(), net.initial_state(2)):
        for part, kept in zip(start, other, strict=True):
            part[0] = 7.0
            assert torch.equal(part[0], torch.full_like(part[0], 7.0))
            assert torch.equal(part[1], kept[1])
    assert_equal(dict(net.state_dict()), before)


@every_network
def test_writing_to_a_final_state_changes_no_weights(name: str) -> None:
    net = network(name)
    before = weights(net)
    x = randn(STEPS, 2, SIZES["input_size"])
    for lengths in (None, [0, STEPS], [0, 0]):
        for part in net(x, lengths=lengths)[1].detach():
            part.fill_(7.0)
    assert_equal(dict(net.state_dict()), before)


@every_network
def test_gradients_reach_the_learned_start_through_what_was_not_written(name: str) -> None:
    net = network(name)
    start = net.initial_state(3)
    start[0][:2] = 0.0
    start[0].sum().backward()
    first = net.start.memory if isinstance(net, NTM) else net.start_hidden
    assert torch.equal(first.grad, torch.ones_like(first))  # of the third sequence alone


@every_network
def test_a_start_that_was_written_to_is_run(name: str) -> None:
    net = network(name)
    x = randn(STEPS, 2, SIZES["input_size"])
    start = net.initial_state(2)
    assert_equal(net(x, start), net(x))
    start[0][0] += 1.0
    logits = net(x, start)[0]
    assert not torch.allclose(logits[:, 0], net(x)[0][:, 0])
    torch.testing.assert_close(logits[:, 1], net(x)[0][:, 1])


# Copies


@every_network
def test_a_clone_is_a_copy_with_its_history(name: str) -> None:
    _, state = ran(network(name))
    twin = state.clone()
    assert type(twin) is type(state)
    assert_equal(twin, state)
    assert twin[0].requires_grad
    kept = state.detach().clone()
    twin[0].detach().fill_(9.0)
    assert_equal(state.detach(), kept)


@every_network
def test_a_state_comes_to_the_cpu(name: str) -> None:
    _, state = ran(network(name))
    assert_equal(state.cpu(), state)
    assert {part.device.type for part in state.to("meta")} == {"meta"}


# Choosing sequences


CHOICES = {
    "a slice": slice(1, 3),
    "an open slice": slice(None, None, 2),
    "nothing": slice(2, 2),
    "a mask": torch.tensor([True, False, False, True]),
    "a list of flags": [False, True, True, False],
    "an array of flags": np.array([True, True, False, False]),
    "numbers": torch.tensor([3, 0, 0]),
    "small numbers": torch.tensor([3, 0], dtype=torch.int8),
    "a list of numbers": [2, -1],
    "an empty list": [],
    "an array of numbers": np.array([1, 2]),
    "a range": range(2),
}


@every_network
@pytest.mark.parametrize("choice", CHOICES)
def test_sequences_are_chosen_from_a_batch(name: str, choice: str) -> None:
    _, state = ran(network(name))
    chosen = CHOICES[choice]
    numbers = np.arange(BATCH)[np.asarray(chosen, int) if choice == "an empty list" else chosen]
    found = state[chosen]
    assert type(found) is type(state)
    for part, whole in zip(found, state, strict=True):
        assert_equal(part, torch.stack([whole[i] for i in numbers]) if len(numbers) else whole[:0])


@every_network
def test_chosen_sequences_go_on_as_in_the_batch(name: str) -> None:
    net = network(name)
    _, state = ran(net)
    x, mask = randn(STEPS, BATCH, SIZES["input_size"]), torch.tensor([True, False, True, False])
    logits, final = net(x[:, mask], state[mask])
    whole, whole_final = net(x, state)
    torch.testing.assert_close(logits, whole[:, mask])
    torch.testing.assert_close(final, whole_final[mask])
    logits.sum().backward()
    assert all(p.grad is not None for p in net.parameters())


@every_network
def test_an_integer_is_the_number_of_a_part(name: str) -> None:
    _, state = ran(network(name))
    for index in (0, -1, np.int64(1), torch.tensor(1)):
        assert state[index] is tuple(state)[int(index)]
    with pytest.raises(IndexError, match="out of range"):
        state[6]


WRONG = {
    "a fraction": [0.5],
    "two axes": torch.zeros(2, 2, dtype=torch.int64),
    "a name": "memory",
    "a pair": (0, 1),
    "nothing": None,
    "bytes": torch.zeros(BATCH, dtype=torch.uint8),
    "ragged": [[1], [1, 2]],
}


@pytest.mark.parametrize("name", WRONG)
def test_other_choices_are_refused_in_a_sentence(name: str) -> None:
    _, state = ran(network("baseline"))
    with pytest.raises(IndexError, match=r"^Choose sequences of a state by .*; got .*\.$") as told:
        state[WRONG[name]]
    got = str(told.value).rpartition("; got ")[2]
    assert got.startswith("torch.") or got == f"{WRONG[name]!r}."


def test_a_choice_beyond_the_batch_is_refused() -> None:
    _, state = ran(network("baseline"))
    with pytest.raises(IndexError, match=r"^A mask of this state must be \(4,\), got \(3,\)\.$"):
        state[[True, False, True]]
    with pytest.raises(IndexError, match="out of bounds"):
        state[[4]]


def test_the_state_of_one_sequence_has_no_batch_to_choose_from() -> None:
    for name in ("defaults native", "baseline"):
        _, state = network(name)(randn(STEPS, SIZES["input_size"]))
        with pytest.raises(IndexError, match=r"^The state of one sequence has no batch axis"):
            state[:1]
        assert state[0].dim() == 2


# Beginning again


@every_network
def test_sequences_that_are_done_begin_again(name: str) -> None:
    net = network(name)
    _, state = ran(net)
    done = [True, False, False, True]
    for given in (done, torch.tensor(done), np.array(done)):
        found = type(state).where(given, net.initial_state(BATCH), state)
        assert type(found) is type(state)
        for part, new, old in zip(found, net.initial_state(BATCH), state, strict=True):
            expected = [(new if flag else old)[i] for i, flag in enumerate(done)]
            assert_equal(part, torch.stack(expected))


@every_network
def test_gradients_flow_into_what_was_taken(name: str) -> None:
    net = network(name)
    fresh, state = (net.initial_state(2).detach() for _ in range(2))
    for part in (*fresh, *state):
        part.requires_grad_()
    found = type(state).where([True, False], fresh, state)
    torch.cat([part.flatten() for part in found]).sum().backward()
    for new, old in zip(fresh, state, strict=True):
        for gradient, taken in ((new.grad, 0), (old.grad, 1)):
            expected = torch.zeros_like(gradient)
            expected[taken] = 1.0
            assert_equal(gradient, expected)


def test_a_wrong_beginning_is_refused_in_a_sentence() -> None:
    net = network("baseline")
    state, done = net.initial_state(2), [True, False]
    for flags in ([True], [1, 0], torch.ones(2), "ab", None, torch.ones(2, 1, dtype=torch.bool)):
        with pytest.raises(ValueError, match=r"^done must be .*, \(2,\) bool; got .*\.$"):
            LSTMState.where(flags, state, state)
    with pytest.raises(ValueError, match=r"^fresh\.hidden and state\.hidden .* the same shape"):
        LSTMState.where(done, net.initial_state(3), state)
    with pytest.raises(ValueError, match=r"^fresh\.hidden and state\.hidden .* one dtype"):
        LSTMState.where(done, state.to(torch.float32), state)
    with pytest.raises(TypeError, match=r"^state must be a LSTMState, got tuple\.$"):
        LSTMState.where(done, state, tuple(state))
    with pytest.raises(TypeError, match=r"^fresh must be a State, got LSTMState\.$"):
        State.where(done, state, state)


# What torch does with states


@every_network
def test_a_state_is_kept_by_pytrees_files_and_copies(name: str) -> None:
    _, state = ran(network(name))
    state = state.detach()
    file = io.BytesIO()
    torch.save(state[1:3], file)
    file.seek(0)
    for again in (torch.load(file), copy.deepcopy(state)[1:3], tree_map(torch.clone, state)[1:3]):
        assert type(again) is type(state)
        assert_equal(again, state[1:3])
        assert_equal(again, state.choose(slice(1, 3)))


class Restarting(nn.Module):
    """A network whose sequences begin again where they are done."""

    def __init__(self, net: nn.Module) -> None:
        super().__init__()
        self.net = net

    def forward(self, x: Tensor, state: AnyState, done: Tensor) -> tuple[Tensor, AnyState]:
        fresh = self.net.initial_state(BATCH)
        logits, state = self.net(x, type(state).where(done, fresh, state))
        return logits[:, 1:3], state.choose(slice(1, 3)).clone()


@pytest.mark.filterwarnings("ignore:The tensor attributes self.net.layers")  # of nn.LSTM itself
@pytest.mark.parametrize("name", ["defaults native", "baseline"])
def test_programs_may_choose_and_begin_again(name: str) -> None:
    module = Restarting(network(name))
    _, state = ran(module.net)
    x, done = randn(STEPS, BATCH, SIZES["input_size"]), torch.tensor([True, False, True, False])
    given = (x, state.detach(), done)
    program = torch.export.export(module, given)
    torch.testing.assert_close(program.module()(*given), module(*given))


@pytest.mark.filterwarnings("ignore:Dynamo detected a call to a `functools.lru_cache`")
def test_a_compiled_program_may_choose_and_begin_again() -> None:
    module = Restarting(network("defaults native"))
    _, state = ran(module.net)
    x, done = randn(STEPS, BATCH, SIZES["input_size"]), torch.tensor([True, False, True, False])
    given = (x, state.detach(), done)
    compiled = torch.compile(module, backend="eager", fullgraph=True)
    torch.testing.assert_close(compiled(*given), module(*given))

import copy
import dataclasses
import inspect
import itertools
import math
import re
from collections.abc import Callable, Sequence
from typing import get_args, get_type_hints

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.autograd import gradcheck
from torch.func import functional_call
from torch.nn.functional import binary_cross_entropy_with_logits

from ntm import NTM, LSTMBaseline, NTMConfig, State, Weightings
from ntm import engine as engines
from ntm.config import Initialisation

from . import slow_reference as slow
from .slow_reference import (
    ENGINES,
    OPTIONS,
    SIZES,
    as_lists,
    assert_agrees,
    make_net,
    of_sequence,
    randn,
)

INPUTS, OUTPUTS, N = SIZES["input_size"], SIZES["output_size"], SIZES["memory_locations"]
STEPS, BATCH = 5, 3

every_engine = pytest.mark.parametrize("engine", ENGINES)
every_option = pytest.mark.parametrize("option", OPTIONS)
both_precisions = pytest.mark.parametrize("dtype", [torch.float32, torch.float64])


def random_state(net: NTM, batch_size: int) -> State:
    """A state that differs between sequences, as if each had already run for a while."""
    _, state = net(randn(4, batch_size, INPUTS, seed=3))
    return state.detach()


def loss_of(logits: Tensor, state: State) -> Tensor:
    """A number to which every output and every part of the final state contributes."""
    parts = [tensor for tensor in (logits, *state) if tensor.numel()]
    return sum((part * randn(*part.shape).to(part.dtype)).sum() for part in parts)


def attention_of(weightings: Weightings) -> Tensor:
    """A number to which every weighting contributes."""
    return sum((part * randn(*part.shape).to(part.dtype)).sum() for part in weightings)


def gradients(net: NTM, loss: Tensor) -> dict[str, Tensor]:
    names = [name for name, _ in net.named_parameters()]
    values = torch.autograd.grad(loss, [net.get_parameter(name) for name in names])
    return dict(zip(names, values, strict=True))


def assert_same(
    actual: tuple[Tensor, State], expected: tuple[Tensor, State], **tolerances: float
) -> None:
    torch.testing.assert_close(actual[0], expected[0], **tolerances)
    for name, ours, theirs in zip(State._fields, actual[1], expected[1], strict=True):
        torch.testing.assert_close(
            ours, theirs, **tolerances, msg=lambda text, name=name: f"state.{name}: {text}"
        )


def assert_same_gradients(actual: dict[str, Tensor], expected: dict[str, Tensor]) -> None:
    assert actual.keys() == expected.keys()
    for name, gradient in expected.items():
        torch.testing.assert_close(
            actual[name], gradient, msg=lambda text, name=name: f"{name}: {text}"
        )


def assert_all_finite(named: dict[str, Tensor]) -> None:
    assert [name for name, tensor in named.items() if not tensor.isfinite().all()] == []


# What it computes


@every_engine
@every_option
def test_a_run_is_the_slow_step_repeated(option: str, engine: str) -> None:
    net = make_net(option, engine)
    x, start = randn(STEPS, BATCH, INPUTS), random_state(net, BATCH)
    logits, final = net(x, start)
    weights = as_lists(net.cell.state_dict())
    for b in range(BATCH):
        state = of_sequence(start, b)
        for t in range(STEPS):
            output, state = slow.cell_step(net.config, weights, x[t, b].tolist(), state)
            assert_agrees(logits[t, b], output)
        for actual, expected in zip(final, state, strict=True):
            assert_agrees(actual[b], expected)


@every_engine
@every_option
def test_gradients_of_input_and_parameters(option: str, engine: str) -> None:
    net = make_net(option, engine)
    parameters = dict(net.named_parameters())
    x = randn(3, 2, INPUTS).requires_grad_()

    def run(x: Tensor, *values: Tensor) -> list[Tensor]:
        named = dict(zip(parameters, values, strict=True))
        logits, state, found = functional_call(net, named, (x,), {"return_weightings": True})
        return [tensor for tensor in (logits, *state, *found) if tensor.numel()]

    assert gradcheck(run, (x, *parameters.values()), fast_mode=True)


@every_engine
@every_option
def test_gradients_of_the_initial_state(option: str, engine: str) -> None:
    net = make_net(option, engine).requires_grad_(False)
    start = random_state(net, 2)
    given_parts = [name for name, tensor in start._asdict().items() if tensor.numel()]
    x = randn(3, 2, INPUTS)

    def run(*values: Tensor) -> list[Tensor]:
        state = start._replace(**dict(zip(given_parts, values, strict=True)))
        logits, final = net(x, state, lengths=[3, 2])
        return [tensor for tensor in (logits, *final) if tensor.numel()]

    leaves = [getattr(start, name).clone().requires_grad_() for name in given_parts]
    assert gradcheck(run, leaves, fast_mode=True)


@every_engine
@every_option
def test_every_parameter_has_a_part_in_the_outputs(option: str, engine: str) -> None:
    net = make_net(option, engine)
    logits, _ = net(randn(STEPS, BATCH, INPUTS))
    for name, gradient in gradients(net, logits.square().sum()).items():
        assert gradient.abs().sum() > 0, name


# How it is called


@every_engine
@every_option
def test_no_state_means_the_initial_state(option: str, engine: str) -> None:
    net = make_net(option, engine)
    x = randn(STEPS, BATCH, INPUTS)
    assert_same(net(x), net(x, net.initial_state(BATCH)), rtol=0, atol=0)


@every_engine
def test_batch_first_swaps_the_first_two_axes_of_input_and_output(engine: str) -> None:
    net, swapped = make_net(engine=engine), make_net(engine=engine, batch_first=True)
    x = randn(STEPS, BATCH, INPUTS)
    for lengths in (None, [5, 0, 3]):
        logits, state = net(x, lengths=lengths)
        their_logits, their_state = swapped(x.transpose(0, 1), lengths=lengths)
        assert their_logits.shape == (BATCH, STEPS, OUTPUTS)
        assert_same((their_logits.transpose(0, 1), their_state), (logits, state))
        contiguous = x.transpose(0, 1).contiguous()
        assert_same(swapped(contiguous, lengths=lengths), (their_logits, their_state))


@every_engine
@every_option
def test_streaming_in_chunks_equals_one_call(option: str, engine: str) -> None:
    net = make_net(option, engine)
    x = randn(7, BATCH, INPUTS)
    logits, final, weightings = net(x, return_weightings=True)
    state, parts = None, []
    for chunk in x.split([1, 4, 2]):
        *outputs, found = net(chunk, state, return_weightings=True)
        state = outputs[1]
        parts.append((outputs[0], *found))
    streamed, *found = (torch.cat(each) for each in zip(*parts, strict=True))
    assert_same((streamed, state), (logits, final))
    torch.testing.assert_close(found, list(weightings))
    ours = loss_of(streamed, state) + attention_of(Weightings(*found))
    theirs = loss_of(logits, final) + attention_of(weightings)
    assert_same_gradients(gradients(net, ours), gradients(net, theirs))


@every_engine
@settings(max_examples=15)
@given(
    lengths=st.lists(st.integers(0, 6), min_size=1, max_size=4),
    chunks=st.lists(st.integers(1, 3), min_size=2, max_size=2),
)
def test_streaming_with_lengths_equals_one_call(
    engine: str, lengths: list[int], chunks: list[int]
) -> None:
    net = make_net("lstm", engine)
    x = randn(7, len(lengths), INPUTS)
    whole = net(x, lengths=lengths)
    state, parts, begin = None, [], 0
    for chunk in x.split([*chunks, 7 - sum(chunks)]):
        left = [min(max(length - begin, 0), len(chunk)) for length in lengths]
        logits, state = net(chunk, state, lengths=left)
        parts.append(logits)
        begin += len(chunk)
    assert_same((torch.cat(parts), state), whole)


@every_engine
@pytest.mark.parametrize("option", ["more-write-heads", "two-lstm-layers", "scalar-shift"])
@settings(max_examples=8)
@given(lengths=st.lists(st.integers(0, 5), min_size=1, max_size=4))
def test_padding_changes_nothing(engine: str, option: str, lengths: list[int]) -> None:
    net = make_net(option, engine)
    x = randn(5, len(lengths), INPUTS)
    start = random_state(net, len(lengths))
    for index, length in enumerate(lengths):
        x[length:, index] = float("nan") if index % 2 else float("inf")
    x.requires_grad_()
    logits, state = net(x, start, lengths=lengths)
    alone, expected = [], torch.zeros((), dtype=torch.float64)
    for index, length in enumerate(lengths):
        one = slice(index, index + 1)
        result = torch.zeros(0, 1, OUTPUTS), State(*(tensor[one] for tensor in start))
        if length:
            result = net(x[:length, one], result[1])
            torch.testing.assert_close(logits[:length, one], result[0])
            expected = expected + (result[0] * randn(*logits.shape)[:length, one]).sum()
        assert not logits[length:, one].any()
        alone.append(result[1])
    final = State(*(torch.cat(parts) for parts in zip(*alone, strict=True)))
    assert_same((logits, state), (logits, final))
    parts = [(tensor * randn(*tensor.shape)).sum() for tensor in final if tensor.numel()]
    loss, wanted = loss_of(logits, state), expected + sum(parts)
    if any(lengths):
        leaves = [x, *net.cell.parameters()]
        for ours, theirs in zip(
            torch.autograd.grad(loss, leaves, retain_graph=True),
            torch.autograd.grad(wanted, leaves),
            strict=True,
        ):
            torch.testing.assert_close(ours, theirs)


# Weightings


@every_engine
@every_option
def test_the_weightings_are_the_traces(option: str, engine: str) -> None:
    net, lengths = make_net(option, engine), [5, 0, 3]
    x, start = randn(STEPS, BATCH, INPUTS), random_state(net, BATCH)
    logits, final, weightings = net(x, start, lengths, return_weightings=True)
    assert_same((logits, final), net(x, start, lengths), rtol=0, atol=0)
    assert isinstance(weightings, Weightings)
    trace = net.trace(x, start, lengths)
    for found, kind in zip(weightings, ("read", "write"), strict=True):
        heads = getattr(net.config, f"{kind}_heads")
        assert found.shape == (STEPS, BATCH, heads, N)
        assert found.requires_grad
        assert (found.detach().numpy() == getattr(trace, f"{kind}_weightings")).all()
        running = torch.arange(STEPS).unsqueeze(1) < torch.tensor(lengths)
        expected = running.to(found.dtype).unsqueeze(2).expand(-1, -1, heads)
        torch.testing.assert_close(found.sum(3), expected)


@every_engine
def test_the_last_weightings_are_the_final_states(engine: str) -> None:
    net = make_net("more-read-heads", engine)
    _, final, weightings = net(randn(STEPS, BATCH, INPUTS), return_weightings=True)
    assert torch.equal(weightings.read[-1], final.read_weightings)
    assert torch.equal(weightings.write[-1], final.write_weightings)


@every_engine
@pytest.mark.parametrize("kind", Weightings._fields)
def test_weightings_beyond_a_length_carry_no_gradient(kind: str, engine: str) -> None:
    net, lengths = make_net("lstm", engine), [4, 0, 2]
    x = randn(STEPS, BATCH, INPUTS).requires_grad_()
    _, _, weightings = net(x, lengths=lengths, return_weightings=True)
    beyond = torch.arange(STEPS).unsqueeze(1) >= torch.tensor(lengths)
    loss = (getattr(weightings, kind)[beyond] * randn(9, 1, N)).sum()
    leaves = [x, *net.cell.parameters()]
    gradients = torch.autograd.grad(loss, leaves, allow_unused=True, materialize_grads=True)
    assert not any(gradient.any() for gradient in gradients)


@every_engine
@pytest.mark.parametrize("kind", Weightings._fields)
def test_a_loss_of_one_kind_of_weightings_alone_reaches_the_heads(kind: str, engine: str) -> None:
    net = make_net("lstm", engine)
    x = randn(STEPS, BATCH, INPUTS).requires_grad_()
    _, _, weightings = net(x, return_weightings=True)
    getattr(weightings, kind).square().sum().backward()
    assert x.grad[:-1].abs().amin() > 0
    assert net.cell.heads.linear.weight.grad.any()


@every_engine
@pytest.mark.parametrize("controller", ["feedforward", "lstm"])
def test_an_entropy_regulariser_sharpens_the_read_weightings(controller: str, engine: str) -> None:
    torch.manual_seed(1)
    net = NTM(3, 2, controller=controller, controller_size=9, memory_locations=11, engine=engine)
    optimiser, x, entropies = torch.optim.Adam(net.parameters(), lr=0.01), torch.rand(4, 2, 3), []
    for _ in range(5):
        read = net(x, return_weightings=True)[2].read
        entropies.append(torch.special.entr(read).sum(-1).mean())
        optimiser.zero_grad()
        entropies[-1].backward()
        optimiser.step()
    assert all(after < before for before, after in itertools.pairwise(entropies))


@every_engine
def test_an_empty_batch_has_empty_weightings(engine: str) -> None:
    net = make_net("more-write-heads", engine)
    _, _, weightings = net(randn(STEPS, 0, INPUTS), return_weightings=True)
    heads = (net.config.read_heads, net.config.write_heads)
    assert [part.shape for part in weightings] == [(STEPS, 0, count, N) for count in heads]


@every_engine
def test_sequences_of_no_steps_keep_the_learned_start(engine: str) -> None:
    net = make_net("lstm", engine)
    x = torch.full((2, BATCH, INPUTS), float("nan"), dtype=torch.float64)
    logits, state = net(x, lengths=[0] * BATCH)
    assert not logits.any()
    assert_same((logits, state), (logits, net.initial_state(BATCH)), rtol=0, atol=0)
    assert_all_finite(gradients(net, loss_of(logits, state)))


@every_engine
def test_lengths_may_be_any_integers_in_any_layout(engine: str) -> None:
    net = make_net(engine=engine)
    x = randn(STEPS, BATCH, INPUTS)
    expected = net(x, lengths=[4, 4, 4])
    column = torch.full((BATCH, 2), 1)
    column[:, 1] = 4
    for lengths in (
        (4, 4, 4),
        column[:, 1],
        torch.tensor(4).expand(BATCH),
        torch.full((BATCH,), 4, dtype=torch.uint8),
        torch.full((BATCH,), 4, dtype=torch.int32).numpy(),
    ):
        assert_same(net(x, lengths=lengths), expected, rtol=0, atol=0)


@every_engine
@every_option
def test_permuting_the_batch_permutes_the_outputs(option: str, engine: str) -> None:
    net = make_net(option, engine)
    x, start = randn(STEPS, 5, INPUTS), random_state(net, 5)
    order, lengths = [3, 0, 4, 2, 1], torch.tensor([5, 2, 0, 4, 5])
    logits, state = net(x, start, lengths)
    shuffled_start = State(*(tensor[order] for tensor in start))
    shuffled = net(x[:, order], shuffled_start, lengths[order])
    assert_same(shuffled, (logits[:, order], State(*(tensor[order] for tensor in state))))


@every_engine
@every_option
def test_single_precision_follows_double(option: str, engine: str) -> None:
    net = make_net(option, engine)
    x = randn(STEPS, BATCH, INPUTS)
    logits, state = net(x)
    single = copy.deepcopy(net).float()
    single_logits, single_state = single(x.float())
    assert single_logits.dtype == torch.float32
    assert {tensor.dtype for tensor in single_state} == {torch.float32}
    doubled = State(*(tensor.double() for tensor in single_state))
    assert_same((single_logits.double(), doubled), (logits, state), rtol=1e-4, atol=1e-4)


@every_engine
def test_without_gradients_the_numbers_are_the_same(engine: str) -> None:
    net = make_net("two-lstm-layers", engine)
    x = randn(STEPS, BATCH, INPUTS)
    expected = net(x)
    with torch.no_grad():
        result = net(x)
    assert not any(tensor.requires_grad for tensor in (result[0], *result[1]))
    assert_same(result, expected, rtol=0, atol=0)


@every_engine
def test_truncated_backpropagation_stops_at_a_detached_state(engine: str) -> None:
    net = make_net("lstm", engine)
    first, second = randn(2, STEPS, BATCH, INPUTS).unbind(0)
    first.requires_grad_()
    _, state = net(first)
    logits, _ = net(second, state.detach())
    assert torch.autograd.grad(logits.sum(), first, allow_unused=True) == (None,)
    logits, _ = net(second, state)
    assert torch.autograd.grad(logits.sum(), first)[0].any()


def test_the_engine_can_be_changed_and_is_always_a_known_one() -> None:
    net = make_net()
    x = randn(STEPS, BATCH, INPUTS)
    results = []
    for engine in (*ENGINES, "auto"):
        net.engine = engine
        assert net.engine == engine
        results.append(net(x))
    assert_same(results[1], results[0])
    assert_same(results[2], results[1], rtol=0, atol=0)
    with pytest.raises(ValueError, match="engine must be one of"):
        net.engine = "cuda"


@pytest.mark.parametrize("kind", [NTM, LSTMBaseline])
def test_type_checkers_know_the_names_of_the_engines(kind: type) -> None:
    for call in (kind.__init__, kind.from_config, getattr(kind, "from_pretrained", kind.__init__)):
        assert get_args(get_type_hints(call)["engine"]) == tuple(engines.names())
    assert get_args(get_type_hints(kind.engine.fset)["name"]) == tuple(engines.names())


# What it is made of


@every_option
def test_a_fresh_network_has_glorot_weights_and_an_lstm_starts_feedforward(option: str) -> None:
    torch.manual_seed(1)
    net = NTM(**SIZES | OPTIONS[option])
    linears = [module for module in net.cell.modules() if isinstance(module, nn.Linear)]
    assert len(linears) == net.config.controller_layers + 2
    recurrent = [*net.cell.controller.layers] if net.config.controller == "lstm" else []
    for linear in linears:
        bound = (6 / (linear.in_features + linear.out_features)) ** 0.5
        assert 0.8 * bound < linear.weight.abs().max() <= bound
        expected = torch.zeros_like(linear.bias)
        if linear in recurrent:
            expected.chunk(4)[1].fill_(-1)
            assert not linear.weight[:, -net.config.controller_size :].any()
        assert torch.equal(linear.bias, expected)


def test_a_head_gain_scales_the_heads_weights_alone() -> None:
    def weights(gain: float) -> dict[str, torch.Tensor]:
        torch.manual_seed(1)
        return NTM(3, 2, head_gain=gain).state_dict()

    whole, quarter = weights(1), weights(0.25)
    for name, tensor in whole.items():
        scale = 0.25 if name == "cell.heads.linear.weight" else 1
        torch.testing.assert_close(quarter[name], scale * tensor)


@pytest.mark.parametrize("engine", ["native", "reference"])
def test_a_gate_bias_closes_the_gates_of_all_heads_alone(engine: str) -> None:
    def network(bias: float) -> NTM:
        torch.manual_seed(1)
        return NTM(3, 2, read_heads=2, write_heads=3, gate_bias=bias, engine=engine)

    plain, closed = network(0), network(-3)
    changed = {
        name: tensor - plain.state_dict()[name] for name, tensor in closed.state_dict().items()
    }
    moved = changed.pop("cell.heads.linear.bias")
    assert not any(tensor.any() for tensor in changed.values())
    assert sorted(set(moved.tolist())) == [-3, 0]
    assert (moved == -3).sum() == 5
    # Before the first read the controller sees zeros, so its values are the biases.
    trace = closed.trace(torch.zeros(1, 1, 3))
    for gates in (trace.read_gates, trace.write_gates):
        assert gates == pytest.approx(torch.tensor(-3.0).sigmoid().item())


def test_heads_means_pairs_and_each_kind_can_be_set_apart() -> None:
    def counts(**heads: int) -> tuple[int, int]:
        config = NTM(3, 2, **heads).config
        return config.read_heads, config.write_heads

    assert counts() == (1, 1)
    assert counts(heads=3) == (3, 3)
    assert counts(heads=3, read_heads=2) == (2, 3)
    assert counts(write_heads=4) == (1, 4)


@every_engine
@every_option
def test_a_state_dict_carries_everything_between_fresh_networks(option: str, engine: str) -> None:
    net = make_net(option, engine)
    torch.manual_seed(99)
    other = NTM.from_config(net.config, engine=engine).double()
    x = randn(STEPS, BATCH, INPUTS)
    assert not torch.equal(other(x)[0], net(x)[0])
    assert list(net.state_dict()) == [name for name, _ in net.named_parameters()]
    other.load_state_dict(net.state_dict())
    assert_same(other(x), net(x), rtol=0, atol=0)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda net: net.resized(N)])
@every_engine
@every_option
def test_a_copy_behaves_alike_and_shares_nothing(
    option: str, engine: str, copied: Callable[[NTM], NTM]
) -> None:
    net = make_net(option, engine)
    twin = copied(net)
    x = randn(STEPS, BATCH, INPUTS)
    expected = net(x)
    assert (twin.config, twin.engine) == (net.config, engine)
    assert_same(twin(x), expected, rtol=0, atol=0)
    for name, parameter in net.named_parameters():
        assert torch.equal(twin.get_parameter(name), parameter), name
    with torch.no_grad():
        for parameter in twin.parameters():
            parameter.zero_()
    assert_same(net(x), expected, rtol=0, atol=0)


@every_option
def test_a_config_rebuilds_its_network(option: str) -> None:
    net = make_net(option)
    rebuilt = NTM.from_config(net.config, batch_first=True, engine="native")
    assert rebuilt.config == net.config
    assert (rebuilt.batch_first, rebuilt.engine) == (True, "native")
    shapes = {name: parameter.shape for name, parameter in net.named_parameters()}
    assert {name: parameter.shape for name, parameter in rebuilt.named_parameters()} == shapes


def test_device_and_dtype_are_as_asked() -> None:
    net = NTM(3, 2, device="meta", dtype=torch.float64)
    kinds = {(parameter.device.type, parameter.dtype) for parameter in net.parameters()}
    assert kinds == {("meta", torch.float64)}


def test_repr_tells_the_sizes() -> None:
    text = repr(make_net("two-lstm-layers"))
    parameters = sum(parameter.numel() for parameter in make_net("two-lstm-layers").parameters())
    for told in (
        "3 in, 2 out",
        "lstm controller of 2 x 7",
        "memory 11 x 5",
        "2 read and 2 write heads",
        "shifts (-1, 0, 1) (softmax)",
        f"{parameters:,} parameters",
        "engine='reference'",
    ):
        assert told in text
    assert "feedforward controller of 7" in repr(make_net())
    assert repr(NTM(3, 2, batch_first=True)).count("batch_first=True") == 1


# With more memory


def by_location(engine: str) -> NTM:
    """A network whose heads start at location 2 and step to the next one, whatever they read."""
    net = make_net("random-start", engine)
    config, width = net.config, net.config.memory_width
    values = net.cell.heads.linear
    with torch.no_grad():
        for start in (0, config.read_head_outputs):
            gate, shift, sharpness = start + width + 1, start + width + 2, start + width + 5
            values.weight[gate : sharpness + 1] = 0
            values.bias[gate] = -40
            values.bias[shift : shift + 3] = torch.tensor([0.0, 0, 40])
            values.bias[sharpness] = 5
        for logits in (net.start.read_logits, net.start.write_logits):
            logits.zero_()
            logits[:, 2] = 40
    return net


@every_engine
def test_more_locations_change_nothing_for_a_machine_that_addresses_by_location(
    engine: str,
) -> None:
    net = by_location(engine)
    x = randn(30, BATCH, INPUTS)
    short, longer = x[: N - 3], x
    for locations in (N + 1, 53, 1009):
        larger = net.resized(locations)
        assert larger.config.memory_locations == locations
        # What leaks from the focus is of the order exp(-40), about 4e-18.
        torch.testing.assert_close(larger(short)[0], net(short)[0], rtol=0, atol=1e-12)
        # The small memory is full after N steps and begins to overwrite.
        assert (larger(longer)[0] - net(longer)[0]).abs().max() > 1e-3


@every_engine
def test_a_resized_network_keeps_everything_else(engine: str) -> None:
    net = make_net("two-lstm-layers", engine, batch_first=True).eval()
    larger = net.resized(N + 2)
    assert larger.engine == engine
    assert larger.batch_first
    assert not larger.training
    assert all(parameter.dtype == torch.float64 for parameter in larger.parameters())
    for name, parameter in net.cell.named_parameters():
        assert torch.equal(larger.cell.get_parameter(name), parameter), name
    assert net.config.memory_locations == N
    logits, state = larger(randn(BATCH, STEPS, INPUTS))
    assert logits.shape == (BATCH, STEPS, OUTPUTS)
    assert state.memory.shape == (BATCH, N + 2, SIZES["memory_width"])
    gradients(larger, loss_of(logits, state))


@pytest.mark.parametrize(
    ("locations", "told"),
    [
        (
            N - 1,
            f"memory_locations must be at least {N}, the number that the network has; got {N - 1}",
        ),
        (0, "memory_locations must be an integer of at least 1, got 0"),
        (20.0, "memory_locations must be an integer of at least 1, got 20.0"),
    ],
)
def test_a_memory_can_grow_and_not_shrink(locations: object, told: str) -> None:
    with pytest.raises(ValueError, match=re.escape(told)):
        make_net().resized(locations)


# No NaN, ever


@every_engine
@every_option
@pytest.mark.parametrize("seed", [1, 2])
def test_training_from_a_random_start_stays_finite(option: str, engine: str, seed: int) -> None:
    torch.manual_seed(seed)
    net = NTM(**SIZES | OPTIONS[option], engine=engine)
    optimiser = torch.optim.RMSprop(net.parameters(), lr=0.03, momentum=0.9)
    before = copy.deepcopy(net.state_dict())
    for _ in range(8):
        x = torch.randint(2, (4, BATCH, INPUTS)).float()
        targets = torch.randint(2, (4, BATCH, OUTPUTS)).float()
        logits, state = net(x)
        optimiser.zero_grad()
        binary_cross_entropy_with_logits(logits, targets).backward()
        assert_all_finite({"logits": logits, **state._asdict()})
        assert_all_finite({name: p.grad for name, p in net.named_parameters()})
        optimiser.step()
    assert_all_finite(dict(net.named_parameters()))
    assert any(not torch.equal(value, before[name]) for name, value in net.state_dict().items())


def with_head_values(net: NTM, strength: float, sharpness: float, key: float) -> NTM:
    """Every head asks for this strength and sharpness, and a key of equal values, at every step."""
    config, width = net.config, net.config.memory_width
    starts = [head * config.read_head_outputs for head in range(config.read_heads)]
    first = config.read_heads * config.read_head_outputs
    starts += [first + head * config.write_head_outputs for head in range(config.write_heads)]
    linear = net.cell.heads.linear
    with torch.no_grad():
        for start in starts:
            for offset, value in (
                *((column, key) for column in range(width)),
                (width, strength),
                (config.read_head_outputs - 1, sharpness),
            ):
                linear.weight[start + offset] = 0
                linear.bias[start + offset] = value
    return net


@every_engine
@both_precisions
@every_option
@pytest.mark.parametrize("key", [0.0, 1.0])
def test_empty_memory_and_extreme_heads_leave_everything_finite(
    engine: str, dtype: torch.dtype, option: str, key: float
) -> None:
    net = make_net(option, engine, dtype=dtype)
    with_head_values(net, strength=1e4, sharpness=1e3, key=key)
    with torch.no_grad():
        net.start.memory.zero_()
        # Weightings with exact zeros.
        for logits in (net.start.read_logits, net.start.write_logits):
            logits.fill_(-1e4)
            logits[:, 4] = 0
    x = randn(2, 2, INPUTS).to(dtype).requires_grad_()
    logits, state = net(x)
    assert_all_finite({"logits": logits, **state._asdict()})
    loss = loss_of(logits, state)
    assert_all_finite({"x": torch.autograd.grad(loss, x, retain_graph=True)[0]})
    assert_all_finite(gradients(net, loss))


# What it refuses


Call = Callable[[NTM, Tensor], object]


def spoilt(value: float) -> Call:
    def call(net: NTM, x: Tensor) -> object:
        x[3, 1, 0] = value
        return net(x)

    return call


def with_lengths(lengths: Tensor | Sequence[object] | object) -> Call:
    return lambda net, x: net(x, lengths=lengths)


def with_state(change: Callable[[State], object]) -> Call:
    return lambda net, x: net(x, change(net.initial_state(BATCH)))


WRONG_CALLS: dict[str, tuple[Call, type[Exception], str]] = {
    "one axis": (
        lambda net, x: net(x[0, 0]),
        ValueError,
        "(time, batch, 3), with at least one step; got (3,). One sequence alone may be",
    ),
    "four axes": (lambda net, x: net(x[None]), ValueError, "got (1, 5, 3, 3)."),
    "one sequence of too few channels": (
        lambda net, x: net(x[:, 0, :2]),
        ValueError,
        "got (5, 2). One sequence alone may be (time, 3).",
    ),
    "too few channels": (
        lambda net, x: net(x[..., :2]),
        ValueError,
        "x must have the shape (time, batch, 3), with at least one step; got (5, 3, 2)",
    ),
    "no steps": (
        lambda net, x: net(x[:0]),
        ValueError,
        "with at least one step; got (0, 3, 3).",
    ),
    "no steps of no sequences": (
        lambda net, x: net(x[:0, :0]),
        ValueError,
        "with at least one step; got (0, 0, 3).",
    ),
    "not a tensor": (
        lambda net, x: net(x.tolist()),
        TypeError,
        "x must be a tensor (time, batch, 3), got list.",
    ),
    "another dtype": (
        lambda net, x: net(x.float()),
        TypeError,
        "x must be torch.float64 like the network's parameters, got torch.float32. Convert it",
    ),
    "integers": (
        lambda net, x: net(x.long()),
        TypeError,
        "x must be torch.float64 like the network's parameters, got torch.int64.",
    ),
    "another device": (
        lambda net, x: net(x.to("meta")),
        ValueError,
        "x must be on cpu like the network's parameters, got meta.",
    ),
    "half precision": (
        lambda net, x: net.half()(x.half()),
        TypeError,
        "parameters must be float32, float64 or bfloat16, got torch.float16",
    ),
    "NaN": (
        spoilt(float("nan")),
        ValueError,
        "x must be finite, but it holds NaN or infinity, first at step 3 of sequence 1.",
    ),
    "infinity": (spoilt(float("-inf")), ValueError, "first at step 3 of sequence 1."),
    "float lengths": (
        with_lengths(torch.tensor([5.0, 4, 3])),
        TypeError,
        "lengths must be integers, got torch.float32.",
    ),
    "bool lengths": (
        with_lengths([True, True, False]),
        TypeError,
        "lengths must be integers, got torch.bool.",
    ),
    "lengths of strings": (
        with_lengths(["5", "4", "3"]),
        TypeError,
        "lengths must be integers, one per sequence, got ['5', '4', '3'].",
    ),
    "negative lengths": (
        with_lengths([5, -1, 3]),
        ValueError,
        "lengths must lie between 0 and 5, the steps of x; got -1 to 5.",
    ),
    "lengths too long": (
        with_lengths([5, 6, 3]),
        ValueError,
        "lengths must lie between 0 and 5, the steps of x; got 3 to 6.",
    ),
    "too few lengths": (
        with_lengths([5, 4]),
        ValueError,
        "lengths must have one entry per sequence, (3,), got (2,).",
    ),
    "no lengths": (
        with_lengths([]),
        ValueError,
        "lengths must have one entry per sequence, (3,), got (0,).",
    ),
    "one length for all": (
        with_lengths(5),
        ValueError,
        "lengths must have one entry per sequence, (3,), got ().",
    ),
    "state of another batch": (
        lambda net, x: net(x, net.initial_state(2)),
        ValueError,
        "state.memory must have the shape (3, 11, 5) for a batch of 3, got (2, 11, 5).",
    ),
    "state of another network": (
        lambda net, x: net(x, make_net("lstm").initial_state(BATCH)),
        ValueError,
        "state.hidden must have the shape (3, 0, 7) for a batch of 3, got (3, 1, 7).",
    ),
    "state that is a tuple": (
        with_state(tuple),
        TypeError,
        "state must be the State that a call or initial_state returned, got tuple.",
    ),
    "state that is a tensor": (
        with_state(lambda state: state.memory),
        TypeError,
        "state must be the State that a call or initial_state returned, got Tensor.",
    ),
    "state with a hole": (
        with_state(lambda state: state._replace(reads=None)),
        TypeError,
        "state.reads must be a tensor, got NoneType.",
    ),
    "state of another dtype": (
        with_state(lambda state: state._replace(reads=state.reads.float())),
        TypeError,
        "state.reads must be torch.float64 like the network's parameters, got torch.float32.",
    ),
    "state on another device": (
        with_state(lambda state: state._replace(reads=state.reads.to("meta"))),
        ValueError,
        "state.reads must be on cpu like the network's parameters, got meta.",
    ),
    "an initial state for nobody": (
        lambda net, x: net.initial_state(0),  # noqa: ARG005  # every call has both
        ValueError,
        "batch_size must be an integer of at least 1, got 0.",
    ),
}


@every_engine
@pytest.mark.parametrize("name", WRONG_CALLS)
def test_a_wrong_call_is_refused_in_a_sentence(name: str, engine: str) -> None:
    call, error, told = WRONG_CALLS[name]
    with pytest.raises(error, match=re.escape(told)):
        call(make_net(engine=engine), randn(STEPS, BATCH, INPUTS))


@every_engine
def test_batch_first_shapes_are_named_batch_first(engine: str) -> None:
    net = make_net(engine=engine, batch_first=True)
    with pytest.raises(ValueError, match=r"\(batch, time, 3\).*got \(2, 4\)"):
        net(randn(2, 4))


@every_engine
def test_padding_may_hold_anything_and_a_sequence_may_not(engine: str) -> None:
    x = randn(STEPS, BATCH, INPUTS)
    x[3:, 1] = float("nan")
    net = make_net(engine=engine)
    assert net(x, lengths=[5, 3, 5])[0].isfinite().all()
    with pytest.raises(ValueError, match="first at step 3 of sequence 1"):
        net(x, lengths=[5, 4, 5])


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"heads": 0}, "heads must be an integer of at least 1, got 0."),
        ({"heads": 1.5}, "heads must be an integer of at least 1, got 1.5."),
        ({"read_heads": 0}, "read_heads must be an integer of at least 1, got 0."),
        ({"write_heads": 0}, "write_heads must be an integer of at least 1, got 0."),
        ({"input_size": 0}, "input_size must be an integer of at least 1, got 0."),
        ({"output_size": -2}, "output_size must be an integer of at least 1, got -2."),
        ({"controller": "gru"}, "controller must be 'feedforward' or 'lstm', got 'gru'."),
        ({"shift_mode": "hard"}, "shift_mode must be 'softmax' or 'scalar', got 'hard'."),
        ({"start_memory": "zero"}, "start_memory must be 'constant' or 'random', got 'zero'."),
        (
            {"engine": "cuda"},
            "engine must be one of 'auto', 'native', 'reference'; got 'cuda'.",
        ),
        ({"shifts": 1}, "shifts must be distinct integers, at least one"),
        ({"shifts": ()}, "shifts must be distinct integers, at least one"),
    ],
)
def test_a_wrong_network_is_refused_in_a_sentence(arguments: dict[str, object], told: str) -> None:
    with pytest.raises(ValueError, match=re.escape(told)):
        NTM(**SIZES | arguments)


def test_an_engine_that_cannot_run_says_why() -> None:
    net = make_net(engine="native", dtype=torch.bfloat16)
    x = randn(STEPS, BATCH, INPUTS).bfloat16()
    with pytest.raises(RuntimeError, match=r"native engine cannot run here.*torch\.bfloat16"):
        net(x)
    net.engine = "auto"
    assert net(x)[0].isfinite().all()


def test_config_and_network_take_the_same_arguments() -> None:
    config = NTMConfig(**SIZES, controller="lstm", read_heads=2)
    assert NTM(**SIZES, controller="lstm", read_heads=2).config == config


def test_all_weights_begin_within_glorots_bounds_and_biases_at_zero() -> None:
    net = NTM(30, 20)
    for module in net.cell.modules():
        if isinstance(module, torch.nn.Linear):
            bound = math.sqrt(6 / sum(module.weight.shape))
            assert 0.95 * bound < module.weight.abs().max() <= bound
            assert not module.bias.any()


def test_defaults_are_those_of_the_config_and_the_initialisation() -> None:
    stated = {p.name: p.default for p in inspect.signature(NTM).parameters.values()}
    fields = (*dataclasses.fields(NTMConfig), *dataclasses.fields(Initialisation))
    defaults = {field.name: field.default for field in fields if field.name in stated}
    heads = {"read_heads": None, "write_heads": None}
    assert stated["heads"] == defaults["read_heads"] == defaults["write_heads"]
    for name, default in (defaults | heads).items():
        assert stated[name] == (inspect.Parameter.empty if "put_size" in name else default), name


def test_no_heads_are_refused_even_where_nobody_asks_for_them() -> None:
    with pytest.raises(ValueError, match="heads must be"):
        make_net(heads=0, read_heads=1, write_heads=1)


def test_reset_parameters_draws_everything_anew() -> None:
    net, other = make_net("lstm"), make_net("lstm")
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.fill_(9)
    torch.manual_seed(1)
    net.reset_parameters()
    torch.manual_seed(1)
    other.reset_parameters()
    for name, value in net.state_dict().items():
        assert torch.equal(value, other.state_dict()[name]), name


class StartsElsewhere(NTM):
    def initial_state(self, batch_size: int) -> State:
        state = super().initial_state(batch_size)
        return state._replace(memory=state.memory + 1)


@every_engine
def test_an_initial_state_of_ones_own_is_used(engine: str) -> None:
    net = StartsElsewhere(INPUTS, OUTPUTS, memory_locations=N, engine=engine)
    x = randn(STEPS, BATCH, INPUTS).float()
    expected = net(x, net.initial_state(BATCH))
    assert_same(net(x), expected, rtol=0, atol=0)
    plain = NTM(INPUTS, OUTPUTS, memory_locations=N, engine=engine)
    plain.load_state_dict(net.state_dict())
    assert not torch.equal(plain(x)[0], expected[0])
    plain.initial_state = net.initial_state
    assert_same(plain(x), expected, rtol=0, atol=0)

"""Sequences in the forms of torch.nn.LSTM, and autocast: for the NTM on both engines, and the LSTM.

What nn.LSTM itself does with the same arguments is the truth for shapes and orders.
"""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pack_sequence

from ntm import NTM, LSTMBaseline, Weightings

from .slow_reference import SIZES, make_net, randn

INPUTS, OUTPUTS, STEPS, BATCH = SIZES["input_size"], SIZES["output_size"], 5, 3
NETWORKS = ("reference", "native", "lstm")
every_engine = pytest.mark.parametrize("engine", ["reference", "native"])
every_network = pytest.mark.parametrize("name", NETWORKS)


def network(name: str, **options: object) -> NTM | LSTMBaseline:
    if name != "lstm":
        return make_net("two-lstm-layers", name, **options)
    torch.manual_seed(7)
    options = {"dtype": torch.float64} | options
    return LSTMBaseline(INPUTS, OUTPUTS, hidden_size=5, layers=2, **options)


def started(net: nn.Module, batch_size: int = BATCH) -> tuple[Tensor, ...]:
    """A state that differs between sequences."""
    _, state = net(randn(2, batch_size, INPUTS, seed=3).transpose(0, int(net.batch_first)))
    return state.detach()


def assert_equal(ours: object, theirs: object) -> None:
    torch.testing.assert_close(ours, theirs, rtol=0, atol=0)


# One sequence


@every_network
@pytest.mark.parametrize("batch_first", [False, True])
def test_a_sequence_without_a_batch_axis_is_a_batch_of_one(name: str, batch_first: bool) -> None:
    net = network(name, batch_first=batch_first)
    x = randn(STEPS, INPUTS).requires_grad_()
    state = type(started(net))(*(part[0] for part in started(net)))
    for start, batched_start in (
        (None, None),
        (state, type(state)(*(part[None] for part in state))),
    ):
        logits, final = net(x, start)
        batched, batched_final = net(x[None] if batch_first else x[:, None], batched_start)
        assert logits.shape == (STEPS, OUTPUTS)
        assert_equal(logits, batched.flatten(0, 1))
        assert_equal(tuple(final), tuple(part[0] for part in batched_final))
        loss, batched_loss = logits.square().sum(), batched.square().sum()
        assert_equal(torch.autograd.grad(loss, x), torch.autograd.grad(batched_loss, x))


def test_the_shapes_of_one_sequence_are_those_of_torch_lstm() -> None:
    theirs = nn.LSTM(INPUTS, OUTPUTS, batch_first=True, dtype=torch.float64)
    x = randn(STEPS, INPUTS)
    output, (hidden, _) = theirs(x)
    net = network("lstm", batch_first=True)
    logits, state = net(x)
    assert logits.shape == output.shape
    assert state.hidden.dim() == hidden.dim()


@every_network
def test_a_state_that_does_not_match_the_form_of_x_is_refused(name: str) -> None:
    net = network(name)
    batched = started(net, 1)
    alone = type(batched)(*(part[0] for part in batched))
    with pytest.raises(
        ValueError, match=r"state\.\w+ must have the shape .* for one sequence, got"
    ):
        net(randn(STEPS, INPUTS), batched)
    with pytest.raises(
        ValueError, match=r"state\.\w+ must have the shape .* for a batch of 1, got"
    ):
        net(randn(STEPS, 1, INPUTS), alone)


@every_network
def test_lengths_belong_to_a_padded_batch_alone(name: str) -> None:
    net, x = network(name), randn(STEPS, INPUTS)
    with pytest.raises(ValueError, match=r"one sequence is as long as x\. Leave lengths out"):
        net(x, lengths=[3])
    with pytest.raises(ValueError, match=r"a PackedSequence has its own\. Leave lengths out"):
        net(pack_sequence([x]), lengths=[STEPS])


def test_a_trace_of_one_sequence_is_that_of_a_batch_of_one() -> None:
    net, x = network("native"), randn(STEPS, INPUTS)
    assert (net.trace(x).read_weightings == net.trace(x[:, None]).read_weightings).all()


def weightings_of(net: NTM, *arguments: object, **options: object) -> Weightings:
    return net(*arguments, return_weightings=True, **options)[2]


@every_engine
@pytest.mark.parametrize("batch_first", [False, True])
def test_weightings_have_the_form_of_x(engine: str, batch_first: bool) -> None:
    net, x = network(engine, batch_first=batch_first), randn(STEPS, BATCH, INPUTS)
    expected = weightings_of(network(engine), x)
    found = weightings_of(net, x.transpose(0, int(batch_first)))
    assert_equal([part.transpose(0, int(batch_first)) for part in found], list(expected))
    alone, batch_of_one = weightings_of(net, x[:, 1]), weightings_of(network(engine), x[:, 1:2])
    assert_equal(list(alone), [part[:, 0] for part in batch_of_one])


@every_engine
@pytest.mark.parametrize("batch_first", [False, True])
def test_weightings_of_packed_sequences_are_padded(engine: str, batch_first: bool) -> None:
    net, x, lengths = network(engine), randn(STEPS, BATCH, INPUTS), torch.tensor([2, 5, 3])
    packed = pack_padded_sequence(x, lengths, enforce_sorted=False)
    expected = weightings_of(net, x, lengths=lengths)
    net.batch_first = batch_first
    assert_equal(list(weightings_of(net, packed)), list(expected))


# Packed sequences


@every_network
@settings(max_examples=15)
@given(
    lengths=st.lists(st.integers(1, STEPS), min_size=1, max_size=5),
    sort=st.booleans(),
    with_state=st.booleans(),
    batch_first=st.booleans(),
)
def test_packed_equals_padded(
    name: str, lengths: list[int], sort: bool, with_state: bool, batch_first: bool
) -> None:
    lengths = sorted(lengths, reverse=True) if sort else lengths
    net = network(name, batch_first=batch_first)
    x = randn(max(lengths), len(lengths), INPUTS).requires_grad_()
    packed = pack_padded_sequence(x, torch.tensor(lengths), enforce_sorted=sort)
    start = started(net, len(lengths)) if with_state else None
    logits, final = net(packed, start)
    padded, padded_final = net(x.transpose(0, int(batch_first)), start, lengths=lengths)
    expected = pack_padded_sequence(
        padded, torch.tensor(lengths), batch_first=batch_first, enforce_sorted=sort
    )
    assert isinstance(logits, PackedSequence)
    assert_equal(tuple(logits), tuple(expected))
    assert_equal(tuple(final), tuple(padded_final))
    weights = randn(*logits.data.shape)
    assert_equal(
        torch.autograd.grad((logits.data * weights).sum(), x, retain_graph=True),
        torch.autograd.grad((expected.data * weights).sum(), x),
    )


def test_the_order_of_a_packed_batch_is_that_of_torch_lstm() -> None:
    """An order that packing would not choose itself: equal lengths, the later sequence first."""
    packed = PackedSequence(
        randn(4, INPUTS), torch.tensor([2, 2]), torch.tensor([1, 0]), torch.tensor([1, 0])
    )
    theirs = nn.LSTM(INPUTS, 4, dtype=torch.float64)
    output, (hidden, _) = theirs(packed)
    # Of the final state both return what belongs to the caller's first sequence first.
    assert_equal(hidden[0, 0], output.data[3])
    net = network("native")
    logits, final = net(packed)
    assert_equal(tuple(logits[1:]), tuple(output[1:]))
    alone, alone_final = net(packed.data[[1, 3]])
    assert_equal(logits.data[[1, 3]], alone)
    assert_equal(final.memory[0], alone_final.memory)


@every_network
def test_a_packed_sequence_of_other_channels_or_another_dtype_is_refused(name: str) -> None:
    net = network(name)
    with pytest.raises(ValueError, match=r"packed from sequences of 3 channels; .* \(5, 4\)"):
        net(pack_sequence([randn(STEPS, 4)]))
    with pytest.raises(TypeError, match=r"x must be torch\.float64"):
        net(pack_sequence([randn(STEPS, INPUTS).float()]))
    bad = randn(STEPS, INPUTS)
    bad[2, 1] = torch.nan
    with pytest.raises(ValueError, match="NaN or infinity, first at step 2 of sequence 1"):
        net(pack_sequence([randn(STEPS, INPUTS), bad]))


# Autocast


@every_network
def test_under_autocast_the_network_computes_in_its_own_precision(name: str) -> None:
    net = network(name, dtype=torch.float32)
    before = nn.Linear(4, INPUTS)
    features = torch.randn(STEPS, BATCH, 4, requires_grad=True)
    with torch.autocast("cpu", torch.bfloat16):
        x = before(features)
        logits, state = net(x)
        again, _ = net(x, state.to(torch.bfloat16))
        loss = nn.functional.mse_loss(logits, torch.zeros_like(logits)) + again.mean()
    assert x.dtype == torch.bfloat16
    assert {logits.dtype, again.dtype, state[0].dtype} == {torch.float32}
    expected, expected_state = net(x.float())
    assert_equal(logits, expected)
    assert_equal(tuple(state), tuple(expected_state))
    assert_equal(again, net(x.float(), state.to(torch.bfloat16).to(torch.float32))[0])
    loss.backward()
    assert all(p.grad is not None and p.grad.any() for p in before.parameters())
    assert features.grad is not None


@every_network
def test_under_autocast_float32_and_packed_inputs_give_the_same_too(name: str) -> None:
    net = network(name, dtype=torch.float32)
    x = torch.randn(STEPS, BATCH, INPUTS)
    packed = pack_padded_sequence(x.bfloat16(), torch.tensor([5, 2, 4]), enforce_sorted=False)
    expected = net(packed.to(torch.float32))[0]
    with torch.autocast("cpu", torch.bfloat16):
        assert_equal(net(x)[0].float(), net(x)[0])
        assert_equal(net(packed)[0].data, expected.data)
        inside = net(x)[0]
    assert_equal(inside, net(x)[0])


@pytest.mark.parametrize("engine", ["native", "reference"])
def test_a_trace_under_autocast_is_the_trace_without(engine: str) -> None:
    net = network(engine, dtype=torch.float32)
    x = torch.randn(STEPS, BATCH, INPUTS).bfloat16()
    with torch.autocast("cpu", torch.bfloat16):
        trace = net.trace(x)
    assert (trace.outputs == net.trace(x.float()).outputs).all()


@every_network
def test_dtypes_still_have_to_agree_without_autocast_and_for_float64(name: str) -> None:
    net = network(name, dtype=torch.float32)
    x = torch.randn(STEPS, BATCH, INPUTS)
    with pytest.raises(TypeError, match="x must be"):
        net(x.bfloat16())
    with torch.autocast("cpu", torch.bfloat16), pytest.raises(TypeError, match=r"torch\.float64"):
        net(x.double())
    with torch.autocast("cpu", torch.bfloat16, enabled=False), pytest.raises(TypeError):
        net(x.bfloat16())


# States


@every_network
def test_a_state_moves_as_a_tensor_does(name: str) -> None:
    state = started(network(name))
    assert {part.dtype for part in state.to(torch.float32)} == {torch.float32}
    assert {part.device.type for part in state.to("meta")} == {"meta"}
    both = state.to(device="meta", dtype=torch.float32)
    assert type(both) is type(state)
    assert {(part.device.type, part.dtype) for part in both} == {("meta", torch.float32)}


# Subclasses of Tensor


class Labelled(Tensor):
    """As libraries for images and audio derive them: torch computes as on any tensor."""


def labelled(tensor: Tensor) -> Tensor:
    return tensor.as_subclass(Labelled)


KINDS = [(o, e) for o in ("defaults", "two-lstm-layers") for e in ("native", "reference", "auto")]


def every_kind() -> list[NTM | LSTMBaseline]:
    return [*(make_net(option, engine) for option, engine in KINDS), network("lstm")]


@pytest.mark.parametrize("net", every_kind(), ids=lambda net: f"{type(net).__name__} {net.engine}")
def test_a_subclass_of_tensor_is_run_as_a_tensor(net: NTM | LSTMBaseline) -> None:
    x, lengths, state = randn(STEPS, BATCH, INPUTS), torch.tensor([5, 2, 0]), started(net)
    given = type(state)(*map(labelled, state))
    assert_equal(net(labelled(x)), net(x))
    assert_equal(net(labelled(x), given, labelled(lengths)), net(x, state, lengths))
    with torch.no_grad():
        assert_equal(net(labelled(x), given), net(x, state))
    assert_equal(net(labelled(x[:, 0])), net(x[:, 0]))
    alone = type(state)(*(part[0] for part in state))
    assert_equal(net(labelled(x[:, 0]), type(state)(*map(labelled, alone))), net(x[:, 0], alone))
    packed = pack_padded_sequence(x, torch.tensor([5, 3, 2]))
    ours, theirs = net(packed._replace(data=labelled(packed.data))), net(packed)
    assert_equal((ours[0].data, ours[1]), (theirs[0].data, theirs[1]))
    assert {type(part) for part in (ours[0].data, *ours[1])} == {Tensor}
    with pytest.raises(ValueError, match="x must be finite"):
        net(labelled(x * torch.nan))


@pytest.mark.parametrize("net", every_kind(), ids=lambda net: f"{type(net).__name__} {net.engine}")
def test_gradients_pass_through_a_subclass_of_tensor(net: NTM | LSTMBaseline) -> None:
    x, weights = randn(STEPS, BATCH, INPUTS), randn(STEPS, BATCH, OUTPUTS, seed=5)
    leaves = [x.clone().requires_grad_(), labelled(x.clone()).requires_grad_()]
    gradients = []
    for leaf, factors in zip(leaves, (weights, labelled(weights)), strict=True):
        net.zero_grad()
        net(leaf)[0].backward(factors)
        gradients.append([torch.Tensor(leaf.grad), *(p.grad.clone() for p in net.parameters())])
    assert_equal(gradients[1], gradients[0])


@pytest.mark.parametrize(("option", "engine"), KINDS)
def test_a_subclass_of_tensor_is_traced(option: str, engine: str) -> None:
    net, x = make_net(option, engine), randn(STEPS, BATCH, INPUTS)
    ours, theirs = net.trace(labelled(x)), net.trace(x)
    assert_equal(torch.as_tensor(ours.outputs), torch.as_tensor(theirs.outputs))

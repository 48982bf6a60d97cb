"""The native engine's training step of the LSTM baseline: the same results as autograd."""

import math
from collections.abc import Callable
from itertools import pairwise

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.nn.functional import one_hot
from torch.nn.utils import parametrizations, prune

from ntm.engine.fused import LSTMGradients
from ntm.engine.machine import threads
from ntm.models.family import family
from ntm.models.lstm import LSTMBaseline
from ntm.models.lstm_family import PaddedStep, kernel_parameters
from ntm.models.step import NativeStep, TorchStep
from ntm.runs import Stream
from ntm.tasks import Batch, Copy, SymbolBatch, cost_in_bits
from ntm.training import GravesRMSprop

LSTM = family("lstm")
TASK = Copy(bits=2, max_length=4)
# Allowed difference between two orders of summation, relative to a tensor's largest value.
CLOSE = {torch.float32: 2e-5, torch.float64: 1e-12}

Results = dict[str, Tensor]


def network(*sizes: int, dtype: torch.dtype = torch.float32, seed: int = 1) -> LSTMBaseline:
    """Return a network whose parameters are all random, including the learned start."""
    torch.manual_seed(seed)
    net = LSTMBaseline(*sizes, dtype=dtype)
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.uniform_(-0.7, 0.7)
    return net


def batch_of(net: LSTMBaseline, lengths: list[int], seed: int = 1, symbols: bool = False) -> Batch:
    """Return random sequences; a random half of the steps up to the longest length is scored."""
    torch.manual_seed(seed)
    steps, count, dtype = max(lengths) + 1, len(lengths), net.start_cell.dtype
    channels = net.config.input_size, net.config.output_size
    inputs = torch.randn(steps, count, channels[0], dtype=dtype)
    targets = (torch.rand(steps, count, channels[1]) < 0.5).to(dtype)
    mask = (torch.rand(steps, count) < 0.5).to(dtype)
    mask[max(lengths) :] = 0
    if symbols:
        said = torch.randint(channels[1], (steps, count))
        targets = one_hot(said, channels[1]).to(dtype)
    return (SymbolBatch if symbols else Batch)(inputs, targets, mask, torch.tensor(lengths))


def by_autograd(net: LSTMBaseline, batch: Batch) -> Results:
    logits, _ = net(batch.inputs, lengths=batch.lengths)
    nats = cost_in_bits(logits, batch).mean() * math.log(2)
    gradients = torch.autograd.grad(nats, list(net.parameters()), materialize_grads=True)
    named = zip(net.named_parameters(), gradients, strict=True)
    return {"nats": nats.detach(), **{name: gradient for (name, _), gradient in named}}


def call_of(net: LSTMBaseline) -> LSTMGradients:
    return LSTMGradients(net.config, kernel_parameters(net))


def by_the_kernels(
    net: LSTMBaseline, block: Batch, start: int, stop: int, call: LSTMGradients | None = None
) -> Results:
    symbols = block.output_kind == "symbols"
    nats = (call or call_of(net))(*block, start, stop, symbols=symbols)
    gradients = {name: parameter.grad.clone() for name, parameter in net.named_parameters()}
    return {"nats": torch.tensor(nats, dtype=net.start_cell.dtype), **gradients}


def require_close(found: Results, truth: Results) -> None:
    for name, expected in truth.items():
        scale = max(expected.abs().max().item(), 1e-3)
        apart = (found[name] - expected).abs().max().item()
        assert apart <= CLOSE[expected.dtype] * scale, f"{name}: {apart} of {scale}"


def require_same_bits(found: Results, expected: Results) -> None:
    for name in expected:
        assert torch.equal(found[name], expected[name]), name


@given(
    sizes=st.tuples(st.integers(1, 20), st.integers(1, 19), st.integers(1, 40), st.integers(1, 4)),
    lengths=st.lists(st.integers(0, 7), min_size=1, max_size=20),
    dtype=st.sampled_from([torch.float32, torch.float64]),
    seed=st.integers(0, 99),
    symbols=st.booleans(),
)
def test_cost_and_gradients_are_autograds(
    sizes: tuple[int, ...], lengths: list[int], dtype: torch.dtype, seed: int, symbols: bool
) -> None:
    net = network(*sizes, dtype=dtype, seed=seed)
    batch = batch_of(net, lengths, seed, symbols)
    require_close(by_the_kernels(net, batch, 0, len(lengths)), by_autograd(net, batch))


@pytest.mark.parametrize("dtype", CLOSE)
def test_more_rows_than_fit_into_one_piece_of_work(dtype: torch.dtype) -> None:
    net = network(3, 2, 21, 3, dtype=dtype)
    batch = batch_of(net, [31, 30, 29, 28, 3, 2, 30, 31, 17, 31, 31])
    require_close(by_the_kernels(net, batch, 0, 11), by_autograd(net, batch))


@pytest.mark.parametrize(("start", "stop"), [(0, 1), (7, 12), (200, 256)])
def test_a_part_of_a_block_wherever_it_lies_in_memory(start: int, stop: int) -> None:
    net = network(3, 2, 7, 2)
    block = Stream(TASK, seed=3, batch_size=1).block(0)
    apart = Batch(
        inputs=block.inputs.transpose(0, 1).contiguous().transpose(0, 1),
        targets=torch.cat([block.targets, block.targets * torch.nan], dim=1)[:, :256],
        mask=block.mask.t().contiguous().t(),
        lengths=block.lengths,
    )
    truth = by_autograd(net, block.narrow(start, stop))
    for one in (block, apart):
        require_close(by_the_kernels(net, one, start, stop), truth)


def test_steps_that_are_scored_beyond_a_length_have_logits_of_zero() -> None:
    net = network(3, 2, 7, 2)
    batch = batch_of(net, [5, 1, 3, 0])
    everywhere = batch._replace(mask=torch.ones_like(batch.mask[:5]), inputs=batch.inputs[:5])
    everywhere = everywhere._replace(targets=batch.targets[:5])
    require_close(by_the_kernels(net, everywhere, 0, 4), by_autograd(net, everywhere))


def test_the_number_of_threads_changes_no_bit() -> None:
    net = network(3, 2, 21, 3)
    batch = batch_of(net, [31, 30, 29, 28, 3, 2, 0, 31, 17, 31, 31])
    call = call_of(net)
    expected = by_the_kernels(net, batch, 0, 11, call)
    for count in (2, 3, 5, 16):
        with threads(count):
            require_same_bits(by_the_kernels(net, batch, 0, 11, call), expected)


def test_calls_do_not_depend_on_those_before_them() -> None:
    """Buffers are kept between calls; blocks are not."""
    net = network(3, 2, 9, 2)
    call = call_of(net)
    blocks = [Stream(task, 3, 1).block(0) for task in (TASK, Copy(bits=2, max_length=9))]
    for index, start, stop in [(0, 0, 9), (1, 3, 4), (0, 5, 30), (1, 0, 16), (0, 0, 1), (0, 1, 9)]:
        found = by_the_kernels(net, blocks[index], start, stop, call)
        require_same_bits(found, by_the_kernels(network(3, 2, 9, 2), blocks[index], start, stop))


@pytest.mark.parametrize("dtype", CLOSE)
def test_twenty_steps_of_training_are_torchs(dtype: torch.dtype) -> None:
    block = Stream(TASK, seed=3, batch_size=1).block(0)
    block = Batch(*(part.to(dtype) for part in block[:3]), block.lengths)

    def trained(kind: Callable[..., TorchStep | NativeStep]) -> Results:
        net = network(3, 2, 9, 3, dtype=dtype)
        optimiser = GravesRMSprop(net.parameters(), lr=1e-3)
        step = kind(net, optimiser)
        bits = [step(block, start, stop) for start, stop in pairwise(range(0, 63, 3))]
        return {"bits": torch.tensor(bits, dtype=dtype), **net.state_dict()}

    require_close(trained(LSTM.step), trained(TorchStep))


def test_a_loss_that_is_not_finite_changes_nothing() -> None:
    net = network(3, 2, 5, 2)
    optimiser = GravesRMSprop(net.parameters())
    step = LSTM.step(net, optimiser)
    with torch.no_grad():
        net.output.bias[1] = math.nan
    before = [p.detach().clone() for p in net.parameters()]
    with pytest.raises(FloatingPointError, match="The loss is nan"):
        step(Stream(TASK, seed=3, batch_size=1).block(0), 0, 3)
    for parameter, old in zip(net.parameters(), before, strict=True):
        torch.testing.assert_close(parameter.detach(), old, equal_nan=True, rtol=0, atol=0)


class Louder(LSTMBaseline):
    """A subclass, which may do anything."""


class Other(nn.Linear):
    """A module that replaces another one, and may do anything."""


def freeze(net: LSTMBaseline) -> None:
    net.start_cell.requires_grad_(requires_grad=False)


def shadow(net: LSTMBaseline) -> None:
    net.layers[0].forward = net.layers[0].forward


EDITS: dict[str, Callable[[LSTMBaseline], object]] = {
    "the network has forward hooks": lambda net: net.register_forward_hook(lambda *_: None),
    "layers.1 has forward hooks": lambda net: net.layers[1].register_forward_hook(lambda *_: None),
    "output has backward hooks": lambda net: net.output.register_full_backward_hook(
        lambda *_: None
    ),
    "output is a Other, not a Linear": lambda net: setattr(net, "output", Other(10, 2)),
    "layers.0 is a ParametrizedLSTM": lambda net: parametrizations.weight_norm(
        net.layers[0], "weight_hh_l0"
    ),
    "layers.0 has forward hooks": lambda net: prune.identity(net.layers[0], "weight_hh_l0"),
    "layers.0 has its own attribute in place of forward": shadow,
    "layers has 3 layers, not 2": lambda net: net.layers.append(nn.LSTM(9, 5, bias=False)),
    "layers.1.weight_ih_l0 has the shape": lambda net: net.layers.__setitem__(
        1, nn.LSTM(8, 5, bias=False)
    ),
    "layers.1 has other parameters": lambda net: net.layers.__setitem__(1, nn.LSTM(9, 5)),
    "a parameter needs no gradient": freeze,
}


@pytest.mark.parametrize("reason", EDITS)
def test_an_edited_network_is_torchs(reason: str) -> None:
    net = network(3, 2, 5, 2)
    assert LSTM.runs_on(net) == "native engine (it is the fastest here)"
    EDITS[reason](net)
    assert reason in LSTM.runs_on(net)
    optimiser = GravesRMSprop(net.parameters())
    assert type(LSTM.step(net, optimiser)) is PaddedStep


def test_the_engine_may_be_chosen() -> None:
    net = network(3, 2, 5, 2)
    net.engine = "native"
    assert LSTM.runs_on(net) == "native engine (it was asked for)"
    freeze(net)
    with pytest.raises(RuntimeError, match=r"native engine cannot run here: a parameter needs no"):
        LSTM.runs_on(net)
    plain = LSTM.build(net.config, LSTM.initialisation(), "reference")
    assert LSTM.runs_on(plain) == "torch.nn.LSTM (it was asked for)"
    assert type(LSTM.step(plain, GravesRMSprop(plain.parameters()))) is PaddedStep
    with pytest.raises(ValueError, match="engine must be one of 'auto', 'native', 'reference'"):
        LSTMBaseline(3, 2, engine="fast")


def test_a_subclass_and_another_precision_are_torchs() -> None:
    assert "is a Louder" in LSTM.runs_on(Louder(3, 2, 5))
    assert "the tensors are torch.bfloat16" in LSTM.runs_on(network(3, 2, 5, dtype=torch.bfloat16))
    handle = nn.modules.module.register_module_forward_hook(lambda *_: None)
    try:
        assert "global module hooks" in LSTM.runs_on(network(3, 2, 5))
    finally:
        handle.remove()

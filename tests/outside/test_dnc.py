"""The Differentiable Neural Computer of examples/dnc.py, against a slow reference per equation."""

from itertools import pairwise
from pathlib import Path

import torch
from hypothesis import given
from tests.slow_reference import (
    as_lists,
    assert_agrees,
    assert_distribution,
    distributions,
    few_examples,
    randn,
    reals,
)
from torch import Tensor

from ntm.common.registry import load_file
from ntm.models import MODELS

from . import slow_dnc as slow

FILE = Path(__file__).parents[2] / "examples" / "dnc.py"
dnc = load_file(FILE)
del MODELS["dnc"]  # the other tests in this process know only the families of the package
BATCH, R, N, W, INPUTS, OUTPUTS, UNITS = 2, 3, 7, 5, 4, 3, 11  # unequal, so a swapped axis fails

shares = reals(BATCH, N, low=0, high=1)
memories = reals(BATCH, N, W)
keys = reals(BATCH, R, W)
strengths = reals(BATCH, R, low=1, high=50)
free_gates = reals(BATCH, R, low=0, high=1)
gates = reals(BATCH, 1, low=0, high=1)
modes = distributions(BATCH, R, 3)
vectors = reals(BATCH, W)
erasures = reals(BATCH, W, low=0, high=1)
read_weightings = distributions(BATCH, R, N)
# A write weighting sums to at most one: a distribution over N + 1 places, less the last place.
write_weightings = distributions(BATCH, N + 1).map(lambda weights: weights[..., :-1])
EACH_HEAD = [(b, r) for b in range(BATCH) for r in range(R)]


def each(equation: object, *arguments: Tensor) -> list:
    """Apply a slow equation to one sequence after another."""
    return [equation(*(a[b].tolist() for a in arguments)) for b in range(BATCH)]  # type: ignore[operator]


def each_head(equation: object, *arguments: Tensor) -> list:
    """Apply a slow equation to one head after another; arguments (B, R, ...)."""
    return [equation(*(a[b, r].tolist() for a in arguments)) for b, r in EACH_HEAD]  # type: ignore[operator]


def of_heads(tensor: Tensor) -> Tensor:
    """Repeat what all heads of a sequence share."""
    return tensor.unsqueeze(1).expand(-1, R, *tensor.shape[1:])


def assert_at_most_one(weightings: Tensor) -> None:
    assert (weightings >= -1e-12).all()
    assert (weightings.sum(-1) <= 1 + 1e-12).all()


@few_examples
@given(memories, keys, strengths)
def test_content_weightings(memory: Tensor, key: Tensor, strength: Tensor) -> None:
    found = dnc.content_weightings(memory, key, strength)
    assert_agrees(found, each_head(slow.content_weighting, of_heads(memory), key, strength))
    assert_distribution(found)


@few_examples
@given(free_gates, read_weightings)
def test_retention(gate: Tensor, weighting: Tensor) -> None:
    assert_agrees(dnc.retention_of(gate, weighting), each(slow.retention, gate, weighting))


@few_examples
@given(shares, write_weightings, shares)
def test_usage_stays_between_zero_and_one(before: Tensor, write: Tensor, kept: Tensor) -> None:
    found = dnc.usage_after(before, write, kept)
    assert_agrees(found, each(slow.usage, before, write, kept))
    assert ((found >= 0) & (found <= 1 + 1e-12)).all()


@few_examples
@given(shares)
def test_allocation_sums_to_at_most_one(usage: Tensor) -> None:
    found = dnc.allocation_of(usage)
    assert_agrees(found, each(slow.allocation, usage))
    assert_at_most_one(found)


def test_allocation_takes_the_freest_location_and_nothing_of_a_full_memory() -> None:
    usage = torch.tensor([[1.0, 0.2, 0, 1], [1, 1, 1, 1], [0.5, 1, 0.5, 1]], dtype=torch.float64)
    expected = torch.tensor([[0.0, 0, 1, 0], [0, 0, 0, 0], [0.5, 0, 0.25, 0]], dtype=torch.float64)
    torch.testing.assert_close(dnc.allocation_of(usage), expected, rtol=0, atol=1e-5)


@few_examples
@given(write_weightings, write_weightings, gates, gates)
def test_write_weighting(content: Tensor, free: Tensor, which: Tensor, gate: Tensor) -> None:
    found = dnc.write_weighting_of(content, free, which, gate)
    numbers = (which.squeeze(1), gate.squeeze(1))
    assert_agrees(found, each(slow.write_weighting, content, free, *numbers))
    assert_at_most_one(found)


@few_examples
@given(memories, write_weightings, erasures, vectors)
def test_write(memory: Tensor, weighting: Tensor, erase: Tensor, add: Tensor) -> None:
    found = dnc.write(memory, weighting, erase, add)
    assert_agrees(found, each(slow.write, memory, weighting, erase, add))


@few_examples
@given(reals(5, BATCH, N + 1, low=0, high=1))
def test_links_and_precedence_after_several_writes(values: Tensor) -> None:
    writes = (values / values.sum(-1, keepdim=True).clamp(min=1))[..., :-1]
    links, precedence = torch.zeros(BATCH, N, N).double(), torch.zeros(BATCH, N).double()
    for weighting in writes:
        expected = each(slow.links, links, precedence, weighting)
        links = dnc.links_after(links, precedence, weighting)
        assert_agrees(links, expected)
        expected = each(slow.precedence, precedence, weighting)
        precedence = dnc.precedence_after(precedence, weighting)
        assert_agrees(precedence, expected)
        assert_at_most_one(precedence)
        assert_at_most_one(links)
        assert_at_most_one(links.transpose(1, 2))
        assert not links.diagonal(dim1=1, dim2=2).any()


def test_links_lead_through_the_writes_in_their_order() -> None:
    order = [4, 1, 6, 0]
    places = torch.nn.functional.one_hot(torch.tensor(order), N).double().unsqueeze(1)
    links, precedence = torch.zeros(1, N, N).double(), torch.zeros(1, N).double()
    for place in places:
        links = dnc.links_after(links, precedence, place)
        precedence = dnc.precedence_after(precedence, place)
    at = places[:, :1]  # (4, 1, N): a read head at each of the places
    for before, after in pairwise(at):
        torch.testing.assert_close(dnc.forward_weightings(links, before[None]), after[None])
        torch.testing.assert_close(dnc.backward_weightings(links, after[None]), before[None])


@few_examples
@given(reals(BATCH, N, N, low=0, high=1), read_weightings)
def test_forward_and_backward_weightings(links: Tensor, before: Tensor) -> None:
    shared = of_heads(links)
    assert_agrees(dnc.forward_weightings(links, before), each_head(slow.forward, shared, before))
    assert_agrees(dnc.backward_weightings(links, before), each_head(slow.backward, shared, before))


@few_examples
@given(modes, read_weightings, read_weightings, read_weightings)
def test_read_weightings(mode: Tensor, b: Tensor, c: Tensor, f: Tensor) -> None:
    found = dnc.read_weightings_of(mode, b, c, f)
    assert_agrees(found, each_head(slow.read_weighting, mode, b, c, f))


@few_examples
@given(memories, read_weightings)
def test_read(memory: Tensor, weighting: Tensor) -> None:
    assert_agrees(dnc.read(memory, weighting), each_head(slow.read, of_heads(memory), weighting))


def make_net() -> torch.nn.Module:
    torch.manual_seed(7)
    net = dnc.DNC(dnc.DNCConfig(INPUTS, OUTPUTS, UNITS, N, W, R)).double()
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.add_(torch.empty_like(parameter).uniform_(-0.7, 0.7))
    return net


def assert_same(state: object, other: object) -> None:
    for name, one, two in zip(state._fields, state, other, strict=True):  # type: ignore[attr-defined]
        torch.testing.assert_close(one, two, rtol=1e-9, atol=1e-11, msg=name)


def test_the_whole_machine_is_the_slow_reference() -> None:
    net, x = make_net(), randn(9, BATCH, INPUTS)
    logits, state = net(x)
    weights = as_lists(net.state_dict())
    for b in range(BATCH):
        expected = {name: part[0].tolist() for name, part in net.initial_state(1)._asdict().items()}
        for t, x_t in enumerate(x[:, b].tolist()):
            answer, expected = slow.step(weights, R, x_t, expected)
            assert_agrees(logits[t, b], answer)
        for name, part in state._asdict().items():
            assert_agrees(part[b], expected[name])


def test_the_state_keeps_its_promises_over_a_long_sequence() -> None:
    net = make_net()
    _, state = net(3 * randn(60, 5, INPUTS))
    assert ((state.usage >= 0) & (state.usage <= 1)).all()
    for weightings in (state.read_weightings, state.write_weighting, state.precedence, state.links):
        assert_at_most_one(weightings)
    assert_at_most_one(state.links.transpose(1, 2))
    assert not state.links.diagonal(dim1=1, dim2=2).any()
    assert state.links.any()


def test_streaming_equals_one_long_call() -> None:
    net, x = make_net(), randn(9, BATCH, INPUTS)
    logits, state = net(x)
    first, between = net(x[:4])
    second, after = net(x[4:], between)
    torch.testing.assert_close(torch.cat([first, second]), logits)
    assert_same(after, state)


def test_padding_changes_nothing() -> None:
    net, lengths = make_net(), torch.tensor([5, 0, 9, 5])
    x = randn(9, 4, INPUTS)
    x[5:, [0, 3]] = torch.nan
    x[:, 1] = torch.nan
    logits, state = net(x, lengths=lengths)
    assert not logits[5:, [0, 3]].any()
    assert not logits[:, 1].any()
    for b, length in ((0, 5), (2, 9), (3, 5)):
        alone, final = net(x[:length, b : b + 1])
        torch.testing.assert_close(logits[:length, b : b + 1], alone)
        assert_same(type(state)(*(part[b : b + 1] for part in state)), final)
    empty = type(state)(*(part[1:2] for part in state))
    assert_same(empty, net.initial_state(1))
    logits.sum().backward()
    assert all(p.grad.isfinite().all() for p in net.parameters())


def test_padding_changes_no_gradient() -> None:
    x, lengths = randn(9, 3, INPUTS), [5, 9, 2]
    net = make_net()
    net(x, lengths=torch.tensor(lengths))[0].square().sum().backward()
    padded = {name: p.grad for name, p in net.named_parameters()}
    net.zero_grad()
    for b, length in enumerate(lengths):
        net(x[:length, b : b + 1])[0].square().sum().backward()
    for name, parameter in net.named_parameters():
        torch.testing.assert_close(padded[name], parameter.grad, msg=name)


def test_every_gradient_is_the_difference_quotient() -> None:
    net, x = make_net(), randn(4, BATCH, INPUTS).requires_grad_()
    named = dict(net.named_parameters())

    def run(x: Tensor, *values: Tensor) -> tuple[Tensor, ...]:
        replaced = dict(zip(named, values, strict=True))
        logits, state = torch.func.functional_call(net, replaced, (x,))
        return logits, state.memory, state.links, state.usage

    assert torch.autograd.gradcheck(run, (x, *named.values()), fast_mode=True)


def test_the_first_step_has_finite_gradients() -> None:
    torch.manual_seed(1)
    net = dnc.DNC(dnc.DNCConfig(INPUTS, OUTPUTS))
    net(torch.zeros(3, 2, INPUTS))[0].sum().backward()  # memory, usage and links are all zero
    assert all(p.grad.isfinite().all() for p in net.parameters())


@few_examples
@given(reals(9, BATCH, INPUTS))
def test_the_bound_limits_gradients_and_changes_no_output(x: Tensor) -> None:
    net = make_net()
    free = net(x)[0]
    net.backward_clip = 1e-3
    bounded = net(x)[0]
    assert torch.equal(free, bounded)
    (1e3 * bounded.square().sum()).backward()
    # 9 steps of 2 sequences pass back at most the bound each.
    assert net.interface.bias.grad.abs().max() <= 9 * BATCH * 1e-3 * (1 + 1e-9)

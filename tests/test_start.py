import io
from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ntm import NTM, NTMConfig
from ntm.config import Initialisation
from ntm.start import StartState

from .slow_reference import OPTIONS, SIZES, assert_distribution, few_examples, make_net

N = SIZES["memory_locations"]
every_option = pytest.mark.parametrize("option", OPTIONS)


def fresh(start: Initialisation = Initialisation(), **changes: object) -> StartState:
    torch.manual_seed(5)
    return StartState(NTMConfig(**SIZES | changes), start).double()


@every_option
def test_every_sequence_starts_alike_and_the_start_is_learned(option: str) -> None:
    start = make_net(option).start
    state = start(3)
    for name, tensor in state._asdict().items():
        assert tensor.shape[0] == 3, name
        assert torch.equal(tensor[0], tensor[2]), name
        assert tensor.requires_grad == bool(tensor.numel()), name
    assert_distribution(state.read_weightings)
    assert_distribution(state.write_weightings)


@every_option
def test_every_parameter_has_elements(option: str) -> None:
    net = make_net(option)
    assert [name for name, parameter in net.named_parameters() if not parameter.numel()] == []
    recurrent = {"start.hidden", "start.cell"} & net.state_dict().keys()
    assert len(recurrent) == (2 if net.config.controller == "lstm" else 0)


def with_empty_entries(net: NTM) -> dict[str, torch.Tensor]:
    """The state_dict of a feedforward network as version 1.0 gave it."""
    empty = net.start.memory.detach().new_empty(0, net.config.controller_size)
    return net.state_dict() | {"start.hidden": empty, "start.cell": empty}


def test_a_state_dict_of_version_1_0_loads() -> None:
    net, other = make_net("defaults"), make_net("defaults")
    torch.nn.init.normal_(net.start.memory)
    stored = with_empty_entries(net)
    file = io.BytesIO()
    torch.save(stored, file)
    file.seek(0)
    other.load_state_dict(torch.load(file))
    assert torch.equal(other.start.memory, net.start.memory)
    torch.nn.Sequential(other).load_state_dict({f"0.{n}": t for n, t in stored.items()})
    assert "start.hidden" in stored  # which is the caller's and was left alone


def test_a_state_of_the_controller_must_fit_the_controller() -> None:
    net = make_net("defaults")
    wrong = with_empty_entries(net) | {"start.hidden": torch.zeros(1, net.config.controller_size)}
    with pytest.raises(RuntimeError, match=r"Unexpected key.*start\.hidden"):
        net.load_state_dict(wrong)
    recurrent = make_net("lstm")
    for name in ("start.hidden", "start.cell"):
        part = {n: t for n, t in recurrent.state_dict().items() if n != name}
        with pytest.raises(RuntimeError, match=rf"Missing key.*{name}"):
            recurrent.load_state_dict(part)


def test_a_constant_start_has_equal_rows_near_zero() -> None:
    assert torch.equal(fresh().memory, torch.full((N, 5), 1e-6, dtype=torch.float32).double())


def test_a_random_start_has_distinct_rows_between_the_bounds() -> None:
    memory = fresh(Initialisation(start_memory="random")).memory
    assert (memory.abs() <= 0.5).all()
    assert len(memory.unique(dim=0)) == N
    assert memory.min() < -0.3
    assert memory.max() > 0.3


def test_every_head_starts_somewhere_else_and_everything_else_at_zero() -> None:
    start = fresh(controller="lstm", read_heads=3, write_heads=3)
    logits = torch.cat([start.read_logits, start.write_logits])
    assert len(logits.unique(dim=0)) == 6
    assert all(len(row.unique()) == N for row in logits)
    for parameter in (start.reads, start.hidden, start.cell):
        assert parameter.numel() > 0
        assert not parameter.any()


def test_heads_that_start_together_have_one_start_weighting_and_can_part() -> None:
    start = fresh(Initialisation(start_together=True), read_heads=3, write_heads=2)
    logits = torch.cat([start.read_logits, start.write_logits])
    assert len(logits.unique(dim=0)) == 1
    assert torch.equal(logits[0], fresh(read_heads=3, write_heads=2).read_logits[0])
    start.write_logits.sum().backward()
    assert start.write_logits.grad is not None
    assert start.read_logits.grad is None


def test_the_spread_of_the_logits_decides_how_much_of_one_place_a_head_starts_in() -> None:
    def largest(spread: float) -> torch.Tensor:
        torch.manual_seed(3)
        config = NTMConfig(3, 2, read_heads=9, write_heads=9)
        start = StartState(config, Initialisation(start_spread=spread))
        return start(1).read_weightings.amax(2).mean()

    assert largest(1) < 0.2
    assert largest(4) > 0.5


def test_a_new_row_is_the_mean_of_the_trained_ones() -> None:
    start = make_net("random-start").start
    larger = start.resized(replace(start.config, memory_locations=N + 6))
    assert torch.equal(larger.memory[:N], start.memory)
    torch.testing.assert_close(larger.memory[N:], start.memory.mean(0).expand(6, -1))


@every_option
@few_examples
@given(added=st.integers(1, 500))
def test_new_locations_together_weigh_no_more_than_the_least_likely_trained_one(
    option: str, added: int
) -> None:
    start = make_net(option).start
    larger = start.resized(replace(start.config, memory_locations=N + added))
    before, after = start(1), larger(1)
    for name in ("read_weightings", "write_weightings"):
        old, new = getattr(before, name), getattr(after, name)
        assert_distribution(new)
        trained, appended = new.split([N, added], dim=2)
        rounding = 1 + 1e-12
        assert (appended.sum(2) <= trained.amin(2) * rounding).all()
        # Every head still prefers the trained locations to one another as it did.
        torch.testing.assert_close(trained / trained.sum(2, keepdim=True), old)


@every_option
def test_the_same_size_is_the_same_start(option: str) -> None:
    start = make_net(option).start
    same = start.resized(start.config)
    for name, parameter in start.named_parameters():
        assert torch.equal(same.get_parameter(name), parameter), name
        assert same.get_parameter(name) is not parameter, name


def test_resizing_leaves_the_random_state_alone_and_frozen_parameters_frozen():
    net = NTM(3, 2, memory_locations=7, memory_width=3, controller_size=5)
    net.cell.output.requires_grad_(False)
    before = torch.get_rng_state()
    larger = net.resized(11)
    assert torch.equal(torch.get_rng_state(), before)
    flags = [p.requires_grad for p in larger.parameters()]
    assert flags == [p.requires_grad for p in net.parameters()]
    assert not all(flags)


def test_start_weightings_begin_with_logits_of_deviation_one() -> None:
    start = fresh(memory_locations=10_000, read_heads=2, write_heads=3)
    for logits in (start.read_logits, start.write_logits):
        assert all(0.95 < deviation < 1.05 for deviation in logits.std(1).tolist())

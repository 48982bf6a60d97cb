import pytest
import torch
from hypothesis import given
from torch import Tensor

from ntm import NTMConfig
from ntm.addressing import Focus
from ntm.heads import HeadParameters, Heads, softplus

from . import slow_reference as slow
from .slow_reference import OPTIONS, as_lists, assert_agrees, assert_distribution, few_examples

BATCH, SIZE = 2, slow.SIZES["controller_size"]


def slow_heads(heads: Heads, hidden: Tensor) -> list[tuple[list[slow.Head], list[slow.Head]]]:
    weights = as_lists(heads.state_dict())
    values = [
        slow.linear(weights["linear.weight"], weights["linear.bias"], h) for h in hidden.tolist()
    ]
    return [slow.split_heads(heads.config, raw) for raw in values]


@pytest.mark.parametrize("option", OPTIONS)
def test_a_gate_bias_is_the_gates_alone(option: str) -> None:
    heads = slow.make_net(option).cell.heads
    torch.nn.init.zeros_(heads.linear.bias)
    hidden = torch.zeros(BATCH, SIZE, dtype=heads.linear.bias.dtype)
    before = heads(hidden)
    heads.bias_gates(-3)
    after = heads(hidden)
    for old, new in ((before.read, after.read), (before.write, after.write)):
        torch.testing.assert_close(new.gate, torch.full_like(new.gate, -3).sigmoid())
        for part, same in zip(new._replace(gate=old.gate), old, strict=True):
            assert torch.equal(part, same)
    assert torch.equal(after.erase, before.erase)
    assert torch.equal(after.add, before.add)


def of_head(focus: Focus, batch: int, head: int) -> list[Tensor]:
    return [part[batch, head] for part in focus]


@pytest.mark.parametrize("option", OPTIONS)
@few_examples
@given(hidden=slow.reals(BATCH, SIZE))
def test_every_head_gets_its_own_values_in_the_documented_order(
    option: str, hidden: Tensor
) -> None:
    heads = slow.make_net(option).cell.heads
    actual = heads(hidden)
    for b, (readers, writers) in enumerate(slow_heads(heads, hidden)):
        for h, head in enumerate(readers):
            for part, expected in zip(of_head(actual.read, b, h), head[:5], strict=True):
                assert_agrees(part, expected)
        for h, head in enumerate(writers):
            parts = [*of_head(actual.write, b, h), actual.erase[b, h], actual.add[b, h]]
            for part, expected in zip(parts, head, strict=True):
                assert_agrees(part, expected)


def in_range(parameters: HeadParameters) -> None:
    for focus in (parameters.read, parameters.write):
        assert (focus.key.abs() <= 1).all()
        assert (focus.strength >= 0).all()
        assert ((focus.gate >= 0) & (focus.gate <= 1)).all()
        assert (focus.sharpness >= 1).all()
        assert_distribution(focus.shift)
    assert ((parameters.erase >= 0) & (parameters.erase <= 1)).all()
    assert (parameters.add.abs() <= 1).all()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("option", OPTIONS)
@few_examples
@given(hidden=slow.reals(BATCH, SIZE, low=-1e4, high=1e4))
def test_whatever_the_controller_says_is_squashed_into_range(
    option: str, dtype: torch.dtype, hidden: Tensor
) -> None:
    in_range(slow.make_net(option, dtype=dtype).cell.heads(hidden.to(dtype)))


def test_softplus_has_every_digit_of_double_precision() -> None:
    values = torch.linspace(-60, 60, 241, dtype=torch.float64)
    expected = [slow.softplus(value) for value in values.tolist()]
    torch.testing.assert_close(
        softplus(values), torch.tensor(expected, dtype=torch.float64), rtol=1e-15, atol=0
    )


@pytest.mark.parametrize(
    ("raw", "expected"), [(-50.0, [1, 0, 0, 0]), (0.0, [0, 0.5, 0.5, 0]), (50.0, [0, 0, 0, 1])]
)
def test_a_scalar_shift_ranges_from_the_first_to_the_last_shift(
    raw: float, expected: list[float]
) -> None:
    config = NTMConfig(1, 1, shifts=(-1, 0, 1, 2), shift_mode="scalar", memory_width=3)
    heads = Heads(config).double()
    with torch.no_grad():
        heads.linear.weight.zero_()
        heads.linear.bias.fill_(raw)
    parameters = heads(torch.zeros(1, config.controller_size, dtype=torch.float64))
    for focus in (parameters.read, parameters.write):
        assert_agrees(focus.shift, expected)


def test_the_layer_has_an_output_for_every_value() -> None:
    heads = slow.make_net("more-write-heads").cell.heads
    read_head, write_head = 5 + 1 + 1 + 3 + 1, 5 + 1 + 1 + 3 + 1 + 5 + 5
    assert heads.linear.out_features == 2 * read_head + 3 * write_head

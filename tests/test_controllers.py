import pytest
import torch
from hypothesis import given
from torch import Tensor, nn

from ntm import NTMConfig
from ntm.controllers import CONTROLLERS, FeedforwardController, LSTMController, lstm_step

from . import slow_reference as slow
from .slow_reference import as_lists, assert_agrees, randn, reals, some_examples

BATCH, SIZE, INPUTS = 3, 5, 11


def make(kind: str, layers: int = 1) -> FeedforwardController | LSTMController:
    """A controller of 5 units that sees 11 values, with no bias at zero."""
    torch.manual_seed(3)
    config = NTMConfig(4, 2, kind, SIZE, layers, memory_width=7)
    assert config.controller_inputs == INPUTS
    return CONTROLLERS[config.controller](config).double()


def as_torch_lstm(controller: LSTMController) -> nn.LSTM:
    """The same layers in torch's own class: our one bias is its first, its second is zero."""
    lstm = nn.LSTM(INPUTS, SIZE, num_layers=len(controller.layers), dtype=torch.float64)
    with torch.no_grad():
        for index, layer in enumerate(controller.layers):
            below = layer.in_features - SIZE
            lstm.get_parameter(f"weight_ih_l{index}").copy_(layer.weight[:, :below])
            lstm.get_parameter(f"weight_hh_l{index}").copy_(layer.weight[:, below:])
            lstm.get_parameter(f"bias_ih_l{index}").copy_(layer.bias)
            lstm.get_parameter(f"bias_hh_l{index}").zero_()
    return lstm


def unroll(
    controller: LSTMController, x: Tensor, hidden: Tensor, cell: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    outputs = []
    for x_t in x:
        output, hidden, cell = controller(x_t, hidden, cell)
        outputs.append(output)
    return torch.stack(outputs), hidden, cell


@pytest.mark.parametrize("layers", [1, 2])
def test_the_lstm_is_torchs_lstm_with_one_bias(layers: int) -> None:
    controller = make("lstm", layers)
    lstm = as_torch_lstm(controller)
    x = randn(7, BATCH, INPUTS)
    hidden, cell = randn(BATCH, layers, SIZE, seed=1), randn(BATCH, layers, SIZE, seed=2)
    outputs, last_hidden, last_cell = unroll(controller, x, hidden, cell)
    start = (hidden.transpose(0, 1).contiguous(), cell.transpose(0, 1).contiguous())
    expected, (expected_hidden, expected_cell) = lstm(x, start)
    torch.testing.assert_close(outputs, expected)
    torch.testing.assert_close(last_hidden.transpose(0, 1), expected_hidden)
    torch.testing.assert_close(last_cell.transpose(0, 1), expected_cell)
    (outputs.sin().sum() + last_cell.sum()).backward()
    (expected.sin().sum() + expected_cell.sum()).backward()
    for index, layer in enumerate(controller.layers):
        parts = [lstm.get_parameter(f"weight_{kind}_l{index}").grad for kind in ("ih", "hh")]
        torch.testing.assert_close(layer.weight.grad, torch.cat(parts, dim=1))
        torch.testing.assert_close(layer.bias.grad, lstm.get_parameter(f"bias_ih_l{index}").grad)


@pytest.mark.parametrize(("kind", "layers"), [("feedforward", 1), ("lstm", 1), ("lstm", 2)])
@some_examples
@given(inputs=reals(BATCH, INPUTS))
def test_a_step_is_the_slow_step(kind: str, layers: int, inputs: Tensor) -> None:
    controller = make(kind, layers)
    config = NTMConfig(4, 2, kind, SIZE, layers, memory_width=7)
    state_layers = config.recurrent_layers
    hidden = randn(BATCH, state_layers, SIZE, seed=1)
    cell = randn(BATCH, state_layers, SIZE, seed=2)
    weights = {f"controller.{name}": v for name, v in as_lists(controller.state_dict()).items()}
    output, new_hidden, new_cell = controller(inputs, hidden, cell)
    for b in range(BATCH):
        state = (hidden[b].tolist(), cell[b].tolist())
        expected = slow.controller(config, weights, inputs[b].tolist(), *state)
        for actual, wanted in zip((output, new_hidden, new_cell), expected, strict=True):
            assert_agrees(actual[b], wanted)


def test_the_top_layer_is_the_output() -> None:
    controller = make("lstm", 2)
    zeros = torch.zeros(BATCH, 2, SIZE, dtype=torch.float64)
    output, hidden, _ = controller(randn(BATCH, INPUTS), zeros, zeros)
    assert torch.equal(output, hidden[:, 1])
    assert not torch.equal(output, hidden[:, 0])


def test_gates_that_are_shut_keep_the_cell_and_say_nothing() -> None:
    cell = randn(BATCH, SIZE)
    gates = torch.cat([torch.full_like(cell, v) for v in (-1e3, 1e3, 0.7, -1e3)], dim=1)
    hidden, after = lstm_step(gates, cell)
    assert torch.equal(after, cell)
    assert not hidden.any()


def test_a_feedforward_controller_has_no_state_to_change() -> None:
    controller = make("feedforward")
    hidden, cell = torch.empty(BATCH, 0, SIZE), torch.empty(BATCH, 0, SIZE)
    output, same_hidden, same_cell = controller(randn(BATCH, INPUTS), hidden, cell)
    assert output.shape == (BATCH, SIZE)
    assert same_hidden is hidden
    assert same_cell is cell


@pytest.mark.parametrize("layers", [1, 3])
def test_an_lstm_that_starts_feedforward_has_no_recurrence_and_forgets(layers: int) -> None:
    controller, before = make("lstm", layers), make("lstm", layers)
    controller.start_feedforward()
    for layer, old in zip(controller.layers, before.layers, strict=True):
        below = layer.in_features - SIZE
        assert torch.equal(layer.weight[:, :below], old.weight[:, :below])
        assert not layer.weight[:, below:].any()
        _, forget, *_ = layer.bias.chunk(4)
        assert torch.equal(forget, torch.full_like(forget, -1))
        others = torch.arange(4 * SIZE) // SIZE != 1
        assert torch.equal(layer.bias[others], old.bias[others])

import copy
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from ntm import NTM
from ntm.models.lstm import LSTMBaseline, LSTMConfig, LSTMState
from ntm.paper import paper_settings
from ntm.runs import Settings, build_model
from ntm.tasks import make_task


def make(layers: int = 3, **options: object) -> LSTMBaseline:
    """A small network in float64 whose every parameter is random, the learned start too."""
    torch.manual_seed(7)
    net = LSTMBaseline(3, 2, hidden_size=5, layers=layers, dtype=torch.float64, **options)
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.uniform_(-0.7, 0.7)
    return net


def slow(net: LSTMBaseline, x: Tensor, state: LSTMState) -> tuple[Tensor, LSTMState]:
    """The equations, step by step, layer by layer, with the bias as a bias."""
    hidden, cell = list(state.hidden.unbind(1)), list(state.cell.unbind(1))
    outputs = []
    for x_t in x:
        below = x_t
        for index, layer in enumerate(net.layers):
            inputs = net.config.input_size
            weight, bias = layer.weight_ih_l0, layer.weight_ih_l0[:, inputs]
            weight = torch.cat([weight[:, :inputs], weight[:, inputs + 1 :]], dim=1)
            gates = below @ weight.T + hidden[index] @ layer.weight_hh_l0.T + bias
            i, f, g, o = gates.chunk(4, dim=1)
            cell[index] = f.sigmoid() * cell[index] + i.sigmoid() * g.tanh()
            hidden[index] = o.sigmoid() * cell[index].tanh()
            below = torch.cat([x_t, hidden[index]], dim=1)
        outputs.append(torch.cat(hidden, dim=1) @ net.output.weight.T + net.output.bias)
    return torch.stack(outputs), LSTMState(torch.stack(hidden, 1), torch.stack(cell, 1))


def gradients(net: LSTMBaseline, loss: Tensor) -> dict[str, Tensor]:
    names, parameters = zip(*net.named_parameters(), strict=True)
    return dict(zip(names, torch.autograd.grad(loss, parameters), strict=True))


def assert_same_gradients(got: dict[str, Tensor], expected: dict[str, Tensor]) -> None:
    for name, gradient in expected.items():
        torch.testing.assert_close(
            got[name], gradient, msg=lambda text, name=name: f"{name}: {text}"
        )


@pytest.mark.parametrize(
    ("inputs", "outputs", "hidden", "count"),
    [
        (10, 9, 256, 1_352_969),
        (8, 7, 512, 5_312_007),
        (8, 6, 256, 1_344_518),
        (1, 1, 128, 331_905),
        (10, 8, 128, 348_424),
    ],
)
def test_parameter_counts_are_the_papers(
    inputs: int, outputs: int, hidden: int, count: int
) -> None:
    with torch.device("meta"):
        net = LSTMBaseline(inputs, outputs, hidden)
    assert sum(parameter.numel() for parameter in net.parameters()) == count


@pytest.mark.parametrize("layers", [1, 2, 3])
def test_equals_the_equations(layers: int) -> None:
    net = make(layers)
    x = torch.randn(7, 4, 3, dtype=torch.float64)
    start = net.initial_state(4)
    logits, state = net(x)
    expected, expected_state = slow(net, x, start)
    torch.testing.assert_close(logits, expected)
    torch.testing.assert_close(state.hidden, expected_state.hidden)
    torch.testing.assert_close(state.cell, expected_state.cell)
    weights = torch.randn_like(logits)
    got = gradients(net, (logits * weights).sum() + state.cell.square().sum())
    wanted = gradients(net, (expected * weights).sum() + expected_state.cell.square().sum())
    assert_same_gradients(got, wanted)


@settings(max_examples=20, deadline=None)
@given(st.lists(st.integers(0, 6), min_size=1, max_size=5).filter(any))
def test_padding_changes_nothing(lengths: list[int]) -> None:
    net = make()
    steps = max(lengths)
    x = torch.randn(steps, len(lengths), 3, dtype=torch.float64)
    start = LSTMState(*torch.randn(2, len(lengths), 3, 5, dtype=torch.float64))
    weights = torch.randn(steps, len(lengths), 2, dtype=torch.float64)
    expected_loss = torch.zeros((), dtype=torch.float64)
    padded = torch.full_like(x, float("nan"))
    for index, length in enumerate(lengths):
        padded[:length, index] = x[:length, index]
    logits, state = net(padded, start, lengths=torch.tensor(lengths))
    for index, length in enumerate(lengths):
        one = slice(index, index + 1)
        alone = LSTMState(start.hidden[one], start.cell[one])
        if length:
            expected, alone = net(x[:length, one], alone)
            torch.testing.assert_close(logits[:length, one], expected)
            expected_loss = expected_loss + (expected * weights[:length, one]).sum()
        expected_loss = expected_loss + alone.hidden.sum() + alone.cell.square().sum()
        assert not logits[length:, one].any()
        torch.testing.assert_close(state.hidden[one], alone.hidden)
        torch.testing.assert_close(state.cell[one], alone.cell)
    loss = (logits * weights).sum() + state.hidden.sum() + state.cell.square().sum()
    names = [name for name, _ in net.named_parameters() if not name.startswith("start")]
    parameters = [net.get_parameter(name) for name in names]
    got = torch.autograd.grad(loss, parameters)
    wanted = torch.autograd.grad(expected_loss, parameters)
    for name, ours, theirs in zip(names, got, wanted, strict=True):
        torch.testing.assert_close(ours, theirs, msg=lambda text, name=name: f"{name}: {text}")


def test_streaming_equals_one_call() -> None:
    net = make()
    x = torch.randn(11, 2, 3, dtype=torch.float64)
    whole, after_whole = net(x)
    state, parts = None, []
    for start, stop in ((0, 1), (1, 6), (6, 11)):
        part, state = net(x[start:stop], state)
        parts.append(part)
    torch.testing.assert_close(torch.cat(parts), whole)
    torch.testing.assert_close(state, after_whole)
    assert_same_gradients(gradients(net, torch.cat(parts).sum()), gradients(net, whole.sum()))


def test_batch_first_swaps_the_first_two_axes_only() -> None:
    net, swapped = make(), make(batch_first=True)
    x = torch.randn(7, 4, 3, dtype=torch.float64)
    lengths = torch.tensor([7, 3, 5, 1])
    for given_lengths in (None, lengths):
        logits, state = net(x, lengths=given_lengths)
        theirs, their_state = swapped(x.transpose(0, 1), lengths=given_lengths)
        torch.testing.assert_close(theirs, logits.transpose(0, 1))
        torch.testing.assert_close(their_state, state)


def test_learned_start_gets_a_gradient_and_a_copy_behaves_alike() -> None:
    net = make()
    x = torch.randn(3, 2, 3, dtype=torch.float64)
    net(x)[0].sum().backward()
    for name, parameter in net.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.abs().sum() > 0, name
    twin = copy.deepcopy(net)
    other = LSTMBaseline.from_config(net.config).double()
    other.load_state_dict(net.state_dict())
    for same in (twin, other):
        torch.testing.assert_close(same(x)[0], net(x)[0], rtol=0, atol=0)
    assert net.state_dict().keys() == dict(net.named_parameters()).keys()


def test_a_fresh_network_has_no_biases_and_an_empty_start() -> None:
    net = LSTMBaseline(3, 2, 5)
    for layer in net.layers:
        assert not layer.weight_ih_l0[:, 3].any()
        assert layer.weight_ih_l0[:, :3].all()
    assert not any(tensor.any() for tensor in net.initial_state(2))
    assert "3 layers of 5" in repr(net)


def test_detached_state_has_no_history() -> None:
    net = make()
    _, state = net(torch.randn(2, 1, 3, dtype=torch.float64))
    assert state.hidden.requires_grad
    assert not any(tensor.requires_grad for tensor in state.detach())


@pytest.mark.parametrize("name", ["input_size", "output_size", "hidden_size", "layers"])
@pytest.mark.parametrize("value", [0, -1, 2.0, True])
def test_sizes_must_be_positive_whole_numbers(name: str, value: object) -> None:
    sizes = {"input_size": 3, "output_size": 2, "hidden_size": 5, "layers": 3}
    with pytest.raises(ValueError, match=name):
        LSTMConfig(**sizes | {name: value})


def test_wrong_arguments_are_refused_by_name() -> None:
    net = make()
    x = torch.zeros(4, 2, 3, dtype=torch.float64)
    good = net.initial_state(2)
    with pytest.raises(ValueError, match=r"x must have the shape \(time, batch, 3\)"):
        net(x[..., :2])
    with pytest.raises(TypeError, match=r"x must be torch.float64"):
        net(x.float())
    with pytest.raises(ValueError, match="x must be finite"):
        net(x.log() * 0)
    with pytest.raises(ValueError, match="lengths"):
        net(x, lengths=[5, 1])
    with pytest.raises(TypeError, match="LSTMState"):
        net(x, (good.hidden, good.cell))
    with pytest.raises(ValueError, match=r"state\.cell must have the shape \(2, 3, 5\)"):
        net(x, LSTMState(good.hidden, good.cell[:1]))
    with pytest.raises(TypeError, match=r"state\.hidden .* torch.float32"):
        net(x, LSTMState(good.hidden.float(), good.cell))
    with pytest.raises(ValueError, match="batch_size"):
        net.initial_state(0)


def test_the_forget_gates_begin_as_asked_and_all_else_as_without() -> None:
    """A layer's gates are those of `slow`: input, forget, candidate, output."""
    torch.manual_seed(3)
    plain = LSTMBaseline(3, 2, hidden_size=5)
    torch.manual_seed(3)
    remembering = LSTMBaseline(3, 2, hidden_size=5, forget_bias=1.5)
    for layer in plain.layers:
        layer.weight_ih_l0.data[5:10, 3] += 1.5
    for (name, left), right in zip(plain.named_parameters(), remembering.parameters(), strict=True):
        assert torch.equal(left, right), name


def test_a_run_builds_its_network_with_the_forget_bias_of_its_settings() -> None:
    chosen = paper_settings("copy", "lstm").with_text({"initialisation.forget_bias": "1"})
    again = Settings.from_json(chosen.to_json())
    assert build_model(again).initialisation.forget_bias == 1.0


def test_an_empty_batch_has_gradients_of_zero() -> None:
    net = LSTMBaseline(3, 2, hidden_size=4, layers=2)
    logits, state = net(torch.rand(5, 0, 3), lengths=torch.zeros(0, dtype=torch.int64))
    assert logits.shape == (5, 0, 2)
    assert state.hidden.shape == (0, 2, 4)
    logits.sum().backward()
    assert not any(parameter.grad.any() for parameter in net.parameters())


def test_sizes_may_be_numpys() -> None:
    net = LSTMBaseline(
        np.int64(3), np.int32(2), np.uint8(5), np.int64(2), forget_bias=np.float32(1)
    )
    assert net.config == LSTMConfig(3, 2, 5, 2)
    assert {
        type(v) for v in (*asdict(net.config).values(), *asdict(net.initialisation).values())
    } == {
        int,
        float,
    }
    assert net.initial_state(np.int64(4)).hidden.shape == (4, 2, 5)
    assert net(torch.zeros(2, 4, 3))[0].shape == (2, 4, 2)


# In folders


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_a_saved_baseline_comes_back(tmp_path: Path, dtype: torch.dtype) -> None:
    net = LSTMBaseline(3, 2, 5, 2, forget_bias=1.0, batch_first=True, dtype=dtype)
    net.save_pretrained(tmp_path)
    again = LSTMBaseline.from_pretrained(tmp_path, engine="reference")
    assert (again.config, again.initialisation) == (net.config, net.initialisation)
    assert (again.batch_first, again.engine) == (True, "reference")
    x = torch.rand(4, 6, 3).to(dtype)
    assert torch.equal(again(x)[0], net(x)[0])
    turned = LSTMBaseline.from_pretrained(tmp_path, batch_first=False, dtype=torch.float64)
    assert not turned.batch_first
    assert turned.start_cell.dtype == torch.float64


def test_a_baseline_and_an_ntm_are_not_mistaken_for_each_other(tmp_path: Path) -> None:
    LSTMBaseline(3, 2, 5, 1).save_pretrained(tmp_path / "baseline")
    NTM(3, 2, controller_size=5).save_pretrained(tmp_path / "ntm")
    with pytest.raises(ValueError, match=r"class LSTMBaseline, .* LSTMBaseline\.from_pretrained"):
        NTM.from_pretrained(tmp_path / "baseline")
    with pytest.raises(ValueError, match=r"class NTM, not .* NTM\.from_pretrained"):
        LSTMBaseline.from_pretrained(tmp_path / "ntm")
    with pytest.raises(ValueError, match="copy-ff is an NTM"):
        LSTMBaseline.from_pretrained("copy-ff")


def test_an_edited_baseline_is_not_saved(tmp_path: Path) -> None:
    net = LSTMBaseline(3, 2, 5, 1)
    net.layers[0].register_forward_hook(lambda *_: None)
    with pytest.raises(ValueError, match=r"layers\.0 has hooks"):
        net.save_pretrained(tmp_path)


def test_a_task_of_other_channels_is_not_recorded(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="task has 9 inputs and 8 outputs, but the network has 3"):
        LSTMBaseline(3, 2, 5, 1).save_pretrained(tmp_path, task=make_task("copy"))

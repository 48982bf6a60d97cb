"""Transforms of torch: right on the reference engine, right or refused on the native engine."""

import copy
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.autograd import forward_ad
from torch.func import functional_call, grad, hessian, jacfwd, jacrev, jvp, vjp, vmap

from ntm import NTM

OPTIONS: dict[str, dict[str, Any]] = {
    "feedforward": {},
    "lstm": {"controller": "lstm", "controller_layers": 2, "heads": 2},
    "scalar shifts": {"shift_mode": "scalar"},
}


def network(options: str = "feedforward", engine: str = "reference") -> NTM:
    torch.manual_seed(0)
    net = NTM(
        2,
        2,
        controller_size=3,
        memory_locations=5,
        memory_width=3,
        dtype=torch.float64,
        **OPTIONS[options],
    )
    net.engine = engine
    return net


def loss_of(net: NTM, x: Tensor) -> Tensor:
    logits, final = net(x)
    return logits.square().sum() + final.memory.sum()


X = torch.linspace(-1, 1, 12, dtype=torch.float64).reshape(3, 2, 2)
DIRECTION = torch.cos(torch.arange(12, dtype=torch.float64)).reshape(3, 2, 2)


def slope(net: NTM) -> Tensor:
    """Return the derivative in DIRECTION by finite differences."""
    step = 1e-5 * DIRECTION
    return (loss_of(net, X + step) - loss_of(net, X - step)).detach() / 2e-5


@pytest.mark.parametrize("options", OPTIONS)
def test_the_weightings_have_derivatives_under_transforms(options: str) -> None:
    net = network(options)

    def attention(x: Tensor) -> Tensor:
        *_, weightings = net(x, return_weightings=True)
        return weightings.read.square().sum() + (weightings.write**3).sum()

    step = 1e-5 * DIRECTION
    expected = (attention(X + step) - attention(X - step)).detach() / 2e-5
    _, tangent = jvp(attention, (X,), (DIRECTION,))
    for found in (tangent, (grad(attention)(X) * DIRECTION).sum()):
        torch.testing.assert_close(found, expected, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("options", OPTIONS)
def test_forward_mode_is_the_slope(options: str) -> None:
    net = network(options)
    _, tangent = jvp(lambda x: loss_of(net, x), (X,), (DIRECTION,))
    torch.testing.assert_close(tangent, slope(net), rtol=1e-6, atol=1e-8)
    assert tangent.abs() > 1e-3
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(X, DIRECTION)
        assert torch.equal(forward_ad.unpack_dual(loss_of(net, dual)).tangent, tangent)
    jacobian = jacfwd(lambda x: loss_of(net, x))(X)
    torch.testing.assert_close((jacobian * DIRECTION).sum(), tangent)


@pytest.mark.parametrize("options", OPTIONS)
def test_reverse_mode_and_second_derivatives_of_torch_func(options: str) -> None:
    net = network(options)
    expected = torch.autograd.grad(loss_of(net, x := X.clone().requires_grad_()), x)[0]
    torch.testing.assert_close(grad(lambda x: loss_of(net, x))(X), expected)
    torch.testing.assert_close(jacrev(lambda x: loss_of(net, x))(X), expected)
    torch.testing.assert_close(
        vjp(lambda x: loss_of(net, x), X)[1](torch.ones_like(X[0, 0, 0]))[0], expected
    )
    second = hessian(lambda x: loss_of(net, x))(X).reshape(12, 12)
    gradient = torch.autograd.grad(
        loss_of(net, x := X.clone().requires_grad_()), x, create_graph=True
    )[0]
    rows = [
        torch.autograd.grad(g, x, retain_graph=True)[0].reshape(-1) for g in gradient.reshape(-1)
    ]
    torch.testing.assert_close(second, torch.stack(rows))


@pytest.mark.parametrize("clip", [float("inf"), 0.01])
def test_vmap_over_inputs_and_per_sample_gradients(clip: float) -> None:
    net = network()
    net.backward_clip = clip
    many = torch.stack([X, 2 * X, -X])
    expected = torch.stack([net(x)[0] for x in many])
    torch.testing.assert_close(vmap(lambda x: net(x)[0])(many), expected)
    parameters = {name: p.detach() for name, p in net.named_parameters()}

    def loss(values: dict[str, Tensor], x: Tensor) -> Tensor:
        logits, final = functional_call(net, values, (x,))
        return logits.square().sum() + final.memory.sum()

    found = vmap(grad(loss), in_dims=(None, 0))(parameters, many)
    for index, x in enumerate(many):
        net.zero_grad()
        loss_of(net, x).backward()
        for name, gradient in found.items():
            torch.testing.assert_close(gradient[index], net.get_parameter(name).grad)


def test_vmap_over_networks() -> None:
    nets = [network(), network("feedforward")]
    with torch.no_grad():
        for parameter in nets[1].parameters():
            parameter.add_(0.1)
    stacked = {
        name: torch.stack([net.get_parameter(name).detach() for net in nets])
        for name, _ in nets[0].named_parameters()
    }
    found = vmap(lambda values: functional_call(nets[0], values, (X,))[0])(stacked)
    torch.testing.assert_close(found, torch.stack([net(X)[0] for net in nets]))


def test_forward_mode_with_a_clip_is_refused() -> None:
    net = network()
    net.backward_clip = 1.0
    with pytest.raises(
        RuntimeError, match=r"backward_clip bounds gradients that flow back.*backward_clip = None"
    ):
        jvp(lambda x: loss_of(net, x), (X,), (DIRECTION,))


TRANSFORMS: dict[str, Callable[[NTM], Any]] = {
    "torch.func.jvp": lambda net: jvp(lambda x: loss_of(net, x), (X,), (DIRECTION,))[1],
    "torch.func.grad": lambda net: grad(lambda x: loss_of(net, x))(X),
    "torch.func.vmap": lambda net: vmap(lambda x: net(x)[0])(X[None]),
}


@pytest.mark.parametrize("name", TRANSFORMS)
def test_native_refuses_and_auto_takes_the_reference(name: str) -> None:
    transform = TRANSFORMS[name]
    with pytest.raises(RuntimeError, match=rf"does not compute under {name}.*engine='reference'"):
        transform(network(engine="native"))
    expected = transform(network(engine="reference"))
    with pytest.warns(UserWarning, match=f"does not compute under {name}"):
        found = transform(network(engine="auto"))
    torch.testing.assert_close(found, expected)


def tangent(net: NTM, dual_parameter: bool) -> Tensor:
    """Return the derivative of the summed logits in a direction of x or of one weight."""
    with forward_ad.dual_level():
        values, x = dict(net.named_parameters()), X
        if dual_parameter:
            weight = values["cell.output.weight"]
            values["cell.output.weight"] = forward_ad.make_dual(weight, torch.ones_like(weight))
        else:
            x = forward_ad.make_dual(X, DIRECTION)
        logits, _ = functional_call(net, values, (x,))
        return forward_ad.unpack_dual(logits.sum()).tangent


@pytest.mark.parametrize("dual_parameter", [False, True])
def test_dual_tensors_are_refused_or_right(dual_parameter: bool) -> None:
    expected = tangent(network(), dual_parameter)
    assert expected.abs() > 1e-3
    with pytest.raises(RuntimeError, match=r"forward-mode differentiation.*engine='reference'"):
        tangent(network(engine="native"), dual_parameter)
    with pytest.warns(UserWarning, match="forward-mode differentiation"):
        found = tangent(network(engine="auto"), dual_parameter)
    assert torch.equal(found, expected)


def test_a_dual_level_without_duals_is_native() -> None:
    net = network(engine="native")
    with forward_ad.dual_level():
        assert torch.equal(net(X)[0], net(X)[0])


def test_forward_mode_inside_a_compiled_function_is_no_silent_zero() -> None:
    torch.compiler.reset()
    net = network(engine="auto")
    compiled = torch.compile(
        lambda x: jvp(lambda y: loss_of(net, y), (x,), (DIRECTION,))[1], backend="eager"
    )
    try:
        found = compiled(X)
    except Exception as error:
        assert "engine='reference'" in str(error)  # noqa: PT017
    else:
        torch.testing.assert_close(found, slope(net), rtol=1e-6, atol=1e-8)


def test_the_operator_itself_refuses_tangents() -> None:
    from ntm.engine import operators

    net = network()
    arguments = [
        [p.detach() for p in net.cell.parameters()],
        [s.detach() for s in net.initial_state(2)],
    ]
    choices = operators.choices_of(net.config, net.backward_clip)
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(X, DIRECTION)
        with pytest.raises(RuntimeError, match="engine='reference'"):
            operators.forward(dual, None, *arguments, *choices, True)


@pytest.mark.parametrize("weights", ["retained", "changed"])
def test_weights_changed_between_forward_and_backward_are_noticed(weights: str) -> None:
    net = network(engine="native")
    loss = loss_of(net, X)
    if weights == "changed":
        with torch.no_grad():
            net.cell.output.weight.add_(1)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            loss.backward()
    else:
        loss.backward(retain_graph=True)
        once = copy.deepcopy(net.cell.output.weight.grad)
        loss.backward()
        torch.testing.assert_close(net.cell.output.weight.grad, 2 * once)


def test_a_negative_view_is_computed_right() -> None:
    net = network(engine="native")
    x = torch._neg_view(X)
    assert torch.equal(net(x)[0], net(-X)[0])
    gradient = torch.autograd.grad(
        net(X)[0], net.cell.output.bias, torch._neg_view(torch.ones(3, 2, 2, dtype=torch.float64))
    )
    expected = torch.autograd.grad(
        net(X)[0], net.cell.output.bias, -torch.ones(3, 2, 2, dtype=torch.float64)
    )
    assert torch.equal(gradient[0], expected[0])

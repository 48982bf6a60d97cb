import copy
import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.optim.optimizer import register_optimizer_step_post_hook

from ntm.training import GravesRMSprop


def slow(
    p: float,
    gradients: list[float],
    *,
    lr: float,
    decay: float,
    momentum: float,
    epsilon: float,
    clip: float,
) -> float:
    """Graves' equations for one number, in Python's double precision."""
    n = m = d = 0.0
    for gradient in gradients:
        g = max(-clip, min(clip, gradient))
        n = decay * n + (1 - decay) * g * g
        m = decay * m + (1 - decay) * g
        d = momentum * d - lr * g / math.sqrt(n - m * m + epsilon)
        p = p + d
    return p


def descend(optimiser: GravesRMSprop, parameter: Tensor, gradients: list[Tensor]) -> None:
    for gradient in gradients:
        parameter.grad = gradient.clone()
        optimiser.step()


@settings(max_examples=30, deadline=None)
@given(
    lr=st.floats(1e-5, 1.0),
    decay=st.floats(0.1, 0.99),
    momentum=st.floats(0.0, 0.99),
    epsilon=st.floats(1e-6, 1.0),
    clip=st.floats(0.1, 20.0),
    seed=st.integers(0, 1000),
)
def test_equals_the_equations(seed: int, **constants: float) -> None:
    torch.manual_seed(seed)
    parameter = torch.randn(2, 3, dtype=torch.float64)
    gradients = [10 * torch.randn(2, 3, dtype=torch.float64) for _ in range(12)]
    expected = [
        slow(p, [g.flatten()[i].item() for g in gradients], **constants)
        for i, p in enumerate(parameter.flatten().tolist())
    ]
    descend(GravesRMSprop([parameter], **constants), parameter, gradients)
    torch.testing.assert_close(parameter.flatten(), torch.tensor(expected, dtype=torch.float64))


def test_the_defaults_are_the_papers() -> None:
    parameter = torch.zeros(1, dtype=torch.float64)
    gradients = [torch.tensor([g], dtype=torch.float64) for g in (3.0, -25.0, 0.5)]
    descend(GravesRMSprop([parameter]), parameter, gradients)
    expected = slow(
        0.0, [3.0, -25.0, 0.5], lr=1e-4, decay=0.95, momentum=0.9, epsilon=1e-4, clip=10.0
    )
    assert parameter.item() == pytest.approx(expected, rel=1e-12)


@settings(max_examples=20, deadline=None)
@given(gradient=st.floats(-1e4, 1e4, width=32), clip=st.sampled_from([10.0, None]))
def test_a_gradient_that_never_changes_stays_finite(gradient: float, clip: float | None) -> None:
    parameter = torch.zeros(1)
    descend(GravesRMSprop([parameter], clip=clip), parameter, [torch.tensor([gradient])] * 300)
    assert parameter.isfinite().all()


def test_gradients_are_not_changed_and_parameters_without_one_stay() -> None:
    moved, still = torch.ones(2), torch.ones(2)
    optimiser = GravesRMSprop([moved, still])
    moved.grad = torch.tensor([100.0, -100.0])
    optimiser.step()
    assert moved.grad.tolist() == [100.0, -100.0]
    assert still.tolist() == [1.0, 1.0]
    assert (moved != 1).all()
    assert moved[0] - 1 == -(moved[1] - 1)


def test_the_state_is_three_tensors_and_can_be_saved_and_loaded() -> None:
    torch.manual_seed(1)
    first = torch.randn(3, requires_grad=True)
    optimiser = GravesRMSprop([first], lr=0.01)
    gradients = [torch.randn(3) for _ in range(6)]
    with torch.no_grad():
        descend(optimiser, first, gradients[:3])
    assert set(optimiser.state[first]) == {"mean_square", "mean", "delta"}
    second = first.detach().clone().requires_grad_()
    other = GravesRMSprop([second], lr=0.5)
    other.load_state_dict(copy.deepcopy(optimiser.state_dict()))
    descend(optimiser, first, gradients[3:])
    descend(other, second, gradients[3:])
    assert torch.equal(first, second)


def test_ensure_state_changes_no_result() -> None:
    results = []
    for early in (False, True):
        parameter = torch.ones(3)
        optimiser = GravesRMSprop([parameter])
        if early:
            optimiser.ensure_state()
        descend(optimiser, parameter, [torch.tensor([1.0, -2.0, 30.0])] * 2)
        results.append(parameter)
    assert torch.equal(*results)


def test_a_closure_is_called_with_gradients_on() -> None:
    parameter = torch.tensor([2.0], requires_grad=True)
    optimiser = GravesRMSprop([parameter])

    def closure() -> float:
        optimiser.zero_grad()
        loss = parameter.square().sum()
        loss.backward()
        return loss.item()

    assert optimiser.step(closure) == 4.0
    assert parameter.item() < 2.0


def test_groups_have_their_own_settings() -> None:
    slow_one, fast_one = torch.ones(1), torch.ones(1)
    optimiser = GravesRMSprop([{"params": [slow_one]}, {"params": [fast_one], "lr": 1e-2}])
    slow_one.grad, fast_one.grad = torch.ones(1), torch.ones(1)
    optimiser.step()
    assert (1 - fast_one).item() == pytest.approx(100 * (1 - slow_one).item(), rel=1e-2)


@pytest.mark.parametrize(
    ("name", "value"),
    [("lr", -1.0), ("decay", 1.5), ("momentum", -0.1), ("epsilon", 0.0), ("clip", 0.0)],
)
def test_senseless_settings_are_refused(name: str, value: float) -> None:
    with pytest.raises(ValueError, match=name):
        GravesRMSprop([torch.zeros(1)], **{name: value})


def fused_twins(dtype: torch.dtype) -> tuple[list[Tensor], list[Tensor]]:
    torch.manual_seed(2)
    ours = [
        torch.randn(3, 5, dtype=dtype),
        torch.randn(23, dtype=dtype),
        torch.zeros(0, dtype=dtype),
    ]
    return ours, [parameter.clone() for parameter in ours]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("clip", [10.0, None])
def test_the_fused_update_is_the_same_update(dtype: torch.dtype, clip: float | None) -> None:
    ours, theirs = fused_twins(dtype)
    for parameter in ours:
        parameter.grad = torch.zeros_like(parameter)
    fused = GravesRMSprop(ours, lr=0.01, clip=clip)
    plain = GravesRMSprop(theirs, lr=0.01, clip=clip)
    update = fused.fused_update()
    for _ in range(10):
        for left, right in zip(ours, theirs, strict=True):
            right.grad = 10 * torch.randn_like(right)
            left.grad.copy_(right.grad)  # type: ignore[union-attr]
        assert update()
        plain.step()
    for left, right in zip(ours, theirs, strict=True):
        torch.testing.assert_close(left, right)
        for name, state in plain.state[right].items():
            torch.testing.assert_close(fused.state[left][name], state)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("place", [0, 14, 15, 37])
def test_the_fused_update_refuses_what_is_not_finite(value: float, place: int) -> None:
    ours, before = fused_twins(torch.float32)
    for parameter in ours:
        parameter.grad = torch.ones_like(parameter)
    optimiser = GravesRMSprop(ours)
    update = optimiser.fused_update()
    first, second, _ = ours
    (first.grad.view(-1) if place < 15 else second.grad)[place % 15] = value  # type: ignore[index, union-attr]
    assert not update()
    for parameter, old in zip(ours, before, strict=True):
        assert torch.equal(parameter, old)
        assert not any(state.any() for state in optimiser.state[parameter].values())


def test_the_fused_update_needs_one_group_and_all_gradients() -> None:
    one, other = torch.zeros(1), torch.zeros(1)
    with pytest.raises(ValueError, match="one group of parameters; got 2"):
        GravesRMSprop([{"params": [one]}, {"params": [other]}]).fused_update()
    with pytest.raises(ValueError, match="needs a gradient of every parameter"):
        GravesRMSprop([one]).fused_update()


def test_hooks_and_the_profiler_see_a_step() -> None:
    parameter = torch.nn.Parameter(torch.ones(3))
    optimiser = GravesRMSprop([parameter])
    seen: list[str] = []
    optimiser.register_step_pre_hook(lambda *_: seen.append("before"))
    optimiser.register_step_post_hook(lambda *_: seen.append("after"))
    everywhere = register_optimizer_step_post_hook(lambda *_: seen.append("everywhere"))
    parameter.grad = torch.ones(3)
    optimiser.step()
    everywhere.remove()
    assert seen == ["before", "after", "everywhere"]

    plain = GravesRMSprop([parameter])
    with torch.profiler.profile() as profile:
        plain.step()
    names = {event.key for event in profile.key_averages()}
    assert "Optimizer.step#GravesRMSprop.step" in names

import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from ntm.layer import NTM
from ntm.models import family_of
from ntm.models.lstm import LSTMBaseline
from ntm.models.lstm_family import PaddedStep
from ntm.models.step import NativeStep, TwoPartStep
from ntm.runs import Stream
from ntm.tasks import Copy, cost_in_bits
from ntm.training import GravesRMSprop, TorchStep

TASK = Copy(bits=2, max_length=4)


def block() -> object:
    return Stream(TASK, seed=3, batch_size=1).block(0)


def fastest(model: nn.Module, optimiser: GravesRMSprop) -> TwoPartStep:
    return family_of(model).step(model, optimiser)


def models() -> list[nn.Module]:
    torch.manual_seed(5)
    return [
        LSTMBaseline(3, 2, 5),
        NTM(3, 2, controller_size=7, memory_locations=5, memory_width=3),
    ]


@pytest.mark.parametrize(
    ("index", "make", "kind"),
    [(0, fastest, NativeStep), (0, PaddedStep, PaddedStep), (1, fastest, NativeStep)],
)
def test_a_step_is_one_update_on_the_mean_cost_of_its_sequences(
    index: int, make: Callable[..., TwoPartStep], kind: type
) -> None:
    model, twin = models()[index], models()[index]
    optimiser = GravesRMSprop(twin.parameters(), lr=0.01)
    step = make(model, GravesRMSprop(model.parameters(), lr=0.01))
    assert type(step) is kind
    for start, stop in ((0, 1), (1, 6), (250, 256)):
        bits = step(block(), start, stop)
        batch = block().narrow(start, stop)
        logits, _ = twin(batch.inputs, lengths=batch.lengths)
        costs = cost_in_bits(logits, batch)
        optimiser.zero_grad()
        (costs.mean() * math.log(2)).backward()
        optimiser.step()
        assert bits == pytest.approx(costs.sum().item())
    for (name, ours), theirs in zip(model.named_parameters(), twin.parameters(), strict=True):
        torch.testing.assert_close(ours, theirs, msg=lambda text, name=name: f"{name}: {text}")


class Cliff(nn.Module):
    """The root of a parameter: at zero its value is finite and its gradient is not."""

    def __init__(self, value: float) -> None:
        super().__init__()
        self.innocent = nn.Parameter(torch.ones(2))
        self.height = nn.Parameter(torch.tensor([value]))

    def forward(self, x: Tensor, lengths: Tensor) -> tuple[Tensor, None]:
        return self.innocent * self.height.sqrt() + x[..., :2] * 0, None


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (0.0, "gradient of height is not finite"),
        (-1.0, "The loss is nan"),
        (math.inf, "The loss is"),
    ],
)
def test_what_is_not_finite_changes_nothing(value: float, message: str) -> None:
    model = Cliff(value)
    optimiser = GravesRMSprop(model.parameters())
    optimiser.ensure_state()
    before = {name: p.detach().clone() for name, p in model.named_parameters()}
    with pytest.raises(FloatingPointError, match=message):
        TorchStep(model, optimiser)(block(), 0, 3)
    for name, parameter in model.named_parameters():
        assert torch.equal(parameter, before[name]), name
        assert not any(state.any() for state in optimiser.state[parameter].values())


@pytest.mark.parametrize("engine", ["native", "reference"])
def test_a_machine_that_is_not_finite_changes_nothing(engine: str) -> None:
    model = models()[1]
    model.engine = engine
    optimiser = GravesRMSprop(model.parameters())
    with torch.no_grad():
        model.cell.output.bias[1] = math.nan
    before = {name: p.detach().clone() for name, p in model.named_parameters()}
    step = family_of(model).step(model, optimiser)
    with pytest.raises(FloatingPointError, match="The loss is nan"):
        step(block(), 0, 3)
    for name, parameter in model.named_parameters():
        assert torch.equal(parameter.isnan(), before[name].isnan()), name
        assert torch.equal(parameter.nan_to_num(), before[name].nan_to_num()), name


def test_a_step_works_with_any_optimiser() -> None:
    model = models()[0]
    step = TorchStep(model, torch.optim.Adam(model.parameters(), lr=0.01))
    costs = [step(block(), 0, 64) / 64 for _ in range(30)]
    assert costs[-1] < costs[0]

"""The formulas against a count of what a plain Python machine does, one operation at a time."""

import math
from dataclasses import replace
from typing import Any, NamedTuple

import pytest
import torch
from benchmarks.engine import flops
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits
from torch.utils.flop_counter import FlopCounterMode

from ntm import NTM, NTMConfig
from ntm.bench.networks import PAPER, random_batch
from ntm.cell import Cell
from ntm.cell import State as TorchState
from ntm.training import GravesRMSprop

from .scalar_cell import Counted, Linear, Machine, State, row_norm, sigmoid, softplus, sqrt, zeros

SMALL = NTMConfig(
    input_size=3, output_size=2, controller_size=5, memory_locations=7, memory_width=4
)
CONFIGS = {
    "feedforward": SMALL,
    "lstm": replace(SMALL, controller="lstm"),
    "two layers": replace(SMALL, controller="lstm", controller_layers=2),
    "many heads": replace(SMALL, read_heads=2, write_heads=3),
    "lstm and many heads": replace(SMALL, controller="lstm", read_heads=3, write_heads=2),
    "five shifts": replace(SMALL, shifts=(-2, -1, 0, 1, 2)),
    "scalar shift": replace(SMALL, shift_mode="scalar"),
}
SHARE = 1 / 3


class Step(NamedTuple):
    """What a step needs and, once it has run, what came of it."""

    cell: Cell
    x: Tensor
    targets: Tensor
    before: TorchState
    upstream: TorchState


def random_step(config: NTMConfig) -> Step:
    """One sequence, a random state before the step and a random gradient of the state after."""
    torch.manual_seed(5)
    net = NTM.from_config(config).double()
    shapes = [part.shape for part in net.initial_state(1)]
    before = TorchState(*(torch.rand(shape, dtype=torch.float64) for shape in shapes))
    weightings = {
        name: getattr(before, name).softmax(-1) for name in ("read_weightings", "write_weightings")
    }
    upstream = TorchState(*(torch.randn(shape, dtype=torch.float64) for shape in shapes))
    x = torch.randn(1, config.input_size, dtype=torch.float64)
    targets = torch.randint(2, (1, config.output_size)).double()
    return Step(net.cell, x, targets, before._replace(**weightings), upstream)


def by_autograd(step: Step, scored: bool) -> dict[str, Tensor]:
    """Logits, state after, gradients of the parameters and of the state before."""
    before = TorchState(*(part.clone().requires_grad_() for part in step.before))
    step.cell.zero_grad()
    what, after = step.cell(step.x, before)
    pairs = zip(after, step.upstream, strict=True)
    loss = sum((value * gradient).sum() for value, gradient in pairs)
    if scored:
        loss = loss + SHARE * binary_cross_entropy_with_logits(
            what.output, step.targets, reduction="sum"
        )
    loss.backward()
    values = {f"{name} after": part for name, part in after._asdict().items()}
    values |= {f"d {name} before": part.grad for name, part in before._asdict().items()}
    values |= {
        f"d {name}": p.grad for name, p in step.cell.named_parameters() if p.grad is not None
    }
    return values | ({"logits": what.output} if scored else {})


def counted(values: Any) -> Any:
    return [counted(v) for v in values] if isinstance(values, list) else Counted(values)


def floats(values: Any) -> Any:
    return [floats(v) for v in values] if isinstance(values, list) else values.value


def scalar_state(state: TorchState, norms: list[Counted]) -> State:
    memory, read_weightings, write_weightings, reads, hidden, cell = (
        counted(part[0].tolist()) for part in state
    )
    reads = [value for read in reads for value in read]
    return State(memory, norms, read_weightings, write_weightings, reads, hidden, cell)


class Counts(NamedTuple):
    forward: int
    backward: int


def by_counting(step: Step, scored: bool) -> tuple[dict[str, Any], Counts]:
    """The same values by the scalar machine, and the operations it took."""
    config = step.cell.config
    parameters = [p.detach().tolist() for p in step.cell.parameters()]
    linears = [Linear(*pair) for pair in zip(parameters[::2], parameters[1::2], strict=True)]
    machine = Machine(config, linears)
    before = scalar_state(step.before, [])
    before.norms = [row_norm(row) for row in before.memory]
    upstream = scalar_state(step.upstream, zeros(config.memory_locations))
    targets = counted(step.targets[0].tolist())
    x = counted(step.x[0].tolist())

    Counted.operations = 0
    logits, after = machine.forward(x, before, scored)
    loss = Counted(0.0)
    for z, t in zip(logits, targets if scored else [], strict=True):
        loss = loss + (softplus(z) - z * t)
    forward = Counted.operations
    dlogits = [
        (sigmoid(z) - t) * SHARE for z, t in zip(logits, targets if scored else [], strict=True)
    ]
    gradient = machine.backward(dlogits, upstream)
    counts = Counts(forward, Counted.operations - forward)

    # What the norms of the rows before pass on belongs to the step before.
    for i, row in enumerate(before.memory):
        pull = gradient.norms[i] / before.norms[i]
        gradient.memory[i] = [
            d + pull * value for d, value in zip(gradient.memory[i], row, strict=True)
        ]
    values = {f"{name} after": getattr(after, name) for name in TorchState._fields}
    values |= {f"d {name} before": getattr(gradient, name) for name in TorchState._fields}
    names = [name for name, _ in step.cell.named_parameters()]
    gathered = [part for linear in linears for part in (linear.dweight, linear.dbias)]
    values |= {f"d {name}": part for name, part in zip(names, gathered, strict=True)}
    return values | ({"logits": logits} if scored else {}), counts


@pytest.mark.parametrize("scored", [True, False])
@pytest.mark.parametrize("name", CONFIGS)
def test_a_step_takes_as_many_operations_as_the_formulas_say(name: str, scored: bool) -> None:
    step = random_step(CONFIGS[name])
    expected = by_autograd(step, scored)
    values, counts = by_counting(step, scored)
    for key, truth in expected.items():
        found = torch.tensor(floats(values[key]), dtype=torch.float64).flatten()
        torch.testing.assert_close(found, truth.detach().flatten(), msg=lambda m, key=key: key + m)
    formula = flops.step_flops(CONFIGS[name], scored)
    assert counts == (formula.forward, formula.backward)


@pytest.mark.parametrize("network", PAPER, ids=str)
def test_most_operations_are_the_matrix_products_that_torch_counts(network: Any) -> None:
    """Linear layers, similarities, reads and adds, forward; the rest is counted by hand."""
    config = network.config
    cell, state = Cell(config), NTM.from_config(config).initial_state(1)
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        cell(torch.zeros(1, config.input_size), state)
    heads = config.read_heads + config.write_heads
    locations, width = config.memory_locations, config.memory_width
    elementwise = flops.row_norms(locations, width).forward + flops.squashing(config).forward
    elementwise += heads * flops.addressing(config).forward - heads * 2 * locations * width
    elementwise += config.write_heads * 3 * locations * width  # equation 3
    elementwise += flops.LOSS.forward * config.output_size
    units = config.controller_size * config.controller_layers
    elementwise += units if config.controller == "feedforward" else 9 * units
    formula = flops.step_flops(config).forward
    assert formula == counter.get_total_flops() + elementwise


def test_an_update_takes_as_many_operations_as_stated() -> None:
    parameter = torch.nn.Parameter(torch.tensor([0.3], dtype=torch.float64))
    optimiser = GravesRMSprop([parameter], lr=0.01)
    mean_square, mean, delta, value = Counted(0.0), Counted(0.0), Counted(0.0), Counted(0.3)
    for gradient in (-3.0, 12.0):
        parameter.grad = torch.tensor([gradient], dtype=torch.float64)
        optimiser.step()
        Counted.operations = 0
        g = clipped(Counted(gradient), 10.0)
        fresh = g * 0.05
        mean_square = mean_square * 0.95 + fresh * g
        mean = mean * 0.95 + fresh
        root = sqrt(mean_square - mean * mean + 1e-4)
        delta = delta * 0.9 - g * 0.01 / root
        value = value + delta
        assert Counted.operations == flops.UPDATE
        assert math.isclose(value.value, parameter.item(), rel_tol=1e-12)


def clipped(number: Counted, bound: float) -> Counted:
    Counted.operations += 2
    return Counted(min(max(number.value, -bound), bound))


def test_a_training_step_is_its_steps_its_start_and_its_update() -> None:
    batch = random_batch(SMALL, (5, 3, 2))
    batch = batch._replace(mask=batch.mask * torch.tensor([[0.0], [1.0], [1.0], [1.0], [0.0]]))
    scored, unscored = flops.step_flops(SMALL).total, flops.step_flops(SMALL, scored=False).total
    net = NTM.from_config(SMALL)
    parameters = sum(p.numel() for p in net.parameters())
    start_values = 7 * 4 + 7 + 7 + 4  # memory, two weightings, one read
    start = 2 * 7 * (3 + 4) + 2 * 7 * (2 * 4 + 1) + 3 * start_values
    expected = 6 * scored + 4 * unscored + start + 17 * parameters
    assert flops.training_flops(SMALL, batch) == expected

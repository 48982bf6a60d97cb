"""A training step without autograd: the same cost, gradients and update as with autograd."""

import math
import threading
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Literal

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.engine.comparison import (
    FLOOR_OF_CANCELLATION,
    RUNS,
    Case,
    Results,
    concrete,
    in_float64,
    move_last_bits,
    require_equal,
    tolerances,
)
from tests.engine.conftest import RunPython
from tests.spelling import Spell
from torch import Tensor

from ntm.engine import native
from ntm.engine.fused import NTMGradients
from ntm.layer import NTM
from ntm.models.step import NativeStep
from ntm.runs import Stream
from ntm.tasks import Batch, Copy, SymbolBatch, Task, cost_in_bits
from ntm.training import GravesRMSprop, TorchStep

NETWORKS = {
    "feedforward": {},
    "lstm": {"controller": "lstm", "controller_layers": 2, "read_heads": 2, "write_heads": 3},
    "scalar shifts": {"shift_mode": "scalar", "heads": 2, "start_memory": "random"},
    # Too large to store the memory of every step.
    "large memory": {"memory_locations": 512, "memory_width": 127},
}
TASK = Copy(bits=2, max_length=4)
TASKS: dict[str, tuple[Task, dict[str, object]]] = {
    "bits": (TASK, {}),
    "symbols": (Spell(letters=2), {}),
    # More symbols than a vector has lanes, and not a multiple of them.
    "many symbols": (Spell(letters=21), {"input_size": 22, "output_size": 21}),
}


def block_of(task: Task, dtype: torch.dtype = torch.float32) -> Batch:
    block = Stream(task, seed=3, batch_size=1).block(0)
    return block._replace(
        inputs=block.inputs.to(dtype), targets=block.targets.to(dtype), mask=block.mask.to(dtype)
    )


def network(options: dict[str, object], dtype: torch.dtype, run: int = 0) -> NTM:
    net, _, _ = concrete(Case(options), dtype, run)
    return net


def by_autograd(net: NTM, block: Batch, start: int, stop: int) -> Results:
    """Return the mean cost of sequences start to stop - 1 in nats, and all gradients."""
    batch = block.narrow(start, stop)
    logits, _ = net(batch.inputs, lengths=batch.lengths)
    nats = cost_in_bits(logits, batch).mean() * math.log(2)
    gradients = torch.autograd.grad(nats, list(net.parameters()), materialize_grads=True)
    named = zip(net.named_parameters(), gradients, strict=True)
    return {"nats": nats.detach(), **{name: gradient for (name, _), gradient in named}}


def by_the_fused_call(net: NTM, block: Batch, start: int, stop: int) -> Results:
    symbols = block.output_kind == "symbols"
    nats = NTMGradients(net)(*block, start, stop, symbols=symbols)
    return named_results(net, nats)


def named_results(net: NTM, nats: float) -> Results:
    gradients = {name: parameter.grad.clone() for name, parameter in net.named_parameters()}
    return {"nats": torch.tensor(nats, dtype=torch.float64), **gradients}


@pytest.mark.parametrize(("start", "stop"), [(0, 1), (7, 12), (200, 256)])
@pytest.mark.parametrize("kind", TASKS)
@pytest.mark.parametrize("name", NETWORKS)
def test_cost_and_gradients_are_autograds(name: str, kind: str, start: int, stop: int) -> None:
    require_autograds(name, kind, start, stop)


def require_autograds(
    name: str, kind: str, start: int, stop: int
) -> tuple[Results, Results, dict[str, float]]:
    """Require that cost and gradients equal autograd's with the reference engine.

    Return the results in float32, the truth and the tolerances.
    """
    task, sizes = TASKS[kind]
    options = NETWORKS[name] | sizes
    single, double = block_of(task), block_of(task, torch.float64)
    truth = by_autograd(reference(options, torch.float64), double, start, stop)
    runs = [
        by_autograd(reference(options, torch.float32, run), single, start, stop)
        for run in range(RUNS)
    ]
    allowed = tolerances(truth, runs)
    found = by_the_fused_call(network(options, torch.float32), single, start, stop)
    require_equal(found, truth, allowed)
    precise = by_the_fused_call(network(options, torch.float64), double, start, stop)
    require_equal(precise, truth, in_float64(allowed))
    return found, truth, allowed


@pytest.mark.parametrize("kind", TASKS)
@pytest.mark.parametrize("name", ["feedforward", "lstm", "scalar shifts"])
def test_the_comparison_notices_a_change_by_one_per_cent(name: str, kind: str) -> None:
    found, truth, allowed = require_autograds(name, kind, 7, 12)
    for result, tensor in found.items():
        damaged = tensor.clone()
        damaged.view(-1)[damaged.abs().argmax()] *= 1.01
        with pytest.raises(AssertionError, match=f"^{result} is off by"):
            require_equal({**found, result: damaged}, truth, allowed)


ALL_KINDS = """
from ntm.engine import native
from tests.engine.test_fused import NETWORKS, TASKS, require_autograds

for name in NETWORKS:
    for kind in TASKS:
        require_autograds(name, kind, 7, 12)
print(native.loaded().target)
"""


@pytest.mark.parametrize("target", native.loaded().module.supported()[1:] or ["baseline"])
def test_the_cost_on_every_instruction_set(target: str, run_python: RunPython) -> None:
    done = run_python(ALL_KINDS, NTM_INSTRUCTIONS=target, MALLOC_PERTURB_="128")
    assert done.stderr == ""
    assert done.stdout == f"{target}\n"


def reference(options: dict[str, object], dtype: torch.dtype, run: int = 0) -> NTM:
    net = network(options, dtype, run)
    net.engine = "reference"
    return net


def test_calls_do_not_depend_on_those_before_them() -> None:
    """Buffers are kept between calls; blocks are not."""
    net = network(NETWORKS["lstm"], torch.float32)
    call = NTMGradients(net)
    blocks = [block_of(TASK), block_of(Copy(bits=2, max_length=9))]
    for index, start, stop in [(0, 0, 9), (1, 3, 4), (0, 5, 30), (1, 0, 16), (0, 0, 1), (0, 1, 9)]:
        found = named_results(net, call(*blocks[index], start, stop))
        fresh = network(NETWORKS["lstm"], torch.float32)
        alone = by_the_fused_call(fresh, blocks[index], start, stop)
        for name in alone:
            assert torch.equal(found[name], alone[name]), name


def test_a_clip_may_change_between_calls() -> None:
    net, block = network({"backward_clip": 1e-3}, torch.float32), block_of(TASK)
    call = NTMGradients(net)
    call(*block, 0, 9)
    for limit in (1e-2, math.inf, 1e-3):
        net.backward_clip = limit
        found = named_results(net, call(*block, 0, 9))
        alone = by_the_fused_call(network({"backward_clip": limit}, torch.float32), block, 0, 9)
        for name in alone:
            assert torch.equal(found[name], alone[name]), name


def test_steps_that_are_scored_beyond_a_length_have_logits_of_zero() -> None:
    net = network({}, torch.float32)
    block = block_of(TASK)
    everywhere = block._replace(mask=torch.ones_like(block.mask))
    one_symbol = torch.zeros_like(block.targets).index_fill_(-1, torch.tensor([1]), 1.0)
    symbols = SymbolBatch(*everywhere._replace(targets=one_symbol))
    call = NTMGradients(net)
    for start, stop in (
        (100, 164),
        (0, 64),
    ):  # the second call's buffers hold the first one's logits
        for batch in (everywhere, symbols):
            expected = by_autograd(net, batch, start, stop)
            nats = call(*batch, start, stop, symbols=isinstance(batch, SymbolBatch))
            assert nats == pytest.approx(expected["nats"].item(), rel=1e-5)


def test_a_block_may_lie_in_memory_as_it_likes() -> None:
    block = block_of(TASK)
    strided = Batch(
        inputs=block.inputs.transpose(0, 1).contiguous().transpose(0, 1),
        targets=torch.cat([block.targets, block.targets * torch.nan], dim=1)[:, :256],
        mask=block.mask.t().contiguous().t(),
        lengths=torch.stack([block.lengths, block.lengths + 99], dim=1)[:, 0],
    )
    assert not any(tensor.is_contiguous() for tensor in strided)
    found = [by_the_fused_call(network({}, torch.float32), b, 3, 99) for b in (block, strided)]
    for name in found[0]:
        assert torch.equal(found[0][name], found[1][name]), name


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"inputs": torch.zeros(9, 5, 3, dtype=torch.float64)}, r"inputs must be .*float32"),
        ({"inputs": torch.zeros(9, 5, 4)}, r"inputs must be \(9, 5, 3\)"),
        ({"inputs": torch.zeros(9, 5, 6)[..., ::2]}, "inputs must have contiguous channels"),
        ({"targets": torch.zeros(8, 5, 2)}, r"targets must be \(9, 5, 2\)"),
        ({"mask": torch.zeros(9, 4)}, r"mask must be \(9, 5\)"),
        ({"lengths": torch.zeros(5, dtype=torch.int32)}, r"lengths must be \(5,\) int64"),
        ({"lengths": torch.full((5,), 10)}, "lengths must lie between 0 and 9"),
    ],
)
def test_a_block_that_does_not_fit_is_refused(change: dict[str, Tensor], message: str) -> None:
    block = Batch(
        inputs=torch.zeros(9, 5, 3),
        targets=torch.zeros(9, 5, 2),
        mask=torch.zeros(9, 5),
        lengths=torch.full((5,), 9),
    )
    with pytest.raises(ValueError, match=message):
        NTMGradients(network({}, torch.float32))(*block._replace(**change), 0, 5)


@pytest.mark.parametrize(("start", "stop"), [(-1, 3), (3, 3), (0, 257)])
def test_sequences_that_the_block_does_not_have_are_refused(start: int, stop: int) -> None:
    with pytest.raises(ValueError, match="a block of 256"):
        NTMGradients(network({}, torch.float32))(*block_of(TASK), start, stop)


def test_other_targets_for_the_same_inputs_are_taken() -> None:
    block, net = block_of(TASK), network({}, torch.float32)
    call = NTMGradients(net)
    for changed in (block, block._replace(targets=1 - block.targets), block):
        expected = by_autograd(net, changed, 0, 5)["nats"].item()
        assert call(*changed, 0, 5) == pytest.approx(expected, rel=1e-5)


def test_the_network_may_let_go_of_its_gradients() -> None:
    net = network({}, torch.float32)
    call = NTMGradients(net)
    kept = [parameter.grad for parameter in net.parameters()]
    nats = call(*block_of(TASK), 0, 5)
    expected = [gradient.clone() for gradient in kept]
    del kept
    net.zero_grad(set_to_none=True)
    spoil = [torch.full_like(gradient, torch.nan) for gradient in expected]
    assert call(*block_of(TASK), 0, 5) == nats
    assert all(tensor.isnan().all() for tensor in spoil)


def test_a_second_thread_is_refused_while_gradients_are_computed() -> None:
    """Both calls would use the same buffers."""
    block, net = block_of(Copy(bits=2, max_length=40)), network(NETWORKS["lstm"], torch.float32)
    call, results, refusals = NTMGradients(net), [], []
    nats = call(*block, 0, 256)

    def compute() -> None:
        for _ in range(10):
            try:
                results.append(call(*block, 0, 256))
            except RuntimeError as error:
                refusals.append(str(error))

    workers = [threading.Thread(target=compute) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert set(results) == {nats}
    assert "give every thread a network" in refusals[0]


Kind = Literal["reference", "native", "fused"]


def trained(kind: Kind, options: dict[str, object], dtype: torch.dtype, run: int = 0) -> Results:
    """Return parameters, optimiser state and costs after ten steps of copy, in batches of three."""
    block = block_of(TASK, dtype)
    net = network(options, dtype, run)
    net.engine = "reference" if kind == "reference" else "native"
    optimiser = GravesRMSprop(net.parameters(), lr=1e-3)
    optimiser.ensure_state()
    fused = kind == "fused"
    step = NativeStep(net, NTMGradients(net), optimiser) if fused else TorchStep(net, optimiser)
    bits = [step(block, start, stop) for start, stop in pairwise(range(0, 33, 3))]
    state = {
        f"{part} of {name}": optimiser.state[parameter][part]
        for name, parameter in net.named_parameters()
        for part in ("mean_square", "mean", "delta")
    }
    return {"bits": torch.tensor(bits, dtype=torch.float64), **net.state_dict(), **state}


@pytest.mark.parametrize("name", NETWORKS)
def test_ten_steps_of_training_are_the_same(name: str) -> None:
    options = NETWORKS[name]
    truth = trained("reference", options, torch.float64)
    runs = [trained("reference", options, torch.float32, run) for run in range(RUNS)]
    allowed = tolerances(truth, runs)
    for kind in ("native", "fused"):
        require_equal(trained(kind, options, torch.float32), truth, allowed)
        require_equal(trained(kind, options, torch.float64), truth, in_float64(allowed))


@st.composite
def updates(draw: st.DrawFn) -> tuple[list[int], dict[str, float | None], int]:
    sizes = draw(st.lists(st.integers(0, 41), min_size=1, max_size=4))
    constants = {
        "lr": draw(st.floats(1e-5, 1.0)),
        "decay": draw(st.floats(0.1, 0.99)),
        "momentum": draw(st.floats(0.0, 0.99)),
        "epsilon": draw(st.floats(1e-4, 1.0)),
        "clip": draw(st.none() | st.floats(0.1, 20.0)),
    }
    return sizes, constants, draw(st.integers(0, 999))


@given(updates())
def test_the_fused_update_is_the_optimisers_step(
    update: tuple[list[int], dict[str, float | None], int],
) -> None:
    sizes, constants, seed = update
    truth = optimised(sizes, constants, seed, torch.float64, fused=False)
    runs = [optimised(sizes, constants, seed, torch.float32, False, run) for run in range(RUNS)]
    # If all gradients are clipped to the same value, n - m^2 cancels.
    allowed = tolerances(truth, runs, FLOOR_OF_CANCELLATION)
    require_equal(optimised(sizes, constants, seed, torch.float32, fused=True), truth, allowed)
    double = optimised(sizes, constants, seed, torch.float64, fused=True)
    require_equal(double, truth, in_float64(allowed))


def optimised(
    sizes: Sequence[int],
    constants: dict[str, float | None],
    seed: int,
    dtype: torch.dtype,
    fused: bool,
    run: int = 0,
) -> Results:
    """Return parameters and optimiser state after twelve updates with random gradients."""
    torch.manual_seed(seed)
    parameters = [torch.randn(size).to(dtype) for size in sizes]
    gradients = [[10 * torch.randn(size).to(dtype) for size in sizes] for _ in range(12)]
    if run > 0:
        torch.manual_seed(run)
        for tensor in (*parameters, *(g for rows in gradients for g in rows)):
            move_last_bits(tensor)
    optimiser = GravesRMSprop(parameters, **constants)
    optimiser.ensure_state()
    for parameter in parameters:
        parameter.grad = torch.zeros_like(parameter)
    step = optimiser.fused_update() if fused else optimiser.step
    for rows in gradients:
        for parameter, gradient in zip(parameters, rows, strict=True):
            parameter.grad.copy_(gradient)
        assert step() in (None, True)
    named = {f"{i}": parameter for i, parameter in enumerate(parameters)}
    state = {
        f"{part} of {i}": tensor
        for i, parameter in enumerate(parameters)
        for part, tensor in optimiser.state[parameter].items()
    }
    return {**named, **state}


def native_update(rows: list[tuple[Tensor, ...]]) -> Any:
    return native.function("Optimiser", rows[0][0].dtype)([list(row) for row in rows])


@given(
    size=st.integers(1, 41),
    data=st.data(),
    value=st.sampled_from([torch.nan, torch.inf, -torch.inf]),
    dtype=st.sampled_from([torch.float32, torch.float64]),
)
def test_a_gradient_that_is_not_finite_changes_nothing(
    size: int, data: st.DataObject, value: float, dtype: torch.dtype
) -> None:
    rows = [tuple(torch.randn(n, dtype=dtype) for _ in range(5)) for n in (7, size, 3)]
    rows[1][1][data.draw(st.integers(0, size - 1))] = value
    before = [[tensor.clone() for tensor in row] for row in rows]
    update = native_update(rows)
    assert not update.step([0.1, 0.9, 0.9, 1e-4, 10.0])
    for row, kept in zip(rows, before, strict=True):
        for tensor, copy in zip(row, kept, strict=True):
            assert torch.equal(tensor.nan_to_num(), copy.nan_to_num())
    rows[1][1].zero_()
    assert update.step([0.1, 0.9, 0.9, 1e-4, 10.0])
    assert not torch.equal(rows[0][0], before[0][0])


def test_the_largest_finite_gradients_are_finite() -> None:
    largest = torch.finfo(torch.float32).max
    row = tuple(torch.zeros(9) for _ in range(5))
    row[1].fill_(largest)
    assert native_update([row]).step([0.1, 0.9, 0.9, 1e-4, 10.0])
    assert row[0].isfinite().all()


def test_settings_may_change_between_updates() -> None:
    parameter = torch.ones(3)
    parameter.grad = torch.ones(3)
    optimiser = GravesRMSprop([parameter], lr=0.0, momentum=0.0)
    update = optimiser.fused_update()
    assert update()
    assert torch.equal(parameter, torch.ones(3))
    optimiser.param_groups[0]["lr"] = 0.1
    assert update()
    assert (parameter < 1).all()

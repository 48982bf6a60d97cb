"""Results depend on no thread, other sequence, other caller or mode of the processor."""

import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
import torch
from tests.engine.comparison import Case, Results, concrete, recorded, results
from torch import Tensor

from ntm.cell import State
from ntm.engine import native
from ntm.engine.fused import NTMGradients
from ntm.engine.machine import threads
from ntm.layer import NTM

# Groups of every size, and more gates and head values than a thread processes at a time.
MANY = Case(
    {"controller": "lstm", "controller_size": 19, "read_heads": 3, "write_heads": 2},
    steps=6,
    batch_size=37,
    lengths=tuple(i * 11 % 7 for i in range(37)),
    given_state=True,
)
# A given state, because PyTorch's softmax for the learned start rounds by the number of threads.
FEEDFORWARD = Case({"controller_size": 37, "heads": 2}, steps=6, batch_size=21, given_state=True)


def require_same_bits(found: Results, expected: Results) -> None:
    assert found.keys() == expected.keys()
    for name in expected:
        assert torch.equal(found[name], expected[name]), name


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("case", [MANY, FEEDFORWARD], ids=["lstm", "feedforward"])
def test_the_number_of_threads_changes_no_bit(case: Case, dtype: torch.dtype) -> None:
    expected = results(case, "native", dtype)
    for count in (2, 3, 5, 16):
        with threads(count):
            require_same_bits(results(case, "native", dtype), expected)


def test_the_number_of_threads_changes_no_bit_of_a_fused_step() -> None:
    net, x, _ = concrete(MANY, torch.float32)
    step = fused_step(net, x, torch.tensor(MANY.lengths))
    expected = step()
    for count in (2, 3, 5, 16):
        with threads(count):
            require_same_bits(step(), expected)


def fused_step(net: NTM, x: Tensor, lengths: Tensor) -> Callable[[], Results]:
    """Return a call that computes the cost of x and the gradients of all parameters."""
    targets = (x[..., : net.config.output_size] > 0).to(x)
    mask = (torch.arange(len(x)).unsqueeze(1) < lengths).to(x)
    gradients = NTMGradients(net)

    def call() -> Results:
        cost = gradients(x, targets, mask, lengths, 0, len(lengths))
        named = {f"d{name}": parameter.grad.clone() for name, parameter in net.named_parameters()}
        return {"cost": torch.tensor(cost), **named}

    return call


def test_a_sequence_is_the_same_alone_and_in_a_batch() -> None:
    """Outputs, final state, and gradients of input and start are equal to the bit."""
    net, x, state = concrete(MANY, torch.float32)
    net.engine = "native"
    lengths = torch.tensor(MANY.lengths)
    together = sequence_results(net, x, state, lengths)
    for index in range(MANY.batch_size):
        one = slice(index, index + 1)
        alone = sequence_results(net, x[:, one], State(*(p[one] for p in state)), lengths[one])
        for name, tensor in together.items():
            expected = tensor[:, one] if name in ("logits", "dx") else tensor[one]
            assert torch.equal(alone[name], expected), f"{name} of sequence {index}"


def sequence_results(net: NTM, x: Tensor, state: State, lengths: Tensor) -> Results:
    x, state = x.clone().requires_grad_(), State(*(p.clone().requires_grad_() for p in state))
    logits, final = net(x, state, lengths)
    outputs = {"logits": logits, **final._asdict()}
    loss = sum(output.square().sum() for output in outputs.values())
    gradients = torch.autograd.grad(loss, [x, *state])
    names = ["dx", *(f"d{name}" for name in State._fields)]
    return {**outputs, **dict(zip(names, gradients, strict=True))}


@pytest.mark.parametrize("count", [1, 3])
def test_many_callers_at_once_get_what_each_gets_alone(count: int) -> None:
    callers = [caller(seed) for seed in range(8)]
    expected = [call() for call in callers]
    with threads(count), ThreadPoolExecutor(len(callers)) as pool:
        for _ in range(20):
            for found, alone in zip(pool.map(lambda call: call(), callers), expected, strict=True):
                require_same_bits(found, alone)


def caller(seed: int) -> Callable[[], Results]:
    """Return a call that runs a new network forward, backward, as a trace and as a fused step."""
    options = {**MANY.options, "memory_locations": 5 + 3 * seed}
    case = replace(
        MANY, options=options, batch_size=9, lengths=(6, 1, 0, 4, 6, 2, 5, 3, 6), seed=seed
    )
    net, x, state = concrete(case, torch.float32)
    net.engine = "native"
    lengths = torch.tensor(case.lengths)
    step = fused_step(net, x, lengths)

    def call() -> Results:
        traced = net.trace(x, state, lengths, memory=True)
        return {**sequence_results(net, x, state, lengths), **recorded(traced), **step()}

    return call


def denormals_survive() -> bool:
    tiny = np.float32(1e-40)
    return bool(tiny * np.float32(1) > 0 and tiny / np.float32(2) > 0)


@pytest.mark.parametrize("flush", [False, True])
def test_the_callers_floating_point_mode_stays(flush: bool) -> None:
    call, update = (
        caller(seed=1),
        native.function("Optimiser", torch.float32)([[torch.ones(5) for _ in range(5)]]),
    )
    expected = call()
    assert torch.set_flush_denormal(flush)
    try:
        for count in (1, 3):
            with threads(count):
                require_same_bits(call(), expected)
                assert update.step([1e-4, 0.95, 0.9, 1e-4, 10.0])
            assert denormals_survive() is not flush
    finally:
        torch.set_flush_denormal(False)
    assert denormals_survive()


FORKS = """
import multiprocessing, os, threading
import torch
from ntm import NTM

torch.set_num_threads(3)
# So small that torch works on one thread: its own would not survive a fork.
net, x = NTM(3, 2, memory_locations=16, engine="native"), torch.ones(5, 16, 3)

@torch.no_grad()
def answer():
    return net(x, lengths=[5] * 16)[0].sum().item()

def in_child(connection, expected):
    connection.send([answer() == expected for _ in range(20)])

expected = answer()
ours, theirs = multiprocessing.Pipe()
child = multiprocessing.get_context("fork").Process(target=in_child, args=(theirs, expected))
child.start()
child.join(60)
assert child.exitcode == 0, child.exitcode
assert all(ours.recv()) and answer() == expected
for _ in range(50):
    caller = threading.Thread(target=answer)
    caller.start()
    caller.join()
if os.path.exists("/proc/self/task"):
    assert len(os.listdir("/proc/self/task")) < 50
"""


def test_helpers_survive_a_fork_and_end_with_their_caller() -> None:
    """In a new process, because forking a process in which torch has run is not always safe."""
    subprocess.run([sys.executable, "-c", FORKS], check=True, timeout=120)

"""The kernels on another processor: cross-compiled, run in an emulator, and compared as usual.

    make test-aarch64

This needs `ziglang` (a C++ compiler for every processor, from PyPI) and `qemu-aarch64`, and is not
part of `make test`.
"""

import math
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
import torch
from tests.engine.cases import CASES
from tests.engine.comparison import (
    RUNS,
    Case,
    Results,
    concrete,
    in_float64,
    require_equal,
    results,
    tolerances,
)
from tests.engine.test_fused import NETWORKS, TASK, block_of, network, reference
from tests.engine.test_lstm import batch_of, by_autograd, require_close
from tests.engine.test_lstm import network as lstm_network
from tests.engine.test_simd import SHARED_FLAGS, SOURCES, require_exact_functions
from torch import Tensor

from ntm.cell import State
from ntm.config import CONTROLLER_GATES, SHARPENING_EPSILON, SIMILARITY_EPSILON
from ntm.layer import NTM
from ntm.models.lstm_family import kernel_parameters
from ntm.tasks import Batch, cost_in_bits
from ntm.training import GravesRMSprop

HERE = Path(__file__).parent
PORTABLE = [HERE / "portable.cpp", SOURCES / "kernels.cpp", SOURCES / "lstm.cpp"]
PRECISIONS = {torch.float32: "float", torch.float64: "double"}
HEAD_ARRAYS = [
    *("keys", "strengths", "gates", "shifts", "sharpness"),
    *("content", "gated", "shifted", "weightings"),
]
UPDATES = 10
OPTIMISER = {"lr": 1e-2, "decay": 0.95, "momentum": 0.9, "epsilon": 1e-4, "clip": 10.0}
# Arrays of a trace that are arguments, not results.
ARGUMENTS = {"trace shifts", "trace lengths", "trace inputs"}
# The layer handles batch_first before it calls the kernels.
CALLS = {name: case for name, case in CASES.items() if "batch_first" not in case.options}

Program = Callable[..., "Answer"]


class Answer:
    """Output of the program, read from the front."""

    def __init__(self, content: bytes) -> None:
        self._rest = content

    def take(self, like: Tensor) -> Tensor:
        """Return the next array, with the shape and dtype of `like`."""
        size = like.numel() * like.itemsize
        values, self._rest = bytearray(self._rest[:size]), self._rest[size:]
        assert len(values) == size
        return torch.frombuffer(values, dtype=like.dtype).view_as(like) if size else like.clone()

    def end(self) -> None:
        assert self._rest == b""


def compiled(sources: Iterable[Path], program: Path) -> list[str]:
    """Compile these sources and return the command that runs them on the emulated processor."""
    compiler = [sys.executable, "-m", "ziglang", "c++", "-target", "aarch64-linux-gnu.2.31"]
    flags = ["-O2", *SHARED_FLAGS, "-Wall", "-Wextra", "-Werror", "-DNTM_TARGET=baseline"]
    subprocess.run([*compiler, *flags, f"-I{SOURCES}", *sources, "-o", program], check=True)
    return ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu", str(program)]


@pytest.fixture(scope="module")
def command(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Command that runs the kernels as a program."""
    return compiled(PORTABLE, tmp_path_factory.mktemp("aarch64") / "portable")


@pytest.fixture(scope="module")
def portable(command: list[str]) -> Program:
    def run(what: str, dtype: torch.dtype, *arrays: Tensor) -> Answer:
        content = b"".join(array.detach().contiguous().numpy().tobytes() for array in arrays)
        words = [*command, what, PRECISIONS[dtype]]
        return Answer(subprocess.run(words, input=content, capture_output=True, check=True).stdout)

    return run


def described(net: NTM, steps: int, lengths: Tensor) -> list[Tensor]:
    """Return the header that the program reads before the arrays: sizes, limits and lengths."""
    c = net.config
    sizes = (c.input_size, c.output_size, c.controller_size, c.controller_layers)
    memory = (c.memory_locations, c.memory_width, c.read_heads, c.write_heads)
    shifts = (c.shift_mode == "scalar", len(c.shifts), *c.shifts)
    clip = math.inf if net.backward_clip is None else net.backward_clip
    limits = (SIMILARITY_EPSILON, SHARPENING_EPSILON, clip)
    return [
        torch.tensor([list(CONTROLLER_GATES).index(c.controller), *sizes, *memory, *shifts]),
        torch.tensor(limits, dtype=torch.float64),
        torch.tensor([steps, len(lengths), *lengths.tolist()]),
    ]


def emulated(portable: Program, case: Case, dtype: torch.dtype, expected: Results) -> Results:
    """Return the same as `results`, from the other processor; `expected` gives the shapes."""
    net, x, given = concrete(case, dtype)
    state = given or net.initial_state(case.batch_size)
    lengths = torch.tensor(case.lengths or (case.steps,) * case.batch_size)
    ends = ("logits", "final", "read weightings", "write weightings")
    outputs = {name: like for name, like in expected.items() if name.startswith(ends)}
    torch.manual_seed(case.seed + 2)
    factors = [*outputs][:-2], [*outputs]  # for the gradients without and with the weightings
    combination = [torch.randn(outputs[name].shape).to(dtype) for part in factors for name in part]
    arrays = (*net.cell.parameters(), *state, x, *combination)
    answer = portable("call", dtype, *described(net, case.steps, lengths), *arrays)
    recorded = ["hidden", "reads", "erases", "adds", "memory"]
    recorded += [f"{kind}_{name}" for kind in ("read", "write") for name in HEAD_ARRAYS]
    names = [*outputs, *(f"trace {name}" for name in recorded)]
    found = {name: answer.take(expected[name].to(dtype)) for name in names}
    found["trace outputs"] = found["logits"]
    for loss in ("", " with weightings"):
        leaves = {"x": x} | {f"cell.{name}": weight for name, weight in net.cell.named_parameters()}
        gradients = {name: answer.take(leaf.detach()) for name, leaf in leaves.items()}
        dstart = [answer.take(part.detach()) for part in state]
        gradients |= start_gradients(net, given, state, dstart)
        found |= {f"gradient{loss} of {name}": value for name, value in gradients.items()}
    answer.end()
    return found


def start_gradients(
    net: NTM, given: State | None, state: State, dstate: list[Tensor]
) -> dict[str, Tensor]:
    """Return the gradients of the given state or, without one, of the start parameters."""
    if given is not None:
        names = [f"state.{name}" for name in state._fields]
        return dict(zip(names, dstate, strict=True))
    names = [f"start.{name}" for name, _ in net.start.named_parameters()]
    parts = [(part, d) for part, d in zip(state, dstate, strict=True) if part.requires_grad]
    gradients = torch.autograd.grad(
        *([part for part, _ in parts], list(net.start.parameters()), [d for _, d in parts]),
        retain_graph=True,
    )
    return dict(zip(names, gradients, strict=True))


@pytest.mark.parametrize("name", CALLS)
def test_outputs_traces_and_gradients_are_the_references(name: str, portable: Program) -> None:
    case = CALLS[name]
    truth = results(case, "reference", torch.float64)
    runs = [results(case, "reference", torch.float32, run) for run in range(RUNS)]
    allowed = tolerances(truth, runs, case.floor)
    expected = {name: value for name, value in truth.items() if name not in ARGUMENTS}
    require_equal(emulated(portable, case, torch.float32, expected), expected, allowed)
    doubled = in_float64(tolerances(truth, runs, case.floor, times=3))
    require_equal(emulated(portable, case, torch.float64, expected), expected, doubled)


def trained(net: NTM, batch: Batch) -> Results:
    """Train with PyTorch; return the cost of each step in nats, and the final parameters."""
    optimiser, nats = GravesRMSprop(net.parameters(), **OPTIMISER), []
    for _ in range(UPDATES):
        optimiser.zero_grad()
        logits, _ = net(batch.inputs, lengths=batch.lengths)
        nats.append(cost_in_bits(logits, batch).mean() * math.log(2))
        nats[-1].backward()
        optimiser.step()
    parameters = {name: parameter.detach() for name, parameter in net.named_parameters()}
    return {"nats": torch.stack(nats).detach().double(), **parameters}


def trained_elsewhere(portable: Program, net: NTM, batch: Batch, expected: Results) -> Results:
    weights, start = dict(net.cell.named_parameters()), dict(net.start.named_parameters())
    optimiser = torch.tensor(list(OPTIMISER.values()), dtype=torch.float64)
    header = described(net, len(batch.inputs), batch.lengths)
    blocks = (batch.inputs, batch.targets, batch.mask)
    arrays = (torch.tensor(UPDATES), optimiser, *weights.values(), *start.values(), *blocks)
    answer = portable("train", batch.inputs.dtype, *header, *arrays)
    found = {"nats": answer.take(expected["nats"])}
    for part, parameters in (("cell", weights), ("start", start)):
        found |= {f"{part}.{name}": answer.take(like.detach()) for name, like in parameters.items()}
    answer.end()
    return found


@pytest.mark.parametrize("name", NETWORKS)
def test_training_steps_are_the_references(name: str, portable: Program) -> None:
    options = NETWORKS[name]
    single, double = (block_of(TASK, dtype).narrow(7, 12) for dtype in PRECISIONS)
    truth = trained(reference(options, torch.float64), double)
    runs = [trained(reference(options, torch.float32, run), single) for run in range(RUNS)]
    allowed = tolerances(truth, runs)
    found = trained_elsewhere(portable, network(options, torch.float32), single, truth)
    require_equal(found, truth, allowed)
    found = trained_elsewhere(portable, network(options, torch.float64), double, truth)
    require_equal(found, truth, in_float64(allowed))


@pytest.mark.parametrize("dtype", PRECISIONS)
def test_the_gradients_of_an_lstm_are_autograds(dtype: torch.dtype, portable: Program) -> None:
    net = lstm_network(3, 2, 21, 3, dtype=dtype)
    batch = batch_of(net, [31, 30, 29, 28, 3, 2, 0, 31, 17, 31, 31])
    parameters, c = kernel_parameters(net), net.config
    sizes = torch.tensor([c.input_size, c.output_size, c.hidden_size, c.layers])
    shape = torch.tensor([*batch.mask.shape, *batch.lengths.tolist()])
    answer = portable("lstm", dtype, sizes, shape, *parameters, *batch[:3])
    found = {"nats": answer.take(torch.zeros((), dtype=torch.float64)).to(dtype)}
    names = {parameter: name for name, parameter in net.named_parameters()}
    found |= {names[parameter]: answer.take(parameter.detach()) for parameter in parameters}
    answer.end()
    require_close(found, by_autograd(net, batch))


def test_the_functions_are_exact_to_their_last_digit(tmp_path: Path) -> None:
    require_exact_functions(compiled([HERE / "simd_accuracy.cpp"], tmp_path / "simd_accuracy"))

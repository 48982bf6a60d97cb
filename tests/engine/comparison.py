"""Comparison of both engines on one call of the layer: every result by name, and its tolerance.

The truth is the reference engine in float64. Float32 always rounds, and some calls amplify rounding
more than others. The reference engine in float32 measures this: its error is the largest distance
from the truth over runs whose arguments differ in their last bits. The native engine may have twice
this error. The reference may be exact by luck, so `FLOOR` units in the last place of a tensor's
largest value are allowed in addition. Float64 has no better truth: there the engines may differ as
much as in float32, scaled by the ratio of the precisions, and by the error of the truth itself.
"""

import math
import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

import torch
from torch import Tensor

from ntm.cell import State
from ntm.layer import NTM
from ntm.trace import Trace

RUNS = 3
FLOOR = 32
# For calls whose gradients are the remainder of a cancellation. The cosine of two single numbers is
# a sign, with a slope near zero; the slope 1 - y^2 of a saturated tanh depends on y's last bit.
FLOOR_OF_CANCELLATION = 4096
# A value that is zero in exact arithmetic is rounding error of larger numbers, so it has no scale.
SMALLEST_SCALE = 0.1

Layout = Literal["contiguous", "transposed", "every other", "expanded"]
Results = dict[str, Tensor]


def sizes(inputs: int, outputs: int, units: int, locations: int, width: int) -> dict[str, int]:
    """Return the arguments of NTM that are sizes."""
    return {
        "input_size": inputs,
        "output_size": outputs,
        "controller_size": units,
        "memory_locations": locations,
        "memory_width": width,
    }


def random_network(chance: random.Random, **options: Any) -> NTM:
    """Return a small network of random sizes."""
    lstm = chance.random() < 0.5
    return NTM(
        *(chance.randint(1, 5), chance.randint(1, 5)),
        controller="lstm" if lstm else "feedforward",
        controller_layers=chance.randint(1, 2) if lstm else 1,
        controller_size=chance.randint(1, 9),
        memory_locations=chance.randint(1, 20),
        memory_width=chance.randint(1, 6),
        read_heads=chance.randint(1, 2),
        write_heads=chance.randint(1, 2),
        **options,
    )


SMALL = sizes(inputs=3, outputs=2, units=7, locations=11, width=5)


@dataclass(frozen=True)
class Case:
    """A network and the arguments of its call. The seed fixes all random values."""

    options: Mapping[str, Any] = field(default_factory=dict)
    """Arguments of NTM that differ from SMALL."""
    steps: int = 5
    batch_size: int = 3
    lengths: tuple[int, ...] | None = None
    given_state: bool = False
    layout: Layout = "contiguous"
    """Layout of x in memory."""
    weight_scale: float = 1.0
    """Factor on all parameters: at 30 gates saturate and weightings are one-hot."""
    zero_memory: bool = False
    """Whether the memory is zero at the start."""
    seed: int = 0

    def network(self) -> NTM:
        """Return the network in float32. Only the case can give parameters special values."""
        torch.manual_seed(self.seed)
        net = NTM(**{**SMALL, **self.options})
        with torch.no_grad():
            for parameter in net.parameters():
                parameter.add_(0.3 * torch.randn_like(parameter)).mul_(self.weight_scale)
            net.start.memory.mul_(not self.zero_memory)
        return net

    def arguments(self, net: NTM) -> Results:
        """Return x (time, batch, input_size) and, if the case gives a state, its parts."""
        torch.manual_seed(self.seed + 1)
        x = torch.randn(self.steps, self.batch_size, net.config.input_size)
        if not self.given_state:
            return {"x": x}
        state = net.initial_state(self.batch_size)._asdict()
        parts = {name: torch.randn(part.shape) for name, part in state.items()}
        parts["memory"] *= not self.zero_memory
        weightings = {name: parts[name].softmax(2) for name in parts if "weightings" in name}
        return {"x": x, **parts, **weightings}

    @property
    def floor(self) -> int:
        """Number of units in the last place that are always allowed."""
        cancels = self.options.get("memory_width") == 1 or self.weight_scale > 1
        return FLOOR_OF_CANCELLATION if cancels else FLOOR


def results(case: Case, engine: str, dtype: torch.dtype, run: int = 0) -> Results:
    """Return outputs, final state, weightings, trace and all gradients of the case's call, by name.

    There are two sets of gradients: of a random combination of all outputs and the final state, and
    of another random combination that also contains the weightings.
    In runs other than 0, the last bit of every parameter and argument is changed at random.
    """
    net, x, state = concrete(case, dtype, run)
    net.engine = engine
    lengths = None if case.lengths is None else torch.tensor(case.lengths)
    leaves = {"x": x} | {f"cell.{name}": weight for name, weight in net.cell.named_parameters()}
    if state is None:
        leaves |= {f"start.{name}": parameter for name, parameter in net.start.named_parameters()}
    else:
        leaves |= {f"state.{name}": part.requires_grad_() for name, part in state._asdict().items()}
    logits, final, weightings = net(x.requires_grad_(), state, lengths, return_weightings=True)
    outputs = {"logits": logits} | {f"final {n}": part for n, part in final._asdict().items()}
    addressed = {f"{n} weightings": part for n, part in weightings._asdict().items()}
    torch.manual_seed(case.seed + 2)
    without, with_weightings = gradients(outputs, leaves), gradients(outputs | addressed, leaves)
    trace = net.trace(x, state, lengths, memory=True)
    return (
        {name: output.detach() for name, output in (outputs | addressed).items()}
        | {f"gradient of {name}": gradient for name, gradient in without.items()}
        | {f"gradient with weightings of {name}": g for name, g in with_weightings.items()}
        | recorded(trace)
    )


def gradients(outputs: Results, leaves: Results) -> Results:
    """Return the gradients of a random combination of the outputs, for each leaf."""
    combined = [(output, torch.randn(output.shape).to(output.dtype)) for output in outputs.values()]
    # Parts without elements may have no gradient.
    kept = [pair for pair in combined if pair[0].requires_grad or pair[0].numel()]
    found = torch.autograd.grad(
        [o for o, _ in kept], list(leaves.values()), [c for _, c in kept], retain_graph=True
    )
    return dict(zip(leaves, found, strict=True))


def recorded(trace: Trace) -> Results:
    """Return the arrays of a trace that an engine records; the others are for figures."""
    drawn = ("targets", "mask", "optimal")
    named = {"shifts": trace.shifts, **trace.named()}
    return {f"trace {n}": torch.as_tensor(a) for n, a in named.items() if n not in drawn}


def concrete(case: Case, dtype: torch.dtype, run: int = 0) -> tuple[NTM, Tensor, State | None]:
    """Return the case's network, its x in the network's layout, and the given state or None."""
    net = case.network().to(dtype)
    given = {name: tensor.to(dtype) for name, tensor in case.arguments(net).items()}
    if run > 0:
        torch.manual_seed(run)
        for tensor in (*net.parameters(), *given.values()):
            move_last_bits(tensor.data)
    x = laid_out(given.pop("x"), case.layout)
    return net, (x.transpose(0, 1) if net.batch_first else x), State(**given) if given else None


def laid_out(x: Tensor, layout: Layout) -> Tensor:
    """Return the same values in another memory layout, with NaN in the gaps."""
    if layout == "transposed":
        return x.permute(2, 1, 0).contiguous().permute(2, 1, 0)
    if layout == "every other":
        larger = x.new_full([2 * size for size in x.shape], torch.nan)
        larger[::2, ::2, ::2] = x
        return larger[::2, ::2, ::2]
    if layout == "expanded":
        return x[:, :1].expand_as(x)
    return x


def move_last_bits(tensor: Tensor) -> None:
    """Replace every element by the next larger or next smaller number, at random."""
    direction = torch.where(torch.rand(tensor.shape) < 0.5, -torch.inf, torch.inf).to(tensor)
    tensor.copy_(torch.nextafter(tensor, direction))


@contextmanager
def poisoned() -> Iterator[None]:
    """Fill memory that torch leaves uninitialised with NaN."""
    # The deterministic mode does this; `torch.use_deterministic_algorithms` imports the compiler.
    torch.set_deterministic_debug_mode("error")
    try:
        yield
    finally:
        torch.set_deterministic_debug_mode("default")


def tolerances(
    truth: Results, runs: Sequence[Results], floor: int = FLOOR, times: int = 2
) -> dict[str, float]:
    """Return the error allowed in float32 by the rule at the top; runs: of the reference engine.

    times: how often the error of the reference engine is allowed; 3 if the truth has it, too.
    """
    unit = floor * torch.finfo(torch.float32).eps
    return {
        name: unit * max(largest(expected), SMALLEST_SCALE)
        + times * max(distance(run[name], expected) for run in runs)
        for name, expected in truth.items()
    }


def in_float64(allowed: Mapping[str, float]) -> dict[str, float]:
    """Return the tolerances for float64 from the tolerances for float32."""
    ratio = torch.finfo(torch.float64).eps / torch.finfo(torch.float32).eps
    return {name: ratio * tolerance for name, tolerance in allowed.items()}


def require_equal(found: Results, truth: Results, allowed: Mapping[str, float]) -> None:
    """Raise an error with one line for every result whose error is larger than allowed."""
    assert found.keys() == truth.keys()
    wrong = []
    for name, expected in truth.items():
        off = distance(found[name], expected)
        if not off <= allowed[name]:
            wrong.append(
                f"{name} is off by {off:.2g}, and {allowed[name]:.2g} is allowed "
                f"(its largest value is {largest(expected):.2g})"
            )
    assert not wrong, "\n".join(wrong)


def require_equal_engines(case: Case) -> None:
    """Require that the native engine's results equal the reference's, in both precisions."""
    truth = results(case, "reference", torch.float64)
    runs = [results(case, "reference", torch.float32, run) for run in range(RUNS)]
    allowed = tolerances(truth, runs, case.floor)
    with poisoned():
        single = results(case, "native", torch.float32)
        double = results(case, "native", torch.float64)
    require_equal(single, truth, allowed)
    require_equal(double, truth, in_float64(tolerances(truth, runs, case.floor, times=3)))


def distance(a: Tensor, b: Tensor) -> float:
    """Return the largest difference between two tensors of the same shape."""
    assert a.shape == b.shape
    difference = (a.double() - b.double()).abs()
    if difference.isnan().any():
        return math.nan
    return difference.max().item() if difference.numel() else 0.0


def largest(tensor: Tensor) -> float:
    """Return the largest absolute value, or zero for an empty tensor."""
    return tensor.double().abs().max().item() if tensor.numel() else 0.0

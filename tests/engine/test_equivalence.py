"""The native engine computes what the reference engine computes, for every option of the layer."""

import math
import os
import re
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.engine.cases import CASES
from tests.engine.comparison import (
    RUNS,
    Case,
    concrete,
    poisoned,
    require_equal,
    require_equal_engines,
    results,
    tolerances,
)
from torch.utils._python_dispatch import TorchDispatchMode

from ntm.cell import State, Weightings
from ntm.engine import operators


@pytest.mark.parametrize("name", CASES)
def test_the_engines_agree(name: str) -> None:
    require_equal_engines(CASES[name])


@pytest.mark.parametrize("name", CASES)
def test_without_gradients_the_outputs_are_the_same(name: str) -> None:
    """Equal to the bit, although the kernels then store only two steps."""
    case = CASES[name]
    net, x, state = concrete(case, torch.float32)
    net.engine = "native"
    lengths = None if case.lengths is None else torch.tensor(case.lengths)
    logits, final, weightings = net(x, state, lengths, return_weightings=True)
    with torch.no_grad(), poisoned():
        inferred, end, addressed = net(x, state, lengths, return_weightings=True)
    assert torch.equal(inferred, logits)
    for part in State._fields:
        assert torch.equal(getattr(end, part), getattr(final, part)), part
    assert torch.equal(addressed.read, weightings.read)
    assert torch.equal(addressed.write, weightings.write)


@pytest.mark.parametrize("name", CASES)
def test_the_weightings_change_no_bit_of_the_rest(name: str) -> None:
    case, found = CASES[name], []
    for options in ({}, {"return_weightings": True}):
        net, x, state = concrete(case, torch.float32)
        net.engine = "native"
        lengths = None if case.lengths is None else torch.tensor(case.lengths)
        logits, final, *_ = net(x.requires_grad_(), state, lengths, **options)
        loss = logits.square().sum() + sum(part.square().sum() for part in final)
        leaves = [x, *net.cell.parameters()]
        found.append([logits, *final, *torch.autograd.grad(loss, leaves)])
    for without, with_weightings in zip(*found, strict=True):
        assert torch.equal(without, with_weightings)


OPERATORS = {operators.forward, operators.forward_with_weightings, operators.backward}


class Watching(TorchDispatchMode):
    """Dispatch mode that counts the calls of the native engine's operators."""

    def __init__(self) -> None:
        super().__init__()
        self.calls = 0

    def __torch_dispatch__(
        self, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        self.calls += function in OPERATORS
        return function(*args, **(kwargs or {}))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("name", CASES)
def test_the_operator_gives_the_bits_of_an_ordinary_call(name: str, dtype: torch.dtype) -> None:
    direct = results(CASES[name], "native", dtype)
    with Watching() as watching:
        through_operator = results(CASES[name], "native", dtype)
    assert watching.calls == 4  # forward, twice backward, and forward for the trace
    for result, expected in direct.items():
        assert torch.equal(through_operator[result], expected), result


# If set: the number of other random configurations to test.
CONFIGURATIONS = os.environ.get("NTM_CONFIGURATIONS")


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Draw any combination of the options, at sizes below and above the vectors' width."""
    sizes = st.sampled_from([1, 2, 3, 5, 7, 11, 17])
    heads = st.integers(1, 4)
    lstm = draw(st.booleans())
    options = {
        "controller": "lstm" if lstm else "feedforward",
        "controller_layers": draw(st.integers(1, 3)) if lstm else 1,
        "controller_size": draw(sizes),
        "input_size": draw(sizes),
        "output_size": draw(sizes),
        "memory_locations": draw(sizes),
        "memory_width": draw(sizes),
        "read_heads": draw(heads),
        "write_heads": draw(heads),
        "start_memory": draw(st.sampled_from(["constant", "random"])),
        "batch_first": draw(st.booleans()),
        "backward_clip": draw(st.sampled_from([math.inf, 1.0, 0.01])),
    }
    if draw(st.booleans()):
        first, count = draw(st.integers(-9, 9)), draw(st.integers(1, 5))
        options |= {"shift_mode": "scalar", "shifts": tuple(range(first, first + count))}
    else:
        shifts = st.lists(st.integers(-99, 99), min_size=1, max_size=5, unique=True)
        options |= {"shift_mode": "softmax", "shifts": tuple(draw(shifts))}
    steps, batch_size = draw(st.integers(1, 7)), draw(st.integers(1, 6))
    lengths = st.tuples(*[st.integers(0, steps)] * batch_size)
    return Case(
        options,
        steps=steps,
        batch_size=batch_size,
        lengths=draw(st.none() | lengths),
        given_state=draw(st.booleans()),
        layout=draw(st.sampled_from(["contiguous", "transposed", "every other", "expanded"])),
        seed=draw(st.integers(0, 999)),
    )


@settings(max_examples=int(CONFIGURATIONS or 60), derandomize=CONFIGURATIONS is None)
@given(case=cases())
def test_the_engines_agree_on_any_combination(case: Case) -> None:
    require_equal_engines(case)


@pytest.mark.parametrize("given_state", [False, True])
def test_the_comparison_notices_one_percent_in_one_element(given_state: bool) -> None:
    options = {"controller": "lstm", "controller_layers": 2, "read_heads": 2}
    case = Case(options, lengths=(5, 2, 3), given_state=given_state)
    truth = results(case, "reference", torch.float64)
    runs = [results(case, "reference", torch.float32, run) for run in range(RUNS)]
    allowed = tolerances(truth, runs)
    native = results(case, "native", torch.float32)
    require_equal(native, truth, allowed)
    assert len(native) > 40
    for name, tensor in native.items():
        damaged = tensor.double().clone()
        damaged.view(-1)[damaged.abs().argmax()] *= 1.01
        with pytest.raises(AssertionError, match=f"^{re.escape(name)} is off by .*") as caught:
            require_equal({**native, name: damaged}, truth, allowed)
        assert "\n" not in str(caught.value)
        with pytest.raises(AssertionError, match=f"^{re.escape(name)} is off by nan"):
            require_equal({**native, name: damaged * torch.nan}, truth, allowed)


def test_uninitialised_memory_is_poisoned() -> None:
    with poisoned():
        empty = [torch.empty(3), torch.ones(3).new_empty(5), torch.empty_like(torch.ones(2, 2))]
    assert all(tensor.isnan().all() for tensor in empty)


@pytest.mark.parametrize("layout", ["contiguous", "every other"])
def test_padding_is_never_read(layout: str) -> None:
    case = Case({"controller": "lstm"}, lengths=(5, 0, 3), layout=layout)
    net, x, _ = concrete(case, torch.float32)
    net.engine = "native"
    spoiled = x.clone()
    for sequence, length in enumerate(case.lengths):
        spoiled[length:, sequence] = torch.nan
    found = []
    for inputs in (x, spoiled):
        inputs = inputs.detach().requires_grad_()
        logits, final = net(inputs, lengths=torch.tensor(case.lengths))
        loss = logits.square().sum() + final.memory.sum()
        found.append([logits, *final, *torch.autograd.grad(loss, [inputs, *net.parameters()])])
    for ours, theirs in zip(*found, strict=True):
        assert torch.equal(ours, theirs)


@pytest.mark.parametrize("controller", ["feedforward", "lstm"])
@pytest.mark.parametrize("shift_mode", ["softmax", "scalar"])
def test_nan_in_a_parameter_is_not_lost(controller: str, shift_mode: str) -> None:
    """A diverged network must show it."""
    case = Case({"controller": controller, "shift_mode": shift_mode})
    net, x, _ = concrete(case, torch.float32)
    for name, parameter in net.named_parameters():
        for position in (
            (0, parameter.numel() // 2, parameter.numel() - 1) if parameter.numel() else ()
        ):
            kept = parameter.detach().clone()
            with torch.no_grad():
                parameter.view(-1)[position] = torch.nan
                outputs = {}
                for engine in ("reference", "native"):
                    net.engine = engine
                    logits, final = net(x)
                    outputs[engine] = {"logits": logits, **final._asdict()}
                parameter.copy_(kept)
            for output, expected in outputs["reference"].items():
                found = outputs["native"][output].isnan()
                assert torch.equal(found, expected.isnan()), f"{output}, for NaN in {name}"


def test_a_state_goes_on_where_it_stopped() -> None:
    net, x, _ = concrete(Case({"controller": "lstm", "heads": 2}, steps=9), torch.float32)
    net.engine = "native"
    whole, final, weightings = net(x, return_weightings=True)
    first, state, before = net(x[:4], return_weightings=True)
    second, end, after = net(x[4:], state, return_weightings=True)
    assert torch.equal(torch.cat([first, second]), whole)
    for name in Weightings._fields:
        parts = [getattr(part, name) for part in (before, after)]
        assert torch.equal(torch.cat(parts), getattr(weightings, name)), name
    for name in State._fields:
        assert torch.equal(getattr(end, name), getattr(final, name)), name

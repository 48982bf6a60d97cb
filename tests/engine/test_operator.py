"""The native engine as an operator of PyTorch: autograd, torch.compile, the memory it uses."""

from collections.abc import Sequence
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.engine.comparison import Case, concrete
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from ntm.engine import native, operators
from ntm.layer import NTM

CASES = {
    "feedforward": Case(lengths=(5, 0, 3)),
    "lstm": Case({"controller": "lstm", "controller_layers": 2, "read_heads": 2}),
    "scalar shifts": Case({"shift_mode": "scalar", "write_heads": 2}, lengths=(2, 5, 4)),
}


def operands(
    case: Case, dtype: torch.dtype = torch.float32
) -> tuple[Tensor, Tensor | None, list[Tensor], list[Tensor], int, list[int], bool, float]:
    """Return the arguments of `ntm::forward` for the case, without `keep`."""
    net, x, state = concrete(case, dtype)
    start = net.initial_state(case.batch_size) if state is None else state
    lengths = None if case.lengths is None else torch.tensor(case.lengths)
    return (
        *(x, lengths, [p.detach() for p in net.cell.parameters()], [s.detach() for s in start]),
        *operators.choices_of(net.config, net.backward_clip),
    )


@pytest.mark.parametrize("name", ["feedforward", "lstm"])
def test_saved_programs_give_the_controller_as_a_bool(name: str) -> None:
    x, lengths, weights, start, kind, *others = operands(CASES[name])
    for operator in (operators.forward, operators.backward):
        assert "lstm" in [argument.name for argument in operator._schema.arguments]
    asked = (x, lengths, weights, start)
    now = operators.forward(*asked, kind, *others, False)[0]
    then = operators.forward(*asked, name == "lstm", *others, False)[0]
    assert torch.equal(now, then)


def with_gradients(arguments: Sequence[Any]) -> list[Any]:
    x, lengths, weights, start, *rest = arguments
    leaves = [[t.clone().requires_grad_() for t in tensors] for tensors in (weights, start)]
    return [x.clone().requires_grad_(), lengths, *leaves, *rest]


@pytest.mark.parametrize("name", CASES)
def test_gradients_are_those_of_finite_differences(name: str) -> None:
    options = {**CASES[name].options, "controller_size": 3, "memory_locations": 5}
    options |= {"memory_width": 2, "input_size": 2, "output_size": 1}
    case = Case(options, steps=3, batch_size=2, lengths=(3, 2), given_state=True)
    x, lengths, weights, start, *choices = with_gradients(operands(case, torch.float64))

    def function(x: Tensor, *rest: Tensor) -> tuple[Tensor, ...]:
        weight, state = list(rest[: len(weights)]), list(rest[len(weights) :])
        *outputs, _tape = operators.forward_with_weightings(
            x, lengths, weight, state, *choices, True
        )
        return tuple(output for output in outputs if output.numel())

    assert torch.autograd.gradcheck(function, (x, *weights, *start))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("name", CASES)
def test_pytorch_finds_no_fault_with_the_operators(name: str) -> None:
    arguments = operands(CASES[name])
    # The fourth check compares all outputs of two calls, but parts of a tape are never written. For
    # the other outputs, the test of a compiled network does the same.
    utils = ("test_schema", "test_autograd_registration", "test_faketensor")
    for operator in (operators.forward, operators.forward_with_weightings):
        torch.library.opcheck(operator, (*arguments, False), test_utils=utils)
        torch.library.opcheck(operator, (*with_gradients(arguments), True), test_utils=utils)
    logits, *final, read, write, tape = operators.forward_with_weightings(*arguments, True)
    x, lengths, weights, start, *choices = arguments
    for dfinal, dweightings in ((final, (read, write)), ([None] * 6, ()), (final, (None, write))):
        given = (x, lengths, weights, start, tape, logits, dfinal, *choices, *dweightings)
        torch.library.opcheck(operators.backward, given)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("name", CASES)
def test_a_compiled_network_computes_the_same(name: str) -> None:
    torch.compiler.reset()
    options = {} if name == "feedforward" else {"return_weightings": True}
    net, x, _ = concrete(CASES[name], torch.float32)
    net.engine = "native"
    lengths = CASES[name].lengths and torch.tensor(CASES[name].lengths)
    # The default backend would compile the softmax of the start weightings: other rounding.
    compiled = torch.compile(net, fullgraph=True, dynamic=True, backend="aot_eager")
    found = []
    inputs = [x.requires_grad_(), *net.parameters()]
    for function in (net, compiled):
        logits, final, *weightings = function(x, lengths=lengths, **options)
        outputs = [logits, *final, *tree_leaves(weightings)]
        loss = logits.square().sum() + final.memory.sum()
        loss = loss + sum((part**3).sum() for part in tree_leaves(weightings))
        found.append([*outputs, *torch.autograd.grad(loss, inputs)])
    for eager, other in zip(*found, strict=True):
        assert torch.equal(eager, other)
    longer = torch.randn(9, 4, 3)
    with torch.no_grad():
        results = [tree_leaves(function(longer, **options)) for function in (compiled, net)]
    assert all(torch.equal(ours, theirs) for ours, theirs in zip(*results, strict=True))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_compiled_network_refuses_lengths_beyond_the_steps() -> None:
    torch.compiler.reset()
    net, x, _ = concrete(Case(), torch.float32)
    compiled = torch.compile(net, fullgraph=True, backend="aot_eager")
    with pytest.raises(ValueError, match=r"lengths must lie between 0 and 5, .* got 6"):
        compiled(x, lengths=torch.tensor([5, 6, 0]))


def test_a_second_derivative_is_refused_in_a_sentence() -> None:
    net, x, _ = concrete(Case(), torch.float32)
    net.engine = "native"
    logits, _, weightings = net(x.requires_grad_(), return_weightings=True)
    loss = logits.square().sum() + weightings.read.square().sum()
    (gradient,) = torch.autograd.grad(loss, x, create_graph=True)
    with pytest.raises(RuntimeError, match=r"first derivatives only.*engine='reference'"):
        gradient.sum().backward()


@pytest.mark.parametrize("length", [-1, 6])
def test_lengths_beyond_the_steps_are_refused_by_the_operator_itself(length: int) -> None:
    x, _, *rest = operands(Case())
    with pytest.raises(ValueError, match=f"lengths must lie between 0 and 5, .* got {length}"):
        operators.forward(x, torch.tensor([5, length, 0]), *rest, True)


def test_a_tape_that_was_not_kept_is_refused() -> None:
    x, lengths, weights, start, *choices = operands(Case())
    logits, *final, tape = operators.forward(x, lengths, weights, start, *choices, False)
    with pytest.raises(ValueError, match="tape must come from a forward with keep=True"):
        operators.backward(x, lengths, weights, start, tape, logits, final, *choices)


@settings(max_examples=200)
@given(st.data())
def test_the_tape_has_the_size_that_the_kernels_say(data: st.DataObject) -> None:
    size, heads = st.integers(1, 70), st.integers(1, 5)
    lstm = data.draw(st.booleans())
    scalar = data.draw(st.booleans())
    net = NTM(
        *(data.draw(size), data.draw(size)),
        controller="lstm" if lstm else "feedforward",
        controller_layers=data.draw(st.integers(1, 3)) if lstm else 1,
        controller_size=data.draw(size),
        memory_locations=data.draw(size),
        memory_width=data.draw(size),
        read_heads=data.draw(heads),
        write_heads=data.draw(heads),
        shifts=range(data.draw(st.integers(1, 9))),
        shift_mode="scalar" if scalar else "softmax",
        device="meta",
    )
    steps, batch_size = data.draw(st.integers(1, 999)), data.draw(size)
    weights, start = list(net.cell.parameters()), list(net.initial_state(batch_size))
    theirs = native.sizes_of(net.config, net.backward_clip)
    ours = operators.sizes_of(weights, start)
    kind, inputs, shifts = net.config.controller, net.config.input_size, len(net.config.shifts)
    counted = operators.tape_size(ours, kind, inputs, shifts, steps, batch_size)
    assert counted == native.loaded().module.tape_size(steps, batch_size, True, theirs)
    assert native.loaded().module.tape_size(steps, batch_size, False, theirs) == 0


class KeptTapes(TorchDispatchMode):
    """Dispatch mode that keeps the tape size of every call of the operator."""

    def __init__(self) -> None:
        super().__init__()
        self.sizes: list[int] = []

    def __torch_dispatch__(
        self, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        outputs = function(*args, **(kwargs or {}))
        if function is operators.forward:
            self.sizes.append(outputs[-1].numel())
        return outputs


def tape_sizes(net: NTM) -> list[int]:
    """Return the tape sizes of a short and a long call."""
    with KeptTapes() as tapes:
        for steps in (3, 300):
            net(torch.ones(steps, 2, 3))
    return tapes.sizes


def test_without_gradients_the_memory_does_not_grow_with_the_steps() -> None:
    net = Case().network()
    short, long = tape_sizes(net)
    assert long > 50 * short
    with torch.no_grad():
        short, long = tape_sizes(net)
    assert short == long
    short, long = tape_sizes(net.requires_grad_(False))
    assert short == long


BORDER = 64


def bordered(tensor: Tensor) -> Tensor:
    """Return a copy with NaN on both sides, which must be neither overwritten nor used."""
    room = tensor.new_full([tensor.numel() + 2 * BORDER], torch.nan)
    inner = room[BORDER:-BORDER].view(tensor.shape)
    return inner.copy_(tensor)


def borders_are_intact(tensor: Tensor) -> bool:
    room = torch.as_strided(
        tensor, [tensor.numel() + 2 * BORDER], [1], tensor.storage_offset() - BORDER
    )
    return bool(room[:BORDER].isnan().all() and room[-BORDER:].isnan().all())


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("name", CASES)
def test_the_kernels_stay_within_their_arrays(name: str, dtype: torch.dtype) -> None:
    """On arrays with borders, the results equal the operator's, and the borders stay intact."""
    x, lengths, weights, start, *choices = operands(CASES[name], dtype)
    logits, *final, read, write, tape = operators.forward_with_weightings(
        x, lengths, weights, start, *choices, True
    )
    gradients = operators.backward(
        x, lengths, weights, start, tape, logits, final, *choices, read, write
    )

    x, weights, start = bordered(x), [bordered(w) for w in weights], [bordered(s) for s in start]
    net, _, _ = concrete(CASES[name], dtype)
    sizes = native.sizes_of(net.config, net.backward_clip)
    our_logits, our_tape = bordered(torch.zeros_like(logits)), bordered(tape * torch.nan)
    our_final = [bordered(part * torch.nan) for part in final]
    our_weightings = [bordered(torch.zeros_like(part)) for part in (read, write)]
    native.function("forward", dtype)(
        *(our_logits, our_final, our_weightings, our_tape),
        *(x, lengths, start, False, weights, True, 1, sizes),
    )
    dlogits, dfinal = bordered(logits), [bordered(part) for part in final]
    dweightings = [bordered(part) for part in (read, write)]
    dx = bordered(torch.zeros_like(x))
    dweights, dstart = ([bordered(t * torch.nan) for t in tensors] for tensors in (weights, start))
    native.function("backward", dtype)(
        *(dx, dweights, dstart, False, dlogits, dfinal, dweightings, our_tape, weights),
        *(*x.shape[:2], lengths, 1, sizes),
    )
    ours = [our_logits, *our_final, *our_weightings, dx, *dweights, *dstart]
    theirs = [logits, *final, read, write, *gradients]
    for found, expected in zip(ours, theirs, strict=True):
        assert torch.equal(found, expected)
    for tensor in (*ours, our_tape, x, dlogits, *dfinal, *dweightings, *weights, *start):
        assert borders_are_intact(tensor)

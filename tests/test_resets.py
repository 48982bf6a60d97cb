"""Resets within a sequence: every result equals separate calls, on both engines."""

from itertools import pairwise
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.engine.comparison import RUNS, Results, move_last_bits, require_equal, tolerances
from torch import Tensor

from ntm import NTM, LSTMBaseline
from ntm.layer.switches import PARTS

SIZES: dict[str, Any] = {"controller_size": 7, "memory_locations": 11, "memory_width": 5}
LENGTHS = [9, 4, 1, 0]
# The first sequence resets at its start, twice in a row and at its last step; the second beyond
# its length; the others where no step runs.
RESETS = torch.tensor([[1, 0, 0, 0, 1, 1, 0, 0, 1], [0, 0, 1, 0, 0, 0, 1, 0, 0], [1] * 9, [1] * 9])


def network(kind: str, dtype: torch.dtype = torch.float64, run: int = 0) -> Any:
    torch.manual_seed(1)
    if kind == "baseline":
        net: Any = LSTMBaseline(3, 2, hidden_size=6, layers=2)
    else:
        net = NTM(3, 2, controller=kind, heads=2, **SIZES)
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))
    net.to(dtype)
    if run:
        torch.manual_seed(run)
        for parameter in net.parameters():
            move_last_bits(parameter.data)
    return net


def stretches(resets: Tensor, length: int) -> list[tuple[int, int]]:
    """Return the first step and the end of every episode of one sequence."""
    starts = [0, *(t for t in range(1, length) if resets[t])]
    return list(pairwise([*starts, length]))


def slow(net: Any, x: Tensor, state: Any, lengths: list[int], resets: Tensor) -> tuple[Tensor, Any]:
    """Run every episode of every sequence with a separate call."""
    logits = [[torch.zeros(1, 2, dtype=x.dtype)] * len(x) for _ in lengths]
    finals = []
    for b, length in enumerate(lengths):
        now = state[b : b + 1]
        for first, end in stretches(resets[b], length):
            if first < end:
                now = net.initial_state(1) if resets[b, first] else now
                said, now = net(x[first:end, b : b + 1], now)
                logits[b][first:end] = said
        finals.append(now)
    each = [torch.stack(steps) for steps in logits]
    final = type(state)(*(torch.cat(parts) for parts in zip(*finals, strict=True)))
    return torch.cat(each, dim=1), final


def results(net: Any, call: Any, dtype: torch.dtype) -> Results:
    """Return outputs, final state and all gradients of a call."""
    torch.manual_seed(5)
    x = torch.randn(9, 4, 3, dtype=torch.float64).to(dtype).requires_grad_()
    given_state = net.initial_state(4)
    state = type(given_state)(
        *(torch.rand(part.shape, dtype=torch.float64).to(dtype) for part in given_state)
    )
    leaves = {"x": x, **dict(net.named_parameters())}
    leaves |= {f"state.{name}": part.requires_grad_() for name, part in state._asdict().items()}
    logits, final = call(net, x, state)
    outputs = {"logits": logits, **{f"final {n}": p for n, p in final._asdict().items()}}
    total = sum(
        (o * torch.randn(o.shape, dtype=torch.float64).to(dtype)).sum() for o in outputs.values()
    )
    found = torch.autograd.grad(total, list(leaves.values()), materialize_grads=True)
    gradients = {f"gradient of {n}": g for n, g in zip(leaves, found, strict=True)}
    return {name: o.detach() for name, o in outputs.items()} | gradients


def at_once(net: Any, x: Tensor, state: Any) -> Any:
    return net(x, state, LENGTHS, resets=RESETS.t())


def apart(net: Any, x: Tensor, state: Any) -> Any:
    return slow(net, x, state, LENGTHS, RESETS)


@pytest.mark.parametrize("engine", ["reference", "native"])
@pytest.mark.parametrize("kind", ["feedforward", "lstm", "baseline"])
def test_resets_equal_separate_calls(kind: str, engine: str) -> None:
    def of(call: Any, dtype: torch.dtype, name: str, run: int = 0) -> Results:
        net = network(kind, dtype, run)
        net.engine = name
        return results(net, call, dtype)

    truth = of(apart, torch.float64, "reference")
    runs = [of(apart, torch.float32, "reference", run) for run in range(RUNS)]
    found, allowed = of(at_once, torch.float32, engine), tolerances(truth, runs)
    require_equal(found, truth, allowed)
    for name in ("logits", "gradient of x", *[n for n in truth if n.startswith("final")][:1]):
        damaged = found[name].clone()
        damaged.view(-1)[damaged.abs().argmax()] *= 1.01
        with pytest.raises(AssertionError, match=f"^{name} is off by"):
            require_equal({**found, name: damaged}, truth, allowed)


@given(data=st.data(), given_state=st.booleans())
def test_any_mask_and_lengths(data: st.DataObject, given_state: bool) -> None:
    net = network("lstm")
    steps, count = data.draw(st.integers(1, 6)), data.draw(st.integers(1, 3))
    resets = torch.tensor(
        data.draw(
            st.lists(
                st.lists(st.booleans(), min_size=steps, max_size=steps),
                min_size=count,
                max_size=count,
            )
        )
    )
    lengths = data.draw(st.lists(st.integers(0, steps), min_size=count, max_size=count))
    x = torch.randn(steps, count, 3, dtype=torch.float64)
    start = net.initial_state(count)
    if given_state:
        start = type(start)(*(part + 0.1 for part in start))
    with torch.no_grad():
        logits, final = net(x, start if given_state else None, lengths, resets=resets.t())
        expected, expected_final = slow(net, x, start, lengths, resets)
    torch.testing.assert_close(logits, expected)
    torch.testing.assert_close(tuple(final), tuple(expected_final))


def test_streaming_one_step_at_a_time() -> None:
    net, x, resets = (
        network("feedforward"),
        torch.randn(9, 2, 3, dtype=torch.float64),
        RESETS[:2].t(),
    )
    with torch.no_grad():
        whole, final = net(x, resets=resets)
        state, said = None, []
        for t in range(9):
            logits, state = net(x[t : t + 1], state, resets=resets[t : t + 1])
            said.append(logits)
    torch.testing.assert_close(torch.cat(said), whole)
    torch.testing.assert_close(tuple(state), tuple(final))


@pytest.mark.parametrize("engine", ["reference", "native"])
def test_traces_and_weightings(engine: Any) -> None:
    net, x = network("lstm"), torch.randn(9, 1, 3, dtype=torch.float64)
    net.engine = engine
    resets = RESETS[:1].t()
    trace = net.trace(x, resets=resets, memory=True)
    logits, _, weightings = net(x, return_weightings=True, resets=resets)
    torch.testing.assert_close(torch.from_numpy(trace.outputs), logits.detach())
    torch.testing.assert_close(torch.from_numpy(trace.read_weightings), weightings.read.detach())
    for first, end in stretches(RESETS[0], 9):
        alone = net.trace(x[first:end], memory=True)
        for name, array in alone.arrays.items():
            torch.testing.assert_close(trace.arrays[name][first:end], array)
    assert not (net.trace(x, resets=resets, without=PARTS[:1]).outputs == trace.outputs).all()


def test_every_form_of_x() -> None:
    net = network("feedforward")
    x, resets = torch.randn(9, 2, 3, dtype=torch.float64), RESETS[:2]
    expected = net(x, resets=resets.t())[0]
    one = net(x[:, 0], resets=resets[0])[0]
    torch.testing.assert_close(one, expected[:, 0])
    net.batch_first = True
    torch.testing.assert_close(net(x.transpose(0, 1), resets=resets)[0], expected.transpose(0, 1))


def test_wrong_masks_are_refused() -> None:
    net, x = NTM(3, 2, **SIZES), torch.randn(4, 2, 3)
    with pytest.raises(ValueError, match=r"without its channels, \(4, 2\); got \(2, 4\)"):
        net(x, resets=torch.zeros(2, 4))
    with pytest.raises(ValueError, match="must be 0 or 1"):
        net(x, resets=torch.full((4, 2), 0.5))
    packed = torch.nn.utils.rnn.pack_sequence([x[:, 0]])
    with pytest.raises(ValueError, match="padded batch"):
        net(packed, resets=torch.zeros(4, 1))  # type: ignore[call-overload]

"""Randomly damaged calls of the extension: refused or carried out, but never out of bounds.

NTM_DAMAGED_CALLS sets their number; the default is small enough for every run of the tests.
"""

import os
import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from tests.engine.comparison import random_network
from torch import Tensor

from ntm import NTM
from ntm.description import NTM_ARRAYS
from ntm.engine import native
from ntm.models.lstm import LSTMBaseline

CALLS = int(os.environ.get("NTM_DAMAGED_CALLS", "2000"))
BORDER = 32
REFUSALS = (TypeError, ValueError, RuntimeError, OverflowError, MemoryError, BufferError)


class Bordered:
    """Tensors with NaN on both sides, which must not be overwritten."""

    def __init__(self) -> None:
        self.rooms: list[tuple[Tensor, int]] = []

    def __call__(self, *shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
        count = torch.Size(shape).numel()
        room = torch.full([count + 2 * BORDER], torch.nan, dtype=dtype)
        room[BORDER : BORDER + count] = torch.rand(count, dtype=dtype)
        self.rooms.append((room, count))
        return room[BORDER : BORDER + count].view(shape)

    def intact(self) -> bool:
        return all(
            bool(room[:BORDER].isnan().all() and room[BORDER + count :].isnan().all())
            for room, count in self.rooms
        )


def network(chance: random.Random) -> NTM:
    return random_network(chance, dtype=chance.choice([torch.float32, torch.float64]))


def whole_call(chance: random.Random, new: Bordered) -> tuple[Callable[..., Any], list[Any]]:
    """Return a function of the extension and valid arguments."""
    net = network(chance)
    config, dtype = net.config, net.start.memory.dtype
    sizes = native.sizes_of(config, net.backward_clip)
    steps, batch = chance.randint(1, 4), chance.randint(1, 5)

    def like(tensor: Tensor) -> Tensor:
        return new(*tensor.shape, dtype=dtype)

    weights = [like(p) for p in net.cell.parameters()]
    state = [like(part) for part in net.initial_state(batch)]
    lengths = torch.tensor([chance.randint(0, steps) for _ in range(batch)])
    tape = new(native.loaded().module.tape_size(steps, batch, True, sizes), dtype=dtype)
    x, logits = (
        new(steps, batch, config.input_size, dtype=dtype),
        new(steps, batch, config.output_size, dtype=dtype),
    )
    rows = [[like(w) for _ in range(5)] for w in weights]
    start = [like(part) for part in net.start.parameters()]
    symbols = chance.choice([True, False])
    block = (x, logits, new(steps, batch, dtype=dtype), lengths, symbols)
    function = native.function

    channels = config.input_size, config.output_size
    lstm_sizes, lstm = lstm_of(chance, channels, like)

    def keep_and_step(rows: Any, constants: Any) -> bool:
        done: bool = function("Optimiser", dtype)(rows).step(constants)
        return done

    constants = [1e-4, 0.95, 0.9, 1e-4, 10.0]
    heads = [new(steps, batch, *part.shape[1:], dtype=dtype) for part in state[1:3]]
    weightings = [chance.choice([part, None]) for part in heads]
    again = [[like(w) for w in weights], [like(s) for s in state]]
    keep, shared = chance.choice([True, False]), chance.choice([True, False])
    first = [part[0].contiguous() for part in state] if shared else state
    written = [logits, again[1], weightings, tape if keep else None]
    forward = [*written, x, lengths, first, shared, weights, keep, 1, sizes]
    gradients = [like(x), again[0], copy_of(first, like), shared]
    backward = [
        *gradients,
        logits,
        state,
        weightings,
        tape,
        weights,
        steps,
        batch,
        lengths,
        2,
        sizes,
    ]
    return chance.choice(
        [
            (function("forward", dtype), forward),
            (function("backward", dtype), backward),
            (
                computed("Gradients", channels, dtype),
                [again[0], copy_of(start, like), weights, start, sizes, *block, 0, batch, 1],
            ),
            (
                computed("LSTMGradients", channels, dtype),
                [copy_of(lstm, like), lstm, lstm_sizes, *block, 0, batch, 2],
            ),
            (function("update", dtype), [rows, constants]),
            (keep_and_step, [rows, constants]),
            (function("all_finite", dtype), [x]),
            (native.loaded().module.tape_size, [steps, batch, True, sizes]),
            (
                function("record", dtype),
                [record(net, steps, batch, new), tape, steps, batch, lengths, sizes],
            ),
        ]
    )


def lstm_of(
    chance: random.Random, channels: tuple[int, int], like: Callable[[Tensor], Tensor]
) -> tuple[Any, list[Tensor]]:
    """Return the sizes and the parameters of a small LSTM."""
    net = LSTMBaseline(*channels, chance.randint(1, 9), chance.randint(1, 3))
    parameters = [*net.layers.parameters(), *net.output.parameters()]
    parameters += [net.start_hidden, net.start_cell]
    return native.lstm_sizes_of(net.config), copy_of(parameters, like)


def computed(kind: str, channels: tuple[int, int], dtype: torch.dtype) -> Callable[..., float]:
    """Return a call of a class that computes gradients: arguments of the class, then of a block."""

    def compute(*arguments: Any) -> float:
        *own, inputs, targets, mask, lengths, symbols, begin, end, threads = arguments
        gradients = native.function(kind, dtype)(*own)
        block = native.function("Block", dtype)(*channels, inputs, targets, mask, lengths, symbols)
        found: float = gradients.compute(block, begin, end, threads)
        return found

    return compute


def copy_of(tensors: list[Tensor], like: Callable[[Tensor], Tensor]) -> list[Tensor]:
    return [like(tensor) for tensor in tensors]


def record(net: NTM, steps: int, batch: int, new: Bordered) -> list[Tensor]:
    net.engine = "native"
    x = torch.zeros(steps, batch, net.config.input_size, dtype=net.start.memory.dtype)
    trace = net.trace(x, memory=True)
    return [new(*getattr(trace, array.name).shape, dtype=x.dtype) for array in NTM_ARRAYS]


def damaged_tensor(tensor: Tensor, chance: random.Random) -> Any:
    flat = tensor.reshape(-1)
    other = torch.float64 if tensor.dtype == torch.float32 else torch.float32
    return chance.choice(
        [
            lambda: flat[: max(len(flat) - 1, 0)],
            lambda: flat[:0],
            lambda: tensor.new_zeros(tensor.numel() + 1),
            lambda: tensor.to(other),
            lambda: tensor.to(torch.int32),
            lambda: tensor.to("meta"),
            tensor.to_sparse,
            lambda: tensor.t() if tensor.dim() == 2 else flat,
            lambda: torch.stack([flat, flat], 1)[:, 0],
            lambda: tensor.expand(2, *tensor.shape),
            lambda: torch.nn.Parameter(tensor) if tensor.is_floating_point() else None,
            lambda: tensor.numpy() if not tensor.is_sparse else None,
            tensor.data_ptr,
            lambda: torch._neg_view(tensor),
            lambda: torch.full_like(tensor, chance.choice([-1, 7, 2**40])),
            lambda: None,
        ]
    )()


def damaged(value: Any, chance: random.Random) -> Any:
    """Return a replacement for an argument, or the argument with a part of it replaced."""
    if isinstance(value, Tensor):
        return damaged_tensor(value, chance)
    if isinstance(value, list) and value and chance.random() < 0.8:
        changed = list(value)
        index = chance.randrange(len(changed))
        changed[index] = damaged(changed[index], chance)
        return changed
    return chance.choice(
        [None, -1, 0, 1, 2**31, 2**62, 2**70, -(2**62), 3.5, float("nan"), "x", [], [None], True]
        + ([value[:-1], value * 2] if isinstance(value, list) else [])
    )


HAS_EXCHANGE = hasattr(torch.Tensor, "__dlpack_c_exchange_api__")


@pytest.fixture(params=["exchange", "attributes"] if HAS_EXCHANGE else ["attributes"])
def asked_by(request: pytest.FixtureRequest) -> Iterator[None]:
    """Run a test with both ways to describe a tensor; older versions of torch have one only."""
    use_exchange = native.loaded().module.use_exchange
    assert use_exchange(request.param == "exchange") == (request.param == "exchange")
    yield
    use_exchange(True)


@pytest.mark.usefixtures("asked_by")
def test_damaged_calls_stay_within_their_arrays() -> None:
    chance = random.Random(int(os.environ.get("NTM_DAMAGED_SEED", "0")))
    torch.manual_seed(0)
    refused = carried_out = 0
    for _ in range(CALLS // 2):
        new = Bordered()
        function, arguments = whole_call(chance, new)
        for _ in range(chance.randint(1, 2)):
            index = chance.randrange(len(arguments))
            try:
                arguments[index] = damaged(arguments[index], chance)
            except REFUSALS:
                continue  # torch refuses to make this tensor
        try:
            function(*arguments)
            carried_out += 1
        except REFUSALS:
            refused += 1
        assert new.intact(), (function, arguments)
    assert refused > CALLS // 4
    assert carried_out > CALLS // 200


@pytest.mark.usefixtures("asked_by")
def test_whole_calls_are_carried_out() -> None:
    chance = random.Random(1)
    for _ in range(100):
        new = Bordered()
        function, arguments = whole_call(chance, new)
        function(*arguments)
        assert new.intact()


@pytest.mark.usefixtures("asked_by")
def test_a_tensor_is_refused_for_what_it_is() -> None:
    good = torch.rand(3, 2)
    finite = native.function("all_finite", torch.float32)
    assert finite(good)
    assert not finite(torch.tensor([1.0, torch.inf]))
    for bad in (good.double(), good.t(), good.to("meta"), good.to_sparse(), good.numpy(), None, 5):
        with pytest.raises((TypeError, ValueError, RuntimeError)):
            finite(bad)


@pytest.mark.parametrize(
    "change",
    [
        {"inputs": 0},
        {"units": -3},
        {"locations": 2**40},
        {"width": 2**31, "locations": 2**31},
        {"shifts": []},
        {"shifts": [2**60]},
        {"layers": 2},
        {"read_heads": 2**62},
        {"controller": 2},
        {"controller": -1},
    ],
)
def test_sizes_that_no_network_has_are_refused(change: dict[str, Any]) -> None:
    usual: dict[str, Any] = dict.fromkeys(
        ("inputs", "outputs", "units", "layers", "locations", "width", "read_heads", "write_heads"),
        1,
    )
    usual |= {"controller": 0, "shifts": [0], "scalar_shift": False}
    usual |= {"similarity_epsilon": 1e-8, "sharpening_epsilon": 1e-16, "backward_clip": 1.0}
    native.loaded().module.Sizes(**usual)
    with pytest.raises((ValueError, TypeError, RuntimeError)):
        native.loaded().module.Sizes(**{**usual, **change})

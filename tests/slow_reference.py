"""Section 3 of the paper in plain Python, one function per equation, and networks to test with it.

The slow functions use only lists, loops and `math`, and have no batches: a memory is N rows of M
floats, a weighting is N floats. They follow the paper's notation, index for index.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from torch import Tensor

from ntm import NTM, NTMConfig, State

Vector = list[float]
Matrix = list[Vector]

# Unequal primes, so that a swapped axis cannot pass.
SIZES = {
    "input_size": 3,
    "output_size": 2,
    "controller_size": 7,
    "memory_locations": 11,
    "memory_width": 5,
}
OPTIONS: dict[str, dict[str, object]] = {
    "defaults": {},
    "random-start": {"start_memory": "random"},
    "more-write-heads": {"read_heads": 2, "write_heads": 3},
    "more-read-heads": {"read_heads": 3, "write_heads": 1, "start_memory": "random"},
    "one-shift": {"shifts": (1,)},
    "scattered-shifts": {"shifts": (3, -5, 0)},
    "shifts-past-the-end": {"shifts": (-13, 0, 12, 1)},
    "scalar-shift": {"shift_mode": "scalar"},
    "wide-scalar-shift": {"shift_mode": "scalar", "shifts": (-2, -1, 0, 1, 2, 3), "heads": 2},
    "lstm": {"controller": "lstm"},
    "two-lstm-layers": {"controller": "lstm", "controller_layers": 2, "heads": 2},
    "lstm-scalar-shift": {"controller": "lstm", "shift_mode": "scalar", "start_memory": "random"},
}
ENGINES = ("reference", "native")

# Few examples are enough: one example draws whole tensors, and some tests run for every option.
some_examples = settings(max_examples=40)
few_examples = settings(max_examples=8)


def make_net(option: str = "defaults", engine: str = "reference", **changes: object) -> NTM:
    """Return a small float64 network with an option. No bias, start logit or start read is zero."""
    torch.manual_seed(7)
    settings = SIZES | OPTIONS[option] | {"engine": engine, "dtype": torch.float64} | changes
    net = NTM(**settings)
    with torch.no_grad():
        for name, parameter in net.named_parameters():
            if name != "start.memory":  # set by another option
                parameter.add_(torch.empty_like(parameter).uniform_(-0.7, 0.7))
    return net


def randn(*shape: int, seed: int = 11) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def reals(*shape: int, low: float = -3, high: float = 3) -> st.SearchStrategy[Tensor]:
    """Float64 tensors with values from low to high."""
    return arrays(np.float64, shape, elements=st.floats(low, high)).map(torch.from_numpy)


def distributions(*shape: int) -> st.SearchStrategy[Tensor]:
    """Float64 tensors whose last axis is a distribution, often with exact zeros."""
    return reals(*shape, low=0, high=1).map(_normalised)


def _normalised(values: Tensor) -> Tensor:
    total = values.sum(-1, keepdim=True)
    first = torch.zeros_like(values)
    first[..., 0] = 1
    return torch.where(total > 0, values / total, first)


def assert_agrees(actual: Tensor, expected: object) -> None:
    """Assert equality up to rounding: both sides use float64, with operations reordered."""
    wanted = torch.tensor(expected, dtype=torch.float64)
    torch.testing.assert_close(actual.detach(), wanted.reshape(actual.shape), rtol=1e-9, atol=1e-11)


def assert_distribution(weightings: Tensor) -> None:
    """Assert equation 1: no value is negative, and the sum is one within the dtype's precision."""
    assert (weightings >= 0).all()
    total = weightings.sum(-1)
    torch.testing.assert_close(total, torch.ones_like(total))


def read(memory: Matrix, weighting: Vector) -> Vector:
    """Equation 2."""
    result = [0.0] * len(memory[0])
    for i, row in enumerate(memory):
        for j, value in enumerate(row):
            result[j] += weighting[i] * value
    return result


def erase(memory: Matrix, weighting: Vector, erase_vector: Vector) -> Matrix:
    """Equation 3."""
    result = [row[:] for row in memory]
    for i in range(len(memory)):
        for j in range(len(erase_vector)):
            result[i][j] = memory[i][j] * (1 - weighting[i] * erase_vector[j])
    return result


def add(memory: Matrix, weighting: Vector, add_vector: Vector) -> Matrix:
    """Equation 4."""
    result = [row[:] for row in memory]
    for i in range(len(memory)):
        for j in range(len(add_vector)):
            result[i][j] = memory[i][j] + weighting[i] * add_vector[j]
    return result


def focus_by_content(memory: Matrix, key: Vector, strength: float) -> Vector:
    """Equation 5."""
    return softmax([strength * cosine_similarity(key, row) for row in memory])


def cosine_similarity(u: Vector, v: Vector) -> float:
    """Equation 6, with 1e-8 added to the squared norms."""
    dot = uu = vv = 0.0
    for a, b in zip(u, v, strict=True):
        dot += a * b
        uu += a * a
        vv += b * b
    return dot / (math.sqrt(uu + 1e-8) * math.sqrt(vv + 1e-8))


def interpolate(content: Vector, previous: Vector, gate: float) -> Vector:
    """Equation 7."""
    return [gate * c + (1 - gate) * p for c, p in zip(content, previous, strict=True)]


def rotate(weighting: Vector, shift: Vector, shifts: Sequence[int]) -> Vector:
    """Equation 8: the sum over j of w(j) s(i - j), all indices modulo N."""
    n = len(weighting)
    s = [0.0] * n
    for offset, amount in zip(shifts, shift, strict=True):
        s[offset % n] += amount
    result = [0.0] * n
    for i in range(n):
        for j in range(n):
            result[i] += weighting[j] * s[(i - j) % n]
    return result


def sharpen(weighting: Vector, sharpness: float) -> Vector:
    """Equation 9, with 1e-16 added to the base."""
    powers = [(w + 1e-16) ** sharpness for w in weighting]
    return [power / sum(powers) for power in powers]


def shift_from_scalar(scalar: float, shifts: Sequence[int]) -> Vector:
    """Return the overlap of the interval from `scalar` to `scalar` + 1 with each shift's interval.

    The unit interval that starts at 6.7 covers 0.3 of [6, 7) and 0.7 of [7, 8).
    """
    overlaps = []
    for offset in shifts:
        begin, end = max(scalar, offset), min(scalar + 1, offset + 1)
        overlaps.append(max(0.0, end - begin))
    return overlaps


def softmax(values: Vector) -> Vector:
    highest = max(values)
    powers = [math.exp(value - highest) for value in values]
    return [power / sum(powers) for power in powers]


def sigmoid(value: float) -> float:
    return 1 / (1 + math.exp(-value)) if value >= 0 else math.exp(value) / (1 + math.exp(value))


def softplus(value: float) -> float:
    return max(value, 0) + math.log1p(math.exp(-abs(value)))


def linear(weight: Matrix, bias: Vector, inputs: Vector) -> Vector:
    result = bias[:]
    for i, row in enumerate(weight):
        for j, value in enumerate(inputs):
            result[i] += row[j] * value
    return result


class Head(NamedTuple):
    """Parameters of one head; a read head has no erase and add."""

    key: Vector
    strength: float
    gate: float
    shift: Vector
    sharpness: float
    erase: Vector
    add: Vector


def squash(config: NTMConfig, values: Vector) -> Head:
    """Squash one head's raw values, in their order, into their ranges."""
    m, s = config.memory_width, config.shift_outputs
    erase_vector, add_vector = values[m + s + 3 : 2 * m + s + 3], values[2 * m + s + 3 :]
    raw_shift = values[m + 2 : m + 2 + s]
    if config.shift_mode == "softmax":
        shift = softmax(raw_shift)
    else:
        first, last = config.shifts[0], config.shifts[-1]
        shift = shift_from_scalar(first + (last - first) * sigmoid(raw_shift[0]), config.shifts)
    return Head(
        key=[math.tanh(v) for v in values[:m]],
        strength=softplus(values[m]),
        gate=sigmoid(values[m + 1]),
        shift=shift,
        sharpness=1 + softplus(values[m + 2 + s]),
        erase=[sigmoid(v) for v in erase_vector],
        add=[math.tanh(v) for v in add_vector],
    )


def split_heads(config: NTMConfig, values: Vector) -> tuple[list[Head], list[Head]]:
    """Split the values of the heads' layer into read heads and write heads."""
    heads, start = [], 0
    sizes = [config.read_head_outputs] * config.read_heads
    for size in sizes + [config.write_head_outputs] * config.write_heads:
        heads.append(squash(config, values[start : start + size]))
        start += size
    assert start == len(values)
    return heads[: config.read_heads], heads[config.read_heads :]


def address(
    head: Head, memory: Matrix, previous: Vector, shifts: Sequence[int]
) -> tuple[Vector, Vector, Vector, Vector]:
    """Figure 2: the weighting after each link of the chain."""
    content = focus_by_content(memory, head.key, head.strength)
    gated = interpolate(content, previous, head.gate)
    shifted = rotate(gated, head.shift, shifts)
    return content, gated, shifted, sharpen(shifted, head.sharpness)


def lstm_layer(
    weight: Matrix, bias: Vector, inputs: Vector, hidden: Vector, cell: Vector
) -> tuple[Vector, Vector]:
    """One LSTM layer without peepholes: new hidden and new cell."""
    size = len(hidden)
    gates = linear(weight, bias, inputs + hidden)
    new_hidden, new_cell = [], []
    for i in range(size):
        kept = sigmoid(gates[size + i]) * cell[i]
        value = kept + sigmoid(gates[i]) * math.tanh(gates[2 * size + i])
        new_cell.append(value)
        new_hidden.append(sigmoid(gates[3 * size + i]) * math.tanh(value))
    return new_hidden, new_cell


def controller(
    config: NTMConfig, weights: dict[str, list], inputs: Vector, hidden: Matrix, cell: Matrix
) -> tuple[Vector, Matrix, Matrix]:
    """The controller's output and its new state, one row per layer."""
    names = [f"controller.layers.{layer}" for layer in range(config.controller_layers)]
    layers = [(weights[f"{name}.weight"], weights[f"{name}.bias"]) for name in names]
    if config.controller == "feedforward":
        return [math.tanh(value) for value in linear(*layers[0], inputs)], hidden, cell
    new_hidden, new_cell = [], []
    for (weight, bias), h, c in zip(layers, hidden, cell, strict=True):
        inputs, c = lstm_layer(weight, bias, inputs, h, c)
        new_hidden.append(inputs)
        new_cell.append(c)
    return inputs, new_hidden, new_cell


def cell_step(
    config: NTMConfig, weights: dict[str, list], x: Vector, state: State
) -> tuple[Vector, State]:
    """One whole step of one sequence, for a state of nested lists."""
    seen = x + [value for vector in state.reads for value in vector]
    h, hidden, cell = controller(config, weights, seen, state.hidden, state.cell)
    values = linear(weights["heads.linear.weight"], weights["heads.linear.bias"], h)
    readers, writers = split_heads(config, values)

    memory, writing = state.memory, []
    for head, previous in zip(writers, state.write_weightings, strict=True):
        writing.append(address(head, state.memory, previous, config.shifts)[-1])
    for head, weighting in zip(writers, writing, strict=True):
        memory = erase(memory, weighting, head.erase)
    for head, weighting in zip(writers, writing, strict=True):
        memory = add(memory, weighting, head.add)

    reading, reads = [], []
    for head, previous in zip(readers, state.read_weightings, strict=True):
        reading.append(address(head, memory, previous, config.shifts)[-1])
        reads.append(read(memory, reading[-1]))
    features = h + [value for vector in reads for value in vector]
    output = linear(weights["output.weight"], weights["output.bias"], features)
    return output, State(memory, reading, writing, reads, hidden, cell)


def as_lists(tensors: dict[str, Tensor]) -> dict[str, list]:
    return {name: tensor.tolist() for name, tensor in tensors.items()}


def of_sequence(state: State, index: int) -> State:
    """The state of one sequence of a batch, as nested lists."""
    return State(*(tensor[index].tolist() for tensor in state))

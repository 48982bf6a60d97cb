"""The equations of the Differentiable Neural Computer in plain Python, one function each.

They use only lists, loops and `math`, have no batches, and follow the paper (Graves et al., Nature
538, 2016, Methods) index for index: a memory is N rows of W floats, a weighting is N floats.
"""

import math
from typing import Any

from tests.slow_reference import Matrix, Vector, linear, sigmoid, softmax, softplus

EPSILON = 1e-6


def content_weighting(memory: Matrix, key: Vector, strength: float) -> Vector:
    """C(M, k, beta), with EPSILON added to the squared norms."""
    return softmax([strength * _cosine(key, row) for row in memory])


def _cosine(u: Vector, v: Vector) -> float:
    dot = sum(a * b for a, b in zip(u, v, strict=True))
    norms = [math.sqrt(sum(a * a for a in vector) + EPSILON) for vector in (u, v)]
    return dot / (norms[0] * norms[1])


def retention(free_gates: Vector, read_weightings: Matrix) -> Vector:
    result = [1.0] * len(read_weightings[0])
    for gate, weighting in zip(free_gates, read_weightings, strict=True):
        for i, weight in enumerate(weighting):
            result[i] *= 1 - gate * weight
    return result


def usage(before: Vector, write_weighting: Vector, retained: Vector) -> Vector:
    parts = zip(before, write_weighting, retained, strict=True)
    return [(u + w - u * w) * psi for u, w, psi in parts]


def allocation(used: Vector) -> Vector:
    """a[phi[j]] = (1 - u[phi[j]]) times the product of u[phi[i]] for i < j."""
    u = [EPSILON + (1 - EPSILON) * value for value in used]
    phi = sorted(range(len(u)), key=lambda location: u[location])
    result = [0.0] * len(u)
    for j, location in enumerate(phi):
        result[location] = (1 - u[location]) * math.prod(u[phi[i]] for i in range(j))
    return result


def write_weighting(
    content: Vector, allocated: Vector, allocation_gate: float, write_gate: float
) -> Vector:
    pairs = zip(allocated, content, strict=True)
    return [write_gate * (allocation_gate * a + (1 - allocation_gate) * c) for a, c in pairs]


def write(memory: Matrix, weighting: Vector, erase: Vector, add: Vector) -> Matrix:
    return [
        [m * (1 - w * e) + w * v for m, e, v in zip(row, erase, add, strict=True)]
        for row, w in zip(memory, weighting, strict=True)
    ]


def precedence(before: Vector, weighting: Vector) -> Vector:
    return [(1 - sum(weighting)) * p + w for p, w in zip(before, weighting, strict=True)]


def links(before: Matrix, previous: Vector, w: Vector) -> Matrix:
    """L[i, j] = (1 - w[i] - w[j]) L[i, j] + w[i] p[j], with zeros on the diagonal."""
    result = [[0.0] * len(w) for _ in w]
    for i in range(len(w)):
        for j in range(len(w)):
            if i != j:
                result[i][j] = (1 - w[i] - w[j]) * before[i][j] + w[i] * previous[j]
    return result


def forward(link: Matrix, weighting: Vector) -> Vector:
    """L w: location i gets the sum over j of L[i, j] w[j]."""
    n = range(len(weighting))
    return [sum(link[i][j] * weighting[j] for j in n) for i in n]


def backward(link: Matrix, weighting: Vector) -> Vector:
    """L^T w: location i gets the sum over j of L[j, i] w[j]."""
    n = range(len(weighting))
    return [sum(link[j][i] * weighting[j] for j in n) for i in n]


def read_weighting(modes: Vector, b: Vector, c: Vector, f: Vector) -> Vector:
    return [
        modes[0] * back + modes[1] * content + modes[2] * ahead
        for back, content, ahead in zip(b, c, f, strict=True)
    ]


def read(memory: Matrix, weighting: Vector) -> Vector:
    width = range(len(memory[0]))
    return [sum(w * row[j] for w, row in zip(weighting, memory, strict=True)) for j in width]


def lstm(values: Vector, cell: Vector) -> tuple[Vector, Vector]:
    """One LSTM layer; values: input gates, forget gates, output gates, candidates."""
    n = len(cell)
    hidden, after = [], []
    for i, s in enumerate(cell):
        candidate = math.tanh(values[3 * n + i])
        after.append(sigmoid(values[n + i]) * s + sigmoid(values[i]) * candidate)
        hidden.append(sigmoid(values[2 * n + i]) * math.tanh(after[-1]))
    return hidden, after


def step(
    weights: dict[str, list], heads: int, x: Vector, state: dict[str, Any]
) -> tuple[Vector, dict[str, Any]]:
    """One whole step of one sequence; return the logits and the next state."""
    memory, before = state["memory"], state["read_weightings"]
    width = len(memory[0])
    seen = x + [value for vector in state["reads"] for value in vector] + state["hidden"]
    hidden, cell = lstm(_map(weights, "controller", seen), state["cell"])

    xi = iter(_map(weights, "interface", hidden))
    keys = [[next(xi) for _ in range(width)] for _ in range(heads + 1)]
    strengths = [1 + softplus(next(xi)) for _ in range(heads + 1)]
    add = [next(xi) for _ in range(width)]
    erase = [sigmoid(next(xi)) for _ in range(width)]
    free_gates = [sigmoid(next(xi)) for _ in range(heads)]
    allocation_gate, write_gate = sigmoid(next(xi)), sigmoid(next(xi))
    modes = [softmax([next(xi) for _ in range(3)]) for _ in range(heads)]

    retained = retention(free_gates, before)
    used = usage(state["usage"], state["write_weighting"], retained)
    content = content_weighting(memory, keys[heads], strengths[heads])
    written = write_weighting(content, allocation(used), allocation_gate, write_gate)
    memory = write(memory, written, erase, add)
    link = links(state["links"], state["precedence"], written)

    reading = []
    for i in range(heads):
        sought = content_weighting(memory, keys[i], strengths[i])
        b, f = backward(link, before[i]), forward(link, before[i])
        reading.append(read_weighting(modes[i], b, sought, f))
    reads = [read(memory, weighting) for weighting in reading]
    features = hidden + [value for vector in reads for value in vector]
    return _map(weights, "output", features), {
        "memory": memory,
        "usage": used,
        "precedence": precedence(state["precedence"], written),
        "links": link,
        "write_weighting": written,
        "read_weightings": reading,
        "reads": reads,
        "hidden": hidden,
        "cell": cell,
    }


def _map(weights: dict[str, list], name: str, inputs: Vector) -> Vector:
    return linear(weights[f"{name}.weight"], weights[f"{name}.bias"], inputs)

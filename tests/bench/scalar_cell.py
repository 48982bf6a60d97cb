"""A step of the machine in plain Python, forward and backward, on numbers that count operations.

It shares no code with the package. Its values are held against the cell's and its gradients against
autograd's; its operations can then be trusted, and the formulas of `benchmarks/engine/flops.py`
with them.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ntm.config import SHARPENING_EPSILON, SIMILARITY_EPSILON, NTMConfig

Vector = list["Counted"]
Matrix = list[Vector]


class Counted:
    """A float that counts what is done to it, on a counter that all share; its sign is free."""

    operations = 0

    def __init__(self, value: float) -> None:
        self.value = value

    def __repr__(self) -> str:
        return f"Counted({self.value})"

    def __add__(self, other: Any) -> "Counted":
        return _counted(self.value + _value(other))

    def __sub__(self, other: Any) -> "Counted":
        return _counted(self.value - _value(other))

    def __rsub__(self, other: Any) -> "Counted":
        return _counted(_value(other) - self.value)

    def __mul__(self, other: Any) -> "Counted":
        return _counted(self.value * _value(other))

    def __truediv__(self, other: Any) -> "Counted":
        return _counted(self.value / _value(other))

    def __neg__(self) -> "Counted":
        return Counted(-self.value)


def _value(number: Any) -> float:
    return number.value if isinstance(number, Counted) else float(number)


def _counted(value: float) -> Counted:
    Counted.operations += 1
    return Counted(value)


def elementary(function: Callable[[float], float]) -> Callable[[Counted], Counted]:
    return lambda x: _counted(function(x.value))


exp, log, sqrt, tanh = map(elementary, (math.exp, math.log, math.sqrt, math.tanh))
absolute, positive = elementary(abs), elementary(lambda x: max(x, 0.0))
sigmoid = elementary(lambda x: 1 / (1 + math.exp(-x)))
softplus = elementary(lambda x: math.log1p(math.exp(x)))


def zeros(*shape: int) -> Any:
    if len(shape) == 1:
        return [Counted(0.0) for _ in range(shape[0])]
    return [zeros(*shape[1:]) for _ in range(shape[0])]


def dot(a: Sequence[Counted], b: Sequence[Counted], start: float | Counted = 0.0) -> Counted:
    total = start if isinstance(start, Counted) else Counted(start)
    for x, y in zip(a, b, strict=True):
        total = total + x * y
    return total


def total(values: Sequence[Counted]) -> Counted:
    result = Counted(0.0)
    for value in values:
        result = result + value
    return result


def softmax(x: Vector) -> Vector:
    powers = [exp(value) for value in x]
    below = total(powers)
    return [power / below for power in powers]


def softmax_backward(dy: Vector, y: Vector) -> Vector:
    mean = dot(dy, y)
    return [p * (d - mean) for p, d in zip(y, dy, strict=True)]


def tanh_backward(dy: Vector, y: Vector) -> Vector:
    return [d * (1 - p * p) for p, d in zip(y, dy, strict=True)]


def sigmoid_backward(dy: Vector, y: Vector) -> Vector:
    return [d * p * (1 - p) for p, d in zip(y, dy, strict=True)]


class Linear:
    """y = W x + b, and its gradients, which gather over the steps."""

    def __init__(self, weight: list[list[float]], bias: list[float]) -> None:
        self.weight = [[Counted(w) for w in row] for row in weight]
        self.bias = [Counted(b) for b in bias]
        self.dweight, self.dbias = zeros(len(weight), len(weight[0])), zeros(len(bias))

    def forward(self, x: Vector) -> Vector:
        return [dot(row, x, b) for row, b in zip(self.weight, self.bias, strict=True)]

    def backward(self, dy: Vector, x: Vector, dx: Vector, first: int = 0) -> None:
        """Add to dx the gradient of x, from its element `first` on."""
        for o, d in enumerate(dy):
            self.dbias[o] = self.dbias[o] + d
            for i, value in enumerate(x):
                self.dweight[o][i] = self.dweight[o][i] + d * value
                if i >= first:
                    dx[i - first] = dx[i - first] + d * self.weight[o][i]


class Head:
    """Section 3.3 for one head, from its raw values to its weighting."""

    def __init__(self, config: NTMConfig) -> None:
        self.config = config

    def squash(self, raw: Vector) -> None:
        width, values = self.config.memory_width, self.config.shift_outputs
        self.raw = raw
        self.key = [tanh(value) for value in raw[:width]]
        self.strength, self.gate = softplus(raw[width]), sigmoid(raw[width + 1])
        self.shift = self._shift(raw[width + 2 : width + 2 + values])
        self.sharpness = softplus(raw[width + 2 + values]) + 1
        self.rest = raw[width + 3 + values :]
        self.erase = [sigmoid(value) for value in self.rest[:width]]
        self.add = [tanh(value) for value in self.rest[width:]]

    def _shift(self, raw: Vector) -> Vector:
        shifts = self.config.shifts
        if self.config.shift_mode == "softmax":
            return softmax(raw)
        self.share = sigmoid(raw[0])
        self.scalar = self.share * (shifts[-1] - shifts[0]) + shifts[0]
        return [positive(1 - absolute(self.scalar - offset)) for offset in shifts]

    def address(self, memory: Matrix, norms: Vector, previous: Vector) -> Vector:
        self.memory, self.norms = memory, norms
        self.key_norm = sqrt(dot(self.key, self.key, SIMILARITY_EPSILON))
        self.factor = self.strength / self.key_norm
        self.products = [dot(self.key, row) for row in memory]
        self.arguments = [
            self.factor * product / norm for product, norm in zip(self.products, norms, strict=True)
        ]
        self.content = softmax(self.arguments)
        self.difference = [c - p for c, p in zip(self.content, previous, strict=True)]
        gated = [p + self.gate * d for p, d in zip(previous, self.difference, strict=True)]
        self.gated, count = gated, len(gated)
        shifted = [
            dot([gated[(i - offset) % count] for offset in self.config.shifts], self.shift)
            for i in range(count)
        ]
        self.bases = [value + SHARPENING_EPSILON for value in shifted]
        self.logs = [log(base) for base in self.bases]
        self.weighting = softmax([self.sharpness * value for value in self.logs])
        return self.weighting

    def address_backward(
        self, dweighting: Vector, dmemory: Matrix, dnorms: Vector
    ) -> tuple[Vector, Vector]:
        """The gradients of the raw values of the focus and of the previous weighting."""
        dpowers = softmax_backward(dweighting, self.weighting)
        dsharpness = dot(dpowers, self.logs)
        dshifted = [self.sharpness * d / base for d, base in zip(dpowers, self.bases, strict=True)]
        dshift, dgated = self._rotate_backward(dshifted)
        dgate = dot(dgated, self.difference)
        dcontent = [self.gate * d for d in dgated]
        dprevious = [d - c for d, c in zip(dgated, dcontent, strict=True)]
        dstrength, dkey = self._content_backward(dcontent, dmemory, dnorms)
        return self._squash_backward(dkey, dstrength, dgate, dshift, dsharpness), dprevious

    def _rotate_backward(self, dshifted: Vector) -> tuple[Vector, Vector]:
        shifts, count = self.config.shifts, len(dshifted)
        dgated = [
            dot([dshifted[(i + offset) % count] for offset in shifts], self.shift)
            for i in range(count)
        ]
        dshift = [
            dot(dshifted, [self.gated[(i - offset) % count] for i in range(count)])
            for offset in shifts
        ]
        return dshift, dgated

    def _content_backward(
        self, dcontent: Vector, dmemory: Matrix, dnorms: Vector
    ) -> tuple[Counted, Vector]:
        darguments = softmax_backward(dcontent, self.content)
        scaled = [d / norm for d, norm in zip(darguments, self.norms, strict=True)]
        dfactor = dot(scaled, self.products)
        dkey = zeros(len(self.key))
        for i, (s, row) in enumerate(zip(scaled, self.memory, strict=True)):
            dnorms[i] = dnorms[i] - s * self.arguments[i]
            dproduct = s * self.factor
            for j, value in enumerate(row):
                dkey[j] = dkey[j] + dproduct * value
                dmemory[i][j] = dmemory[i][j] + dproduct * self.key[j]
        dstrength = dfactor / self.key_norm
        dkey_norm = -(dstrength * self.factor)
        pull = dkey_norm / self.key_norm
        return dstrength, [d + pull * k for d, k in zip(dkey, self.key, strict=True)]

    def _squash_backward(
        self, dkey: Vector, dstrength: Counted, dgate: Counted, dshift: Vector, dsharpness: Counted
    ) -> Vector:
        width = self.config.memory_width
        at_sharpness = width + 2 + self.config.shift_outputs
        return [
            *tanh_backward(dkey, self.key),
            dstrength * sigmoid(self.raw[width]),
            *sigmoid_backward([dgate], [self.gate]),
            *self._shift_backward(dshift),
            dsharpness * sigmoid(self.raw[at_sharpness]),
        ]

    def _shift_backward(self, dshift: Vector) -> Vector:
        if self.config.shift_mode == "softmax":
            return softmax_backward(dshift, self.shift)
        shifts = self.config.shifts
        distances = [self.scalar.value - offset for offset in shifts]
        slopes = [Counted(-math.copysign(1, d) if abs(d) < 1 else 0.0) for d in distances]
        dscalar = dot(dshift, slopes) * (shifts[-1] - shifts[0])
        return sigmoid_backward([dscalar], [self.share])


class Feedforward:
    """One tanh layer."""

    def __init__(self, linear: Linear, inputs: int) -> None:
        self.linear, self.inputs = linear, inputs

    def forward(self, seen: Vector) -> Vector:
        self.seen, self.output = seen, [tanh(value) for value in self.linear.forward(seen)]
        return self.output

    def backward(self, doutput: Vector, dreads: Vector) -> None:
        """Add to dreads; the inputs before the reads need no gradient."""
        self.linear.backward(tanh_backward(doutput, self.output), self.seen, dreads, self.inputs)


class LSTMLayer:
    """One LSTM layer with gates i, f, g, o."""

    def __init__(self, linear: Linear, undifferentiated: int) -> None:
        self.linear, self.undifferentiated = linear, undifferentiated

    def forward(self, below: Vector, hidden: Vector, cell: Vector) -> tuple[Vector, Vector]:
        self.inputs, self.before = [*below, *hidden], cell
        raw, size = self.linear.forward(self.inputs), len(cell)
        i, f, o = ([sigmoid(x) for x in raw[k * size : (k + 1) * size]] for k in (0, 1, 3))
        g = [tanh(x) for x in raw[2 * size : 3 * size]]
        after = [a * b + p * q for a, b, p, q in zip(f, cell, i, g, strict=True)]
        self.gates, self.squashed = (i, f, g, o), [tanh(value) for value in after]
        return [a * b for a, b in zip(o, self.squashed, strict=True)], after

    def backward(self, dhidden: Vector, dcell: Vector, dbelow: Vector) -> tuple[Vector, Vector]:
        """Add to dbelow; give the gradients of hidden and cell before the step."""
        i, f, g, o = self.gates
        do = products(dhidden, self.squashed)
        dsquashed = products(dhidden, o)
        slopes = [1 - s * s for s in self.squashed]
        dcell = [d + p * q for d, p, q in zip(dcell, dsquashed, slopes, strict=True)]
        df, di, dg = (products(dcell, other) for other in (self.before, g, i))
        draw = [*sigmoid_backward(di, i), *sigmoid_backward(df, f)]
        draw += [*tanh_backward(dg, g), *sigmoid_backward(do, o)]
        dinputs = [*dbelow, *zeros(len(dhidden))]
        self.linear.backward(draw, self.inputs, dinputs, self.undifferentiated)
        dbelow[:] = dinputs[: len(dbelow)]
        return dinputs[len(dbelow) :], products(dcell, f)


def products(a: Vector, b: Vector) -> Vector:
    return [x * y for x, y in zip(a, b, strict=True)]


@dataclass
class State:
    """What goes from step to step, or its gradient; norms are those of the memory's rows."""

    memory: Matrix
    norms: Vector
    read_weightings: Matrix
    write_weightings: Matrix
    reads: Vector
    hidden: Matrix
    cell: Matrix


class Machine:
    """The whole machine for one step."""

    def __init__(self, config: NTMConfig, linears: list[Linear]) -> None:
        *controller, self.heads, self.output = linears
        self.config = config
        if config.controller == "feedforward":
            self.feedforward = Feedforward(controller[0], config.input_size)
        else:
            self.layers = [
                LSTMLayer(linear, 0 if number else config.input_size)
                for number, linear in enumerate(controller)
            ]

    def forward(self, x: Vector, state: State, scored: bool) -> tuple[Vector, State]:
        """The logits, none of a step that is not scored, and the state after."""
        h, hidden, cell = self._control([*x, *state.reads], state)
        self.hidden = h
        readers, writers = self._focus(self.heads.forward(h))
        memory, weightings = state.memory, []
        for head, previous in zip(writers, state.write_weightings, strict=True):
            weightings.append(head.address(state.memory, state.norms, previous))
        memory = self._write(memory, writers)
        norms = [row_norm(row) for row in memory]
        read_weightings, reads = [], []
        for head, previous in zip(readers, state.read_weightings, strict=True):
            read_weightings.append(head.address(memory, norms, previous))
            columns = zip(*memory, strict=True)
            reads += [dot(head.weighting, column) for column in columns]
        self.features = [*h, *reads]
        logits = self.output.forward(self.features) if scored else []
        self.memory, self.norms, self.readers, self.writers = memory, norms, readers, writers
        return logits, State(memory, norms, read_weightings, weightings, reads, hidden, cell)

    def _control(self, seen: Vector, state: State) -> tuple[Vector, Matrix, Matrix]:
        if self.config.controller == "feedforward":
            return self.feedforward.forward(seen), [], []
        hidden, cells = [], []
        for layer, h, c in zip(self.layers, state.hidden, state.cell, strict=True):
            seen, cell = layer.forward(seen, h, c)
            hidden.append(seen)
            cells.append(cell)
        return seen, hidden, cells

    def _focus(self, raw: Vector) -> tuple[list[Head], list[Head]]:
        config = self.config
        sizes = [config.read_head_outputs] * config.read_heads
        sizes += [config.write_head_outputs] * config.write_heads
        heads = []
        for size in sizes:
            heads.append(Head(config))
            heads[-1].squash(raw[:size])
            raw = raw[size:]
        return heads[: config.read_heads], heads[config.read_heads :]

    def _write(self, memory: Matrix, writers: list[Head]) -> Matrix:
        for head in writers:
            head.erased = memory
            head.kept = [[1 - w * e for e in head.erase] for w in head.weighting]
            memory = [products(row, kept) for row, kept in zip(memory, head.kept, strict=True)]
        for head in writers:
            memory = [
                [value + w * a for value, a in zip(row, head.add, strict=True)]
                for w, row in zip(head.weighting, memory, strict=True)
            ]
        return memory

    def backward(self, dlogits: Vector, after: State) -> State:
        """Gather the gradients of the parameters; give that of the state before the step."""
        units, recurrent = self.config.controller_size, bool(after.hidden)
        dfeatures = [*(after.hidden[-1] if recurrent else zeros(units)), *after.reads]
        if dlogits:
            self.output.backward(dlogits, self.features, dfeatures)
        dh, dreads = dfeatures[:units], dfeatures[units:]
        draw_read, dread_weightings = self._read_backward(dreads, after)
        for i, row in enumerate(self.memory):
            pull = after.norms[i] / self.norms[i]
            after.memory[i] = [
                d + pull * value for d, value in zip(after.memory[i], row, strict=True)
            ]
        draw_write, before = self._write_backward(after)
        self.heads.backward(draw_read + draw_write, self.hidden, dh)
        before.read_weightings = dread_weightings
        self._control_backward(dh, after, before)
        return before

    def _read_backward(self, dreads: Vector, after: State) -> tuple[Vector, Matrix]:
        draw, dweightings, width = [], [], self.config.memory_width
        for number, head in enumerate(self.readers):
            dread = dreads[number * width : (number + 1) * width]
            dweighting = after.read_weightings[number]
            for i, row in enumerate(self.memory):
                dweighting[i] = dot(dread, row, dweighting[i])
                after.memory[i] = [
                    d + head.weighting[i] * r for d, r in zip(after.memory[i], dread, strict=True)
                ]
            raw, previous = head.address_backward(dweighting, after.memory, after.norms)
            draw += raw
            dweightings.append(previous)
        return draw, dweightings

    def _write_backward(self, after: State) -> tuple[Vector, State]:
        locations, width = self.config.memory_locations, self.config.memory_width
        dmemory = after.memory
        dadds, derases, dweightings = [], [], after.write_weightings
        for head, dweighting in zip(self.writers, dweightings, strict=True):
            dadds.append([dot(head.weighting, column) for column in zip(*dmemory, strict=True)])
            for i, drow in enumerate(dmemory):
                dweighting[i] = dot(drow, head.add, dweighting[i])
        for head, dweighting in reversed(list(zip(self.writers, dweightings, strict=True))):
            dkept = [products(d, row) for d, row in zip(dmemory, head.erased, strict=True)]
            dmemory = [products(d, row) for d, row in zip(dmemory, head.kept, strict=True)]
            derases.append(zeros(width))
            for i, drow in enumerate(dkept):
                for j, d in enumerate(drow):
                    dweighting[i] = dweighting[i] - d * head.erase[j]
                    derases[-1][j] = derases[-1][j] - d * head.weighting[i]
        before = State(dmemory, zeros(locations), [], [], [], [], [])
        draw: Vector = []
        for head, *d in zip(self.writers, dweightings, derases[::-1], dadds, strict=True):
            raw, previous = head.address_backward(d[0], before.memory, before.norms)
            draw += [*raw, *sigmoid_backward(d[1], head.erase), *tanh_backward(d[2], head.add)]
            before.write_weightings.append(previous)
        return draw, before

    def _control_backward(self, dh: Vector, after: State, before: State) -> None:
        before.reads = zeros(self.config.read_heads * self.config.memory_width)
        if self.config.controller == "feedforward":
            self.feedforward.backward(dh, before.reads)
            return
        for number, layer in reversed(list(enumerate(self.layers))):
            dbelow = after.hidden[number - 1] if number else before.reads
            dhidden, dcell = layer.backward(dh, after.cell[number], dbelow)
            before.hidden.insert(0, dhidden)
            before.cell.insert(0, dcell)
            dh = dbelow


def row_norm(row: Vector) -> Counted:
    return sqrt(dot(row, row, SIMILARITY_EPSILON))

"""Least number of floating-point operations in a training step.

One addition, subtraction, multiplication, division, comparison or elementary function (exp, log,
sqrt, tanh, sigmoid, softplus) counts as one; a change of sign is free. A sum of k terms counts k,
so a product of n x n matrices counts 2 n^3, the usual count for `torch.mm`. The backward pass uses
the results of the forward pass for free: recomputing them is not counted.

Every function returns the operations of one equation, forward and backward, with its derivation:

    N  locations   M  width   R, W  read and write heads   S  shifts   H  controller units

Adding a gradient to an accumulator counts as an addition. d... is the gradient of ...
"""

from dataclasses import dataclass

import torch

from ntm.config import NTMConfig
from ntm.layer import NTM
from ntm.tasks import Batch


@dataclass(frozen=True)
class Flops:
    """Operations of the forward and of the backward pass."""

    forward: int
    backward: int

    def __add__(self, other: "Flops") -> "Flops":
        return Flops(self.forward + other.forward, self.backward + other.backward)

    def __mul__(self, times: int) -> "Flops":
        return Flops(self.forward * times, self.backward * times)

    @property
    def total(self) -> int:
        """Operations of both passes."""
        return self.forward + self.backward


# y = tanh(x) and y = sigmoid(x): dx = dy (1 - y y) and dx = dy y (1 - y).
TANH = SIGMOID = Flops(1, 3)
# y = softplus(x): dx = dy sigmoid(x).
SOFTPLUS = Flops(1, 2)
# A scored output z with target t: softplus(z) - z t, summed; dz = (sigmoid(z) - t) / batch.
LOSS = Flops(4, 3)
# A parameter: clipped (2), then n (4), m (2, since (1 - decay) g is there), d (8) and p (1).
UPDATE = 17


def softmax(size: int) -> Flops:
    """y = exp(x) / sum: dx = y (dy - sum of y dy)."""
    return Flops(3 * size, 4 * size)


def linear(outputs: int, inputs: int, differentiated: int) -> Flops:
    """y = W x + b: dW += dy x, db += dy, and dx += W dy for the inputs that have a gradient."""
    backward = 2 * outputs * inputs + outputs + 2 * outputs * differentiated
    return Flops(2 * outputs * inputs, backward)


def row_norms(locations: int, width: int) -> Flops:
    """Of equation 6, once per memory: sqrt(sum of squares); dM += M (dnorm / norm)."""
    return Flops(locations * (2 * width + 1), locations * (2 * width + 1))


def content(locations: int, width: int) -> Flops:
    """Equations 5 and 6 of a head: softmax of u (k . M(i)) / norm(i) with u = beta / |k|.

    |k| and u: 2 M + 2. The argument: N (2 M + 2). Backward, with a = dargument / norm:
    a, d(k . M(i)) = u a, du += a (k . M(i)) and dnorm -= a argument are N (1 + 1 + 2 + 2);
    dk and dM from the products are 4 N M; dbeta = du / |k|, d|k| = -dbeta u and
    dk += k (d|k| / |k|) are 2 M + 3.
    """
    key = Flops(2 * width + 2, 2 * width + 3)
    argument = Flops(locations * (2 * width + 2), locations * (4 * width + 6))
    return key + argument + softmax(locations)


def interpolation(locations: int) -> Flops:
    """Equation 7 as previous + g difference: dcontent = g dw, dprevious = dw - dcontent, dg."""
    return Flops(3 * locations, 4 * locations)


def rotation(locations: int, shifts: int) -> Flops:
    """Equation 8: a product and a sum per location and shift; twice that for both gradients."""
    return Flops(2 * locations * shifts, 4 * locations * shifts)


def sharpening(locations: int) -> Flops:
    """Equation 9: softmax of x = gamma log(w + epsilon); dgamma += dx log, dw = gamma dx / w."""
    return Flops(3 * locations, 4 * locations) + softmax(locations)


def reading(locations: int, width: int) -> Flops:
    """Equation 2: r += w M; dw += r dM and dM += w dr."""
    return Flops(2 * locations * width, 4 * locations * width)


def writing(locations: int, width: int) -> Flops:
    """Equations 3 and 4: M' = M (1 - w e), M' += w a.

    Backward: da and dw from w a (4), dM and d(1 - w e) from the product (2), dw and de (4).
    """
    return Flops(5 * locations * width, 10 * locations * width)


def shift(config: NTMConfig) -> Flops:
    """A head's distribution over shifts: a softmax, or the scalar technique.

    The scalar: first + range sigmoid(x), then max(0, 1 - |scalar - offset|) per shift; backward,
    the slope (-1, 0 or 1) times the gradient, summed, times the range, through the sigmoid.
    """
    count = len(config.shifts)
    if config.shift_mode == "softmax":
        return softmax(count)
    return SIGMOID + Flops(4 * count + 2, 2 * count + 1)


def squashing(config: NTMConfig) -> Flops:
    """From the values of the heads' linear layer to keys, strengths, gates, shifts and so on."""
    width, heads = config.memory_width, config.read_heads + config.write_heads
    one_plus_softplus = SOFTPLUS + Flops(1, 0)
    focus = TANH * width + SOFTPLUS + SIGMOID + shift(config) + one_plus_softplus
    return focus * heads + (SIGMOID + TANH) * (width * config.write_heads)


def controller(config: NTMConfig) -> Flops:
    """Section 3.4. The network's inputs need no gradient; the read vectors do.

    An LSTM unit: four squashed gates (4), c = f c + i g (3), h = o tanh(c) (2). Backward: do and
    dtanh (2), dc += dtanh (1 - tanh tanh) (4), df, dc, di and dg (4), four squashings (12).
    """
    units, seen = config.controller_size, config.controller_inputs
    reads = seen - config.input_size
    if config.controller == "feedforward":
        return linear(units, seen, reads) + TANH * units
    layer = Flops(9, 22) * units
    lowest = linear(4 * units, seen + units, reads + units) + layer
    above = linear(4 * units, 2 * units, 2 * units) + layer
    return lowest + above * (config.controller_layers - 1)


def output(config: NTMConfig) -> Flops:
    """Logits of a scored step and their loss."""
    features = config.controller_size + config.read_heads * config.memory_width
    return linear(config.output_size, features, features) + LOSS * config.output_size


def addressing(config: NTMConfig) -> Flops:
    """Section 3.3 for one head."""
    locations, width = config.memory_locations, config.memory_width
    shifted = rotation(locations, len(config.shifts))
    return content(locations, width) + interpolation(locations) + shifted + sharpening(locations)


def step_flops(config: NTMConfig, scored: bool = True) -> Flops:
    """Count the operations of one time step of one sequence, backpropagation included.

    scored: whether the step's outputs count in the loss; otherwise they are not computed.
    """
    locations, width = config.memory_locations, config.memory_width
    values = (
        config.read_heads * config.read_head_outputs
        + config.write_heads * config.write_head_outputs
    )
    count = controller(config)
    count += linear(values, config.controller_size, config.controller_size) + squashing(config)
    count += addressing(config) * (config.read_heads + config.write_heads)
    count += writing(locations, width) * config.write_heads
    count += row_norms(locations, width)
    count += reading(locations, width) * config.read_heads
    return count + output(config) if scored else count


def training_flops(config: NTMConfig, batch: Batch) -> int:
    """Count the operations of one update on a batch, from the learned start to the optimiser.

    The start is computed once for all sequences; its gradient is a sum over the sequences.
    """
    steps, scored = int(batch.lengths.sum()), int(batch.mask.sum())
    with torch.device("meta"):
        net = NTM.from_config(config)
    start = softmax(config.memory_locations) * (config.read_heads + config.write_heads)
    start += row_norms(config.memory_locations, config.memory_width)
    start += Flops(0, batch.batch_size * _size(net.start))
    sequences = step_flops(config) * scored + step_flops(config, scored=False) * (steps - scored)
    return (start + sequences).total + UPDATE * _size(net)


def _size(module: torch.nn.Module) -> int:
    return sum(parameter.numel() for parameter in module.parameters())

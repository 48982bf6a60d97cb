"""The same machine in JAX: `scan` over the time steps and one `jit` for the whole training step.

The parameters are the entries of the NTM's `state_dict`, so both programs can start alike. B
sequences, H heads of a kind, N locations of M values.
"""

from functools import partial
from typing import Any, NamedTuple

import jax
import numpy as np
import torch
from jax import numpy as jnp

from ntm import NTM
from ntm.config import SHARPENING_EPSILON, SIMILARITY_EPSILON, NTMConfig
from ntm.tasks import Batch

Array = Any
Parameters = dict[str, Array]


class State(NamedTuple):
    memory: Array  # (B, N, M)
    read_weightings: Array  # (B, H, N)
    write_weightings: Array  # (B, H, N)
    reads: Array  # (B, H, M)
    hidden: Array  # (B, layers, size)
    cell: Array  # (B, layers, size)


def linear(parameters: Parameters, name: str, x: Array) -> Array:
    return x @ parameters[f"{name}.weight"].T + parameters[f"{name}.bias"]


def start(parameters: Parameters, batch_size: int) -> State:
    nothing = jnp.zeros((0, 1))
    parts = State(
        parameters["start.memory"],
        jax.nn.softmax(parameters["start.read_logits"]),
        jax.nn.softmax(parameters["start.write_logits"]),
        parameters["start.reads"],
        parameters.get("start.hidden", nothing),
        parameters.get("start.cell", nothing),
    )
    return State(*(jnp.broadcast_to(part, (batch_size, *part.shape)) for part in parts))


def address(config: NTMConfig, values: Array, memory: Array, previous: Array) -> Array:
    """Equations 5 to 9; values: (B, H, M + 3 + shifts), before squashing."""
    width, shifts = config.memory_width, len(config.shifts)
    ends = [width, width + 1, width + 2, width + 2 + shifts]
    key, strength, gate, shift, sharpness = jnp.split(values, ends, axis=2)
    key, gate, shift = jnp.tanh(key), jax.nn.sigmoid(gate), jax.nn.softmax(shift)
    key_norms = jnp.sqrt(jnp.square(key).sum(2, keepdims=True) + SIMILARITY_EPSILON)
    row_norms = jnp.sqrt(jnp.square(memory).sum(2) + SIMILARITY_EPSILON)
    similarity = key @ memory.swapaxes(1, 2) / (key_norms * row_norms[:, None])
    content = jax.nn.softmax(jax.nn.softplus(strength) * similarity)
    gated = gate * content + (1 - gate) * previous
    rolled = [
        jnp.roll(gated, offset, 2) * shift[..., i : i + 1] for i, offset in enumerate(config.shifts)
    ]
    logs = jnp.log(sum(rolled) + SHARPENING_EPSILON)
    return jax.nn.softmax((1 + jax.nn.softplus(sharpness)) * logs)


def control(
    config: NTMConfig, parameters: Parameters, seen: Array, state: State
) -> tuple[Array, Array, Array]:
    """Section 3.4: the controller with one layer."""
    if config.controller == "feedforward":
        h = jnp.tanh(linear(parameters, "cell.controller.layers.0", seen))
        return h, state.hidden, state.cell
    joined = jnp.concatenate([seen, state.hidden[:, 0]], axis=1)
    gates = jnp.split(linear(parameters, "cell.controller.layers.0", joined), 4, axis=1)
    into, forget, candidate, out = gates
    kept = jax.nn.sigmoid(forget) * state.cell[:, 0]
    cell = kept + jax.nn.sigmoid(into) * jnp.tanh(candidate)
    h = jax.nn.sigmoid(out) * jnp.tanh(cell)
    return h, h[:, None], cell[:, None]


def step(config: NTMConfig, parameters: Parameters, state: State, x: Array) -> tuple[State, Array]:
    batch, width = x.shape[0], config.memory_width
    seen = jnp.concatenate([x, state.reads.reshape(batch, -1)], axis=1)
    h, hidden, cell = control(config, parameters, seen, state)
    values = linear(parameters, "cell.heads.linear", h)
    reading, writing = jnp.split(values, [config.read_heads * config.read_head_outputs], axis=1)
    reading = reading.reshape(batch, config.read_heads, -1)
    writing = writing.reshape(batch, config.write_heads, -1)
    focus = config.read_head_outputs
    erase, add = jnp.split(writing[..., focus:], [width], axis=2)
    write = address(config, writing[..., :focus], state.memory, state.write_weightings)
    memory, erase = state.memory, jax.nn.sigmoid(erase)
    for head in range(config.write_heads):
        memory = memory * (1 - write[:, head, :, None] * erase[:, head, None])
    memory = memory + write.swapaxes(1, 2) @ jnp.tanh(add)
    read = address(config, reading, memory, state.read_weightings)
    reads = read @ memory
    told = jnp.concatenate([h, reads.reshape(batch, -1)], axis=1)
    return State(memory, read, write, reads, hidden, cell), linear(parameters, "cell.output", told)


def logits_of(config: NTMConfig, parameters: Parameters, inputs: Array) -> Array:
    first = start(parameters, inputs.shape[1])
    return jax.lax.scan(partial(step, config, parameters), first, inputs)[1]


def cost(config: NTMConfig, parameters: Parameters, batch: tuple[Array, ...]) -> Array:
    """Return the mean cost of the sequences, in nats."""
    inputs, targets, mask = batch
    logits = logits_of(config, parameters, inputs)
    nats = jnp.maximum(logits, 0) - logits * targets + jnp.log1p(jnp.exp(-jnp.abs(logits)))
    return (nats.sum(2) * mask).sum() / inputs.shape[1]


class Moments(NamedTuple):
    square: Parameters
    mean: Parameters
    delta: Parameters


def update(p: Array, gradient: Array, square: Array, mean: Array, delta: Array) -> Any:
    """Return a parameter and its moments after a step of the paper's optimiser."""
    gradient = jnp.clip(gradient, -10, 10)
    square = 0.95 * square + 0.05 * jnp.square(gradient)
    mean = 0.95 * mean + 0.05 * gradient
    delta = 0.9 * delta - 1e-4 * gradient / jnp.sqrt(square - jnp.square(mean) + 1e-4)
    return p + delta, square, mean, delta


def train(
    config: NTMConfig, parameters: Parameters, moments: Moments, batch: tuple[Array, ...]
) -> tuple[Parameters, Moments]:
    gradients = jax.grad(partial(cost, config))(parameters, batch)
    new = {
        name: update(parameters[name], gradients[name], *(part[name] for part in moments))
        for name in parameters
    }
    columns = [{name: values[i] for name, values in new.items()} for i in range(4)]
    return columns[0], Moments(*columns[1:])


def parameters_of(net: NTM) -> Parameters:
    return {name: jnp.asarray(value.numpy()) for name, value in net.state_dict().items()}


def arrays_of(batch: Batch) -> tuple[Array, ...]:
    return tuple(jnp.asarray(part.numpy()) for part in batch[:3])


class JaxTraining:
    """Training steps on one batch, from the weights of an NTM."""

    def __init__(self, net: NTM, batch: Batch) -> None:
        self._config, self._batch = net.config, arrays_of(batch)
        self._parameters = parameters_of(net)
        zeros = {name: jnp.zeros_like(value) for name, value in self._parameters.items()}
        self._moments = Moments(zeros, zeros, zeros)
        self._train = jax.jit(partial(train, net.config))

    def __call__(self, _number: int) -> None:
        made = self._train(self._parameters, self._moments, self._batch)
        self._parameters, self._moments = jax.block_until_ready(made)

    def weights(self) -> dict[str, torch.Tensor]:
        """Return the parameters as tensors, to compare them."""
        return {name: torch.tensor(np.asarray(value)) for name, value in self._parameters.items()}

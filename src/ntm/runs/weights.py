"""Weights in safetensors files: the only reader and the only writer for runs and networks.

A file may come from an untrusted source. The sizes in a config are compared with the weights before
a network is built. So a file cannot make the program allocate much more memory than its own size.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors import torch as safetensors
from torch import Tensor, nn

from ntm.common.files import require_short_header, write_atomically
from ntm.common.text import first_line
from ntm.layer.rebuilding import unfilled
from ntm.runs.facts import Facts, parse_facts

Tensors = dict[str, Tensor]

# Narrower floating-point dtypes are left out: torch supports hardly any operation on them.
_DTYPES = {torch.float16, torch.bfloat16, torch.float32, torch.float64}


def encoded(tensors: Mapping[str, Tensor], facts: Facts | None = None) -> bytes:
    """Return the content of a safetensors file; facts: stored as metadata (None: no metadata)."""
    whole = {name: tensor.detach().contiguous() for name, tensor in tensors.items()}
    return safetensors.save(whole, None if facts is None else {"ntm": json.dumps(facts)})


def write_weights(file: Path, tensors: Mapping[str, Tensor], facts: Facts | None = None) -> None:
    """Replace a file of weights atomically."""
    write_atomically(file, encoded(tensors, facts))


def read_weights(file: Path) -> Tensors:
    """Read the tensors of a file by name; a ValueError says what is wrong with the file."""
    with _opened(file) as opened:
        return {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118


def read_metadata(file: Path) -> Facts:
    """Read the facts about the weights from the metadata of the file."""
    with _opened(file) as opened:
        return parse_facts((opened.metadata() or {}).get("ntm", "{}"))


@contextmanager
def _opened(file: Path) -> Iterator[Any]:
    require_short_header(file)
    try:
        with safe_open(file, framework="pt") as opened:
            yield opened
    except (SafetensorError, TypeError) as error:  # TypeError: a size beyond torch's integers
        told = f"{file} is not a safetensors file, or it is damaged"
        raise ValueError(f"{told}: {first_line(error)}.") from error


def read_fitting(file: Path, config: Any, build: Callable[[], nn.Module]) -> Tensors:
    """Read the weights of a network; raise ValueError if they do not fit `build()`."""
    weights = read_weights(file)
    require_fitting(weights, config, build)
    return weights


def require_fitting(weights: Tensors, config: Any, build: Callable[[], nn.Module]) -> None:
    """Raise ValueError unless the weights have a network's names and shapes, and one dtype.

    config: config of the network.
    build: function that builds the network.
    """
    _require_sizes(weights, config)
    network = unfilled(build)
    expected = network.state_dict()
    wanted, found = shapes_of(expected), _without_old_entries(shapes_of(weights))
    for name in sorted(wanted.keys() | found.keys()):
        if wanted.get(name) != found.get(name):
            raise ValueError(
                f"the weights are not of {type(network).__name__}: {name} must be "
                f"{wanted.get(name, 'absent')}, got {found.get(name, 'nothing')}."
            )
    _require_dtypes(weights, expected)


def _require_sizes(weights: Tensors, config: Any) -> None:
    """Raise ValueError if the sizes of a config are too large for the number of weights."""
    # Even on the meta device, a network with a billion layers would take forever to build.
    values = sum(tensor.numel() for tensor in weights.values())
    sizes = {name: size for name, size in vars(config).items() if isinstance(size, int)}
    layers = (size for name, size in sizes.items() if name.endswith("layers"))
    if max(sizes.values(), default=0) > values or max(layers, default=0) > len(weights):
        raise ValueError("config.json is of a far larger network than the weights.")


def _require_dtypes(weights: Tensors, expected: Tensors) -> None:
    """Raise ValueError for mixed floating-point dtypes and unexpected integer dtypes."""
    counted = {name for name, tensor in expected.items() if not tensor.is_floating_point()}
    kinds = {tensor.dtype for name, tensor in weights.items() if name not in counted}
    if len(kinds) > 1 or not kinds <= _DTYPES:
        listed = ", ".join(sorted(map(str, kinds)))
        raise ValueError(f"the weights must have one floating-point dtype, got {listed}.")
    for name in sorted(counted):
        if weights[name].dtype != expected[name].dtype:
            told = f"{name} must be {expected[name].dtype}, got {weights[name].dtype}"
            raise ValueError(f"the weights are not of the network: {told}.")


def dtype_of(weights: Tensors) -> torch.dtype:
    """Return the dtype of the floating-point tensors."""
    return next(tensor.dtype for tensor in weights.values() if tensor.is_floating_point())


def _without_old_entries(shapes: dict[str, tuple[int, ...]]) -> dict[str, tuple[int, ...]]:
    """Drop the empty state tensors that version 1.0 wrote for a feedforward controller."""
    old = {name for name in ("start.hidden", "start.cell") if 0 in shapes.get(name, ())}
    return {name: shape for name, shape in shapes.items() if name not in old}


def shapes_of(weights: Tensors) -> dict[str, tuple[int, ...]]:
    """Return the shape of every tensor by name."""
    return {name: tuple(tensor.shape) for name, tensor in weights.items()}

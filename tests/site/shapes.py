"""Shapes of a network's parameters as formulas in the sizes of its config, read off networks.

Every size of a parameter is a sum of products of at most two sizes of the config. Enough small
networks are built to solve for how often each product is in the sum.
"""

import random
from dataclasses import fields
from itertools import combinations
from math import prod
from typing import Any

import numpy as np

from ntm import NTM
from ntm.config import NTMConfig

SIZES = [field.name for field in fields(NTMConfig) if field.type is int]
_SHIFTS = "shift_outputs"  # values that a head emits for its shift; they follow from other fields


def parameter_sizes(controller: str) -> dict[str, list[str]]:
    """The sizes of every parameter by name, as JavaScript: `3 * c.read_heads + shiftOutputs`.

    The second layer of an LSTM stands for all layers above the first.
    """
    # A feedforward controller has one layer.
    sizes = [name for name in SIZES if name != "controller_layers" or controller == "lstm"]
    products = [p for order in (0, 1, 2) for p in combinations([*sizes, _SHIFTS], order)]
    configs = [_any_config(controller, seed) for seed in range(2 * len(products))]
    shapes = [_shapes(config) for config in configs]
    amounts = np.array([[_amount(p, config) for p in products] for config in configs])
    # Names that all networks share: every network has two layers, some have more.
    names = [name for name in shapes[0] if all(name in known for known in shapes)]
    found = {}
    for name in names:
        counts = np.array([known[name] for known in shapes])
        times = np.rint(np.linalg.lstsq(amounts, counts)[0]).astype(int)
        assert (amounts @ times == counts).all(), f"{name} has other sizes than such sums"
        found[name] = [_formula(column, products) for column in times.T]
    return found


def _any_config(controller: str, seed: int) -> NTMConfig:
    rng = random.Random(seed)
    sizes = {name: rng.randint(1, 9) for name in SIZES}
    sizes["controller_layers"] = rng.randint(2, 4) if controller == "lstm" else 1
    shifts = tuple(range(rng.randint(1, 6)))
    mode = rng.choice(("softmax", "scalar"))
    return NTMConfig(**sizes, controller=controller, shifts=shifts, shift_mode=mode)  # type: ignore[arg-type]


def _shapes(config: NTMConfig) -> dict[str, tuple[int, ...]]:
    return {name: tuple(p.shape) for name, p in NTM.from_config(config).state_dict().items()}


def _amount(product: tuple[str, ...], config: Any) -> int:
    return prod(getattr(config, name) for name in product)


def _formula(times: Any, products: list[tuple[str, ...]]) -> str:
    terms = [
        " * ".join([*([str(count)] if count != 1 or not product else []), *map(_name, product)])
        for count, product in zip(times, products, strict=True)
        if count
    ]
    return " + ".join(terms) or "0"


def _name(size: str) -> str:
    return "shiftOutputs" if size == _SHIFTS else f"c.{size}"

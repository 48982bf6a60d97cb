"""Sizes and options of a network, and their validation."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from ntm.common.fields import as_python, check_fields, setting

ControllerKind = Literal["feedforward", "lstm"]
ShiftMode = Literal["softmax", "scalar"]
StartMemory = Literal["constant", "random"]

# Kinds of controllers, in the order of `contract.h`, and the number of values that a layer of each
# kind computes per unit before squashing.
CONTROLLER_GATES: dict[ControllerKind, int] = {"feedforward": 1, "lstm": 4}
# Added to the squared norms in equation 6. An all-zero row or key is then similar to nothing, and
# its gradient is finite.
SIMILARITY_EPSILON = 1e-8
# Added to the base in equation 9, so that the logarithm of a zero weighting exists.
SHARPENING_EPSILON = 1e-16


@dataclass(frozen=True)
class NTMConfig:
    """Sizes and options that fix the shape of an NTM and the equations that it computes.

    Two networks with equal configs have interchangeable `state_dict`s.
    """

    input_size: int = setting(help="channels of the input at every step", at_least=1)
    output_size: int = setting(help="channels of the output (logits) at every step", at_least=1)
    controller: ControllerKind = setting(
        "feedforward", "network that controls the heads: feedforward or lstm"
    )
    controller_size: int = setting(
        100, "hidden units of the controller (of each layer, for an LSTM)", at_least=1
    )
    controller_layers: int = setting(
        1, "layers of an LSTM controller; a feedforward controller has one", at_least=1
    )
    memory_locations: int = setting(128, "N, the number of memory locations", at_least=1)
    memory_width: int = setting(20, "M, the number of values in each location", at_least=1)
    read_heads: int = setting(1, "heads that read", at_least=1)
    write_heads: int = setting(1, "heads that erase and add", at_least=1)
    shifts: tuple[int, ...] = setting(
        (-1, 0, 1), "shifts, in locations, that a head may choose from"
    )
    shift_mode: ShiftMode = setting(
        "softmax",
        "how a head emits its shift: softmax (one weight per shift) or scalar (one number; 0.7 "
        "means 30 % no shift and 70 % a shift by 1)",
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "shifts", _validated_shifts(self.shifts))
        check_fields(self)
        if self.shift_mode == "scalar" and not _consecutive(self.shifts):
            raise ValueError(
                f"shift_mode 'scalar' slides between neighbouring shifts, so shifts must be "
                f"consecutive integers in rising order such as (-1, 0, 1); got {self.shifts}."
            )
        if self.controller == "feedforward" and self.controller_layers != 1:
            raise ValueError(
                f"A feedforward controller has one layer; got controller_layers="
                f"{self.controller_layers}. Leave it at 1 or choose controller='lstm'."
            )

    @property
    def shift_outputs(self) -> int:
        """Number of values that a head emits to choose its shift."""
        return len(self.shifts) if self.shift_mode == "softmax" else 1

    @property
    def read_head_outputs(self) -> int:
        """Number of values per read head: key, strength, gate, shift, sharpness."""
        return self.memory_width + 3 + self.shift_outputs

    @property
    def write_head_outputs(self) -> int:
        """Number of values per write head: the values of a read head, then erase and add."""
        return self.read_head_outputs + 2 * self.memory_width

    @property
    def controller_inputs(self) -> int:
        """Number of values that the controller sees per step: the input and the last reads."""
        return self.input_size + self.read_heads * self.memory_width

    @property
    def controller_gates(self) -> int:
        """Number of values that a controller's layer computes per unit before squashing."""
        return CONTROLLER_GATES[self.controller]

    @property
    def recurrent_layers(self) -> int:
        """Number of controller layers that carry state: 0 for a feedforward controller."""
        return 0 if self.controller == "feedforward" else self.controller_layers


@dataclass(frozen=True)
class Initialisation:
    """Initial values of the weights of an NTM. These values affect no shape."""

    start_memory: StartMemory = setting(
        "constant",
        "initial value of the learned memory that every sequence starts with: constant (1e-6) or "
        "random (-0.5 to 0.5)",
    )
    start_spread: float = setting(
        1.0,
        "every sequence starts with learned weightings; standard deviation of their logits before "
        "training (1: a head covers many locations; 4: only a few)",
        above=0,
    )
    start_together: bool = setting(
        False, "whether, before training, all heads start a sequence with the same weighting"
    )
    head_gain: float = setting(
        1.0,
        "factor on the initial weights from controller to heads (1: Glorot initialisation)",
        above=0,
    )
    gate_bias: float = setting(
        0.0,
        "initial bias of the interpolation gates; below 0: early in training, heads shift more "
        "than they match content",
    )

    def __post_init__(self) -> None:
        check_fields(self)


def _validated_shifts(shifts: object) -> tuple[int, ...]:
    several = isinstance(shifts, Iterable) and getattr(shifts, "ndim", 1) == 1
    values = as_python(tuple(shifts)) if several else ()  # type: ignore[arg-type]
    integers = all(isinstance(s, int) and not isinstance(s, bool) for s in values)
    if not values or not integers or len(set(values)) != len(values):
        raise ValueError(
            f"shifts must be distinct integers, at least one, such as (-1, 0, 1); got {shifts!r}."
        )
    return values  # type: ignore[no-any-return]


def _consecutive(shifts: tuple[int, ...]) -> bool:
    return shifts == tuple(range(shifts[0], shifts[0] + len(shifts)))

"""The sizes and choices of one network, validated once, here."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

ControllerKind = Literal["feedforward", "lstm"]
ShiftMode = Literal["softmax", "scalar"]
StartMemory = Literal["constant", "random"]

# Added to the squared norms of equation 6: an empty row or key is similar to nothing, and the
# gradient stays finite there.
SIMILARITY_EPSILON = 1e-8
# Added to the base of equation 9, so that its logarithm exists where a weighting is exactly zero.
SHARPENING_EPSILON = 1e-16


@dataclass(frozen=True)
class NTMConfig:
    """Everything that decides the shape of an NTM and the equations it runs.

    Two networks with equal configs have interchangeable `state_dict`s.
    """

    input_size: int
    """Channels of the input at every step."""
    output_size: int
    """Channels of the output (logits) at every step."""
    controller: ControllerKind = "feedforward"
    """The network that drives the heads."""
    controller_size: int = 100
    """Hidden units of the controller (of each layer, for an LSTM)."""
    controller_layers: int = 1
    """Layers of an LSTM controller; a feedforward controller has one."""
    memory_locations: int = 128
    """N, the rows of the memory."""
    memory_width: int = 20
    """M, the values in each row."""
    read_heads: int = 1
    """Heads that read."""
    write_heads: int = 1
    """Heads that erase and add."""
    shifts: tuple[int, ...] = (-1, 0, 1)
    """The integer rotations a head may choose from."""
    shift_mode: ShiftMode = "softmax"
    """A softmax over the shifts, or one scalar that lies between two neighbouring shifts."""
    start_memory: StartMemory = "constant"
    """Initial value of the learned start memory: 1e-6 everywhere, or uniform in (-0.5, 0.5)."""
    start_spread: float = 1.0
    """Deviation of the initial logits of the start weightings: with 4, heads begin in one place."""
    start_together: bool = False
    """Whether all heads begin with the same start weighting, or each with one of its own."""
    head_gain: float = 1.0
    """Initial weights from controller to heads, as a multiple of Glorot's."""

    def __post_init__(self) -> None:
        for name in _SIZES:
            _require_positive_integer(name, getattr(self, name))
        _require_choice("controller", self.controller, get_args(ControllerKind))
        _require_choice("shift_mode", self.shift_mode, get_args(ShiftMode))
        _require_choice("start_memory", self.start_memory, get_args(StartMemory))
        if not isinstance(self.start_together, bool):
            raise ValueError(f"start_together must be True or False, got {self.start_together!r}.")
        for name in ("start_spread", "head_gain"):
            _require_positive_number(name, getattr(self, name))
        object.__setattr__(self, "shifts", _validated_shifts(self.shifts))
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
        """Values a head emits to choose its shift."""
        return len(self.shifts) if self.shift_mode == "softmax" else 1

    @property
    def read_head_outputs(self) -> int:
        """Values the controller emits per read head: key, strength, gate, shift, sharpness."""
        return self.memory_width + 3 + self.shift_outputs

    @property
    def write_head_outputs(self) -> int:
        """Values the controller emits per write head: a read head's, then erase and add."""
        return self.read_head_outputs + 2 * self.memory_width

    @property
    def controller_inputs(self) -> int:
        """What the controller sees at a step: the input and what was read the step before."""
        return self.input_size + self.read_heads * self.memory_width

    @property
    def recurrent_layers(self) -> int:
        """Layers of the controller that carry state: none when it is feedforward."""
        return self.controller_layers if self.controller == "lstm" else 0


_SIZES = (
    "input_size",
    "output_size",
    "controller_size",
    "controller_layers",
    "memory_locations",
    "memory_width",
    "read_heads",
    "write_heads",
)


def _require_positive_integer(name: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueError(f"{name} must be an integer of at least 1, got {value!r}.")


def _require_positive_number(name: str, value: object) -> None:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not 0 < value < math.inf:  # type: ignore[operator]
        raise ValueError(f"{name} must be a finite number above 0, got {value!r}.")


def _require_choice(name: str, value: object, choices: Sequence[str]) -> None:
    if value not in choices:
        listed = " or ".join(repr(choice) for choice in choices)
        raise ValueError(f"{name} must be {listed}, got {value!r}.")


def _validated_shifts(shifts: object) -> tuple[int, ...]:
    values = tuple(shifts) if isinstance(shifts, Iterable) else ()
    integers = all(isinstance(s, int) and not isinstance(s, bool) for s in values)
    if not values or not integers or len(set(values)) != len(values):
        raise ValueError(
            f"shifts must be distinct integers, at least one, such as (-1, 0, 1); got {shifts!r}."
        )
    return values


def _consecutive(shifts: tuple[int, ...]) -> bool:
    return shifts == tuple(range(shifts[0], shifts[0] + len(shifts)))

"""Description of a machine as data: its parameters, its state and the arrays of its traces.

A machine is described once, from its config. Everything that needs a shape or a list reads the
description: engines, checks, traces, files, figures, the studio and the generated JavaScript.

Axes are words. Figures and the studio know "location", "width", "read head" and "write head"; a
machine may also have other axes.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal, NamedTuple, get_args

from ntm.config import NTMConfig

HeadKind = Literal["read", "write"]
Role = Literal["memory", "weighting", "vector", "lane", "detail"]
Shape = tuple[int, ...]
_AXES_OF_ROLES = {
    "memory": ("location", "width"),
    "weighting": ("head", "location"),
    "vector": ("head", "width"),
}


class Parameter(NamedTuple):
    """Learned tensor, or one tensor per layer: "{layer}" in the name stands for the layer's number.

    So the length of a description does not depend on the number of layers.
    """

    name: str
    shape: Shape
    layers: range = range(1)


class StatePart(NamedTuple):
    """Tensor that one step passes to the next. The batch axis comes first and is not listed."""

    name: str
    axes: tuple[str, ...]


@dataclass(frozen=True)
class TraceArray:
    """Array of a trace. The axes time and batch come first and are not listed.

    role: how the array is drawn ("lane").
        memory: contents of the memory, ("location", "width"). A trace may lack this array.
        weighting: locations that the heads of one kind attend to, (head, "location").
        vector: values that the heads read or write, (head, "width"); if there are several such
            arrays, figures show the last one. The label is a noun such as "read".
        lane: values over time, drawn as a heat map.
        detail: values that are not drawn over time.
        Arrays with the axes ("read head" or "write head", "location") are also drawn for a single
        step, whatever their role.
    """

    name: str
    axes: tuple[str, ...]
    label: str
    role: Role = "lane"

    def __post_init__(self) -> None:
        texts = (self.name, self.label, *self.axes)
        if not self.axes or not all(isinstance(text, str) and text for text in texts):
            raise TypeError(f"name, label and axes of an array must be words; got {self}.")
        if self.role not in get_args(Role):
            raise ValueError(f"role must be one of {get_args(Role)}; got {self.role!r}.")
        found = ("head", *self.axes[1:]) if self.head else self.axes
        if found != (wanted := _AXES_OF_ROLES.get(self.role, found)):
            raise ValueError(
                f"An array with the role {self.role!r} must have the axes {wanted}; {self.name} "
                f"has {self.axes}."
            )

    @property
    def head(self) -> HeadKind | None:
        """Kind of the heads that the array belongs to; None if it belongs to no head."""
        kinds: tuple[HeadKind, ...] = get_args(HeadKind)
        return next((kind for kind in kinds if self.axes[:1] == (f"{kind} head",)), None)


class Capabilities(NamedTuple):
    """Things that a kind of machine can do beyond running and training."""

    grows: bool = False
    """Whether `Family.resized` gives a trained network more memory."""
    published: bool = False
    """Whether the package contains trained networks of this kind."""
    browser: bool = False
    """Whether the engine in the browser runs and trains this kind."""
    tuned: bool = True
    """Whether the package's training settings for any task (a user's, too) suit this kind."""


@dataclass(frozen=True)
class Description:
    """Parts of a machine with one config. Empty fields mean that the parts are unknown."""

    sizes: Mapping[str, int] = field(default_factory=dict)
    """Size of every axis."""
    parameters: tuple[Parameter, ...] = ()
    """Learned tensors, in the order of `state_dict`."""
    state: tuple[StatePart, ...] = ()
    arrays: tuple[TraceArray, ...] = ()
    state_shapes: tuple[Shape, ...] = field(init=False, repr=False, compare=False)
    """Shape of every part of the state, without the batch: every call of a network needs it."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "state_shapes", tuple(map(self.shape, self.state)))

    def shape(self, part: StatePart | TraceArray) -> Shape:
        """Return the shape of a part of the state, or of an array at one step."""
        return tuple(self.sizes[axis] for axis in part.axes)

    def shapes(self) -> dict[str, Shape]:
        """Return the shape of every parameter by name."""
        return parameter_shapes(self.parameters)

    @property
    def parameter_count(self) -> int:
        """Number of learned values."""
        return sum(math.prod(shape) * len(layers) for _, shape, layers in self.parameters)

    @property
    def heads(self) -> int:
        """Number of heads whose weightings a trace records."""
        kinds = {array.axes[0] for array in self.arrays if array.role == "weighting"}
        return sum(self.sizes[kind] for kind in kinds)

    @property
    def locations(self) -> int | None:
        """Number of memory locations; None for a machine without memory."""
        return self.sizes.get("location")


def parameter_shapes(parameters: Sequence[Parameter]) -> dict[str, Shape]:
    """Return the shape of every parameter by name, in the order of `state_dict`.

    Neighbouring parameters with the same `layers` form a group. The result has the whole group for
    the first layer, then for the second, and so on. The grouping is a plain loop, because
    torch.compile cannot trace itertools.groupby.
    """
    shapes, first = {}, 0
    for end, (_, _, layers) in enumerate(parameters, 1):
        if end < len(parameters) and parameters[end].layers == layers:
            continue
        for layer in layers:
            for name, shape, _ in parameters[first:end]:
                shapes[name.format(layer=layer)] = shape
        first = end
    return shapes


def _head_arrays(kind: HeadKind) -> tuple[TraceArray, ...]:
    """Return the arrays that record the addressing of section 3.3, stage by stage."""
    head = f"{kind} head"
    return (
        TraceArray(f"{kind}_keys", (head, "width"), "key", "detail"),
        TraceArray(f"{kind}_strengths", (head,), "key strength", "detail"),
        TraceArray(f"{kind}_gates", (head,), "gate", "detail"),
        TraceArray(f"{kind}_shifts", (head, "shift"), "shift", "detail"),
        TraceArray(f"{kind}_sharpness", (head,), "sharpness", "detail"),
        TraceArray(f"{kind}_content", (head, "location"), "by content alone", "detail"),
        TraceArray(f"{kind}_gated", (head, "location"), "after interpolation", "detail"),
        TraceArray(f"{kind}_shifted", (head, "location"), "after rotation", "detail"),
        TraceArray(f"{kind}_weightings", (head, "location"), "after sharpening", "weighting"),
    )


NTM_STATE = (
    StatePart("memory", ("location", "width")),
    StatePart("read_weightings", ("read head", "location")),
    StatePart("write_weightings", ("write head", "location")),
    StatePart("reads", ("read head", "width")),
    StatePart("hidden", ("layer", "unit")),  # no layer if the controller is feedforward
    StatePart("cell", ("layer", "unit")),
)
NTM_ARRAYS = (
    TraceArray("hidden", ("unit",), "controller output", "detail"),
    TraceArray("reads", ("read head", "width"), "read", "vector"),
    TraceArray("erases", ("write head", "width"), "erase", "vector"),
    TraceArray("adds", ("write head", "width"), "add", "vector"),
    TraceArray("memory", ("location", "width"), "memory after the step", "memory"),
    *_head_arrays("read"),
    *_head_arrays("write"),
)
"""Arrays of an NTM's trace, in the order of the native engine."""


@lru_cache(maxsize=256)
def describe(config: NTMConfig) -> Description:
    """Return the description of an NTM."""
    sizes = {
        "input": config.input_size,
        "output": config.output_size,
        "unit": config.controller_size,
        "layer": config.recurrent_layers,
        "location": config.memory_locations,
        "width": config.memory_width,
        "read head": config.read_heads,
        "write head": config.write_heads,
        "shift": len(config.shifts),
    }
    return Description(sizes, ntm_parameters(config), NTM_STATE, NTM_ARRAYS)


def ntm_parameters(c: NTMConfig) -> tuple[Parameter, ...]:
    """Return the parameters of an NTM, in the order of `state_dict`."""
    own = c.controller_size if c.recurrent_layers else 0  # a recurrent layer sees its own output
    rows = c.controller_gates * c.controller_size
    emitted = c.read_heads * c.read_head_outputs + c.write_heads * c.write_head_outputs
    above = range(1, c.controller_layers)
    start = {
        "memory": (c.memory_locations, c.memory_width),
        "read_logits": (c.read_heads, c.memory_locations),
        "write_logits": (c.write_heads, c.memory_locations),
        "reads": (c.read_heads, c.memory_width),
    }
    if c.recurrent_layers:
        start |= dict.fromkeys(("hidden", "cell"), (c.recurrent_layers, c.controller_size))
    return (
        *_linear("cell.controller.layers.0", rows, c.controller_inputs + own),
        *_linear("cell.controller.layers.{layer}", rows, c.controller_size + own, above),
        *_linear("cell.heads.linear", emitted, c.controller_size),
        *_linear("cell.output", c.output_size, c.controller_size + c.read_heads * c.memory_width),
        *(Parameter(f"start.{name}", shape) for name, shape in start.items()),
    )


def _linear(
    name: str, outputs: int, inputs: int, layers: range = range(1)
) -> tuple[Parameter, Parameter]:
    return (
        Parameter(f"{name}.weight", (outputs, inputs), layers),
        Parameter(f"{name}.bias", (outputs,), layers),
    )

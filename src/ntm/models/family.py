"""Model family: a kind of model that a run can train, with the facts that other code needs.

    MODELS                      the families by name, in the order of the paper's tables
    family("ntm-ff")            the family with this name
    family_of(model)            the family that built a model, or that a config belongs to

A model is a `torch.nn.Module` called like an `NTM`: `logits, state = model(x, lengths=lengths)`.
Its `config` is a frozen dataclass with `input_size` and `output_size`.
"""

import math
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import wraps
from typing import Any, ClassVar, NamedTuple

import torch
from torch import Tensor, nn

from ntm.common.registry import Registry
from ntm.description import Capabilities, Description
from ntm.models.step import TorchStep, TwoPartStep
from ntm.trace import Trace

Model = nn.Module
ModelConfig = Any
_BUILT_BY = "_built_by"  # attribute of a network: the name of its family


@dataclass(frozen=True)
class NoInitialisation:
    """Initialisation without options."""


class Footprint(NamedTuple):
    """Size of a network, computed from its description before the network is built."""

    parameters: int
    layers: int
    heads: int = 0
    products: int = 0
    """Approximate number of multiplications per step, in addition to one per parameter."""
    values: int = 0
    """Number of values per step in a trace."""


@dataclass(frozen=True)
class Family(ABC):
    """Kind of model that a run can train.

    A network remembers the family that built it. Several families may share a config class. A
    config then selects the family that declares this class; a family that inherits the class must
    be selected by name.
    """

    name: str
    """Name that users type."""
    title: str
    """Name in figures and reports."""
    colour: str
    """Colour in figures and reports, as #rrggbb."""
    fixed: Mapping[str, Any] = field(default_factory=dict)
    """Config fields that distinguish this family from others with the same config class."""
    on_page: tuple[str, str] | None = None
    """Colours that are easy to read on a light and on a dark page (None: `colour` on both)."""

    config: ClassVar[type]
    initialisation: ClassVar[type] = NoInitialisation
    capabilities: ClassVar[Capabilities] = Capabilities()

    def __init_subclass__(cls, **arguments: Any) -> None:
        super().__init_subclass__(**arguments)
        if "enlarged" in vars(cls):
            warnings.warn(_RENAMED, DeprecationWarning, stacklevel=2)
            setattr(cls, "resized", vars(cls)["enlarged"])  # noqa: B010  # mypy refuses a method
        for method in ("build", "resized"):
            if method in vars(cls):
                setattr(cls, method, _signed(vars(cls)[method]))

    @property
    def page_colours(self) -> tuple[str, str]:
        """Colours on a light and on a dark page."""
        return self.on_page or (self.colour, self.colour)

    @abstractmethod
    def build(self, config: Any, initialisation: Any, engine: str) -> Model:
        """Return a freshly initialised network with this config."""

    def fits(self, config: object) -> bool:
        """Return whether a config belongs to this family."""
        same = type(config) is self.config
        return same and all(getattr(config, name) == value for name, value in self.fixed.items())

    def sizes(self, config: Any) -> str:
        """Describe the sizes of a config in words."""
        return ", ".join(f"{name} {value}" for name, value in vars(config).items())

    def describe(self, config: Any) -> Description:  # for subclasses
        """Return the parameters, the state and the trace arrays of a network; by default, none."""
        return Description()

    def footprint(self, config: Any, memory_locations: int | None = None) -> Footprint | None:
        """Return the size of a network with this much memory; None without a description."""
        described = self.describe(config)
        if not described.parameters:
            return None
        if memory_locations is not None and described.locations is not None:
            sizes = {**described.sizes, "location": memory_locations}
            described = replace(described, sizes=sizes)
        state = sum(map(math.prod, described.state_shapes))
        counts = [(array, math.prod(described.shape(array))) for array in described.arrays]
        emitted = sum(size for array, size in counts if array.head and "location" not in array.axes)
        return Footprint(
            parameters=described.parameter_count,
            layers=described.sizes.get("layer", 1),
            heads=described.heads,
            # Everything that a head emits, such as its key, meets every location. A head may also
            # use all of the state, such as the links between the locations.
            products=emitted * (described.locations or 0) + described.heads * state,
            values=sum(size for _, size in counts),
        )

    def runs_on(self, model: Model) -> str:
        """Return a text that says what runs the model; raise RuntimeError if nothing can run it."""
        return "torch"

    def step(self, model: Model, optimiser: Any) -> TwoPartStep:
        """Return the fastest training step for this model; by default, autograd's."""
        return TorchStep(model, optimiser)

    def bound_backward(self, model: Model, limit: float | None) -> None:  # noqa: B027 - optional
        """Bound the gradients of every step; None removes the bound. The default does nothing."""

    @torch.no_grad()
    def trace(
        self,
        model: Any,
        x: Tensor,
        lengths: Tensor | None = None,
        *,
        memory: bool = False,  # for subclasses
    ) -> Trace:
        """Return a recording of the described arrays; by default, of inputs and outputs alone.

        x: inputs in the form that the model takes.
        memory: whether to record the contents of the memory, too (False).
        """
        batch_first = getattr(model, "batch_first", False)  # optional for the networks of a family
        steps, sequences = x.shape[:2][::-1] if batch_first else x.shape[:2]
        if lengths is None:
            lengths = torch.full((sequences,), steps, device=x.device)
        both = (x, model(x, lengths=lengths)[0])
        swapped = (tensor.transpose(0, 1) if batch_first else tensor for tensor in both)
        inputs, outputs = (tensor.float().cpu().numpy() for tensor in swapped)
        return Trace(lengths=lengths.cpu().numpy(), inputs=inputs, outputs=outputs, described=())

    def resized(self, model: Any, memory_locations: int) -> Model:
        """Return a copy with more memory locations; by default, raise ValueError."""
        raise ValueError(f"{self.title} has no memory to enlarge: memory_locations is for an NTM.")

    def enlarged(self, model: Any, memory_locations: int) -> Model:
        """Call `resized`: `enlarged` is the former name of `resized`."""
        warnings.warn(_RENAMED, DeprecationWarning, stacklevel=2)
        return self.resized(model, memory_locations)


_RENAMED = "Family.enlarged is called resized; rename the method."


def _signed(make: Callable[..., Model]) -> Callable[..., Model]:
    """Wrap a method that makes a network, so that the network stores the name of its family."""

    @wraps(make)
    def make_and_sign(self: Family, *arguments: Any, **options: Any) -> Model:
        model = make(self, *arguments, **options)
        model.__dict__[_BUILT_BY] = self.name
        return model

    return make_and_sign


def _require_instance(family: object) -> None:
    if isinstance(family, Family):
        return
    name = family.__name__ if isinstance(family, type) else repr(family)
    raise TypeError(
        f"{name} is not an instance of a family; register an instance of a subclass of "
        f'ntm.models.Family, such as MyFamily("my-name", "My title", "#123456").'
    )


MODELS: Registry[Family] = Registry("model", "ntm.families", _require_instance)


def register(family: Family) -> Family:
    """Register a family under its name and return it; each name belongs to one class."""
    _require_instance(family)
    return MODELS.add(family.name, family)


def family(name: str | None, source: str | None = None) -> Family:
    """Return the family with this name, or the family that a file registers.

    source: as in `Registry.find`.
    """
    return MODELS.find(name, source)


def family_of(model: object) -> Family:
    """Return the family that built a model; for a config or other models, the config's family."""
    if not isinstance(model, nn.Module):
        return _family_of_config(model)
    built_by = vars(model).get(_BUILT_BY)
    return _family_of_config(model.config) if built_by is None else family(built_by)


def _family_of_config(config: object) -> Family:
    fitting = [known for known in MODELS.values() if known.fits(config)]
    declaring = [known for known in fitting if "config" in vars(type(known))]
    found = declaring if len(fitting) > 1 and declaring else fitting
    if len(found) == 1:
        return found[0]
    kind = type(config).__name__
    if not found:
        raise ValueError(
            f"No model family has configs like {kind}; register one with ntm.models.register. "
            f"Known: {', '.join(MODELS)}."
        )
    raise ValueError(
        f"A {kind} alone does not tell the model family: {', '.join(f.name for f in found)} all "
        f"have such configs. Build the network with one of them, or name it: "
        f"Settings(..., model_name={found[0].name!r})."
    )

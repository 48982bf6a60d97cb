"""A family is a kind of model that a run can train, with all that other code needs to know of it.

    MODELS                      the families by name, in the order of the paper's tables
    family("ntm-ff")            one of them
    family_of(model)            the one that a model, or a config, belongs to

A model is a `torch.nn.Module` with the call of `NTM`, `logits, state = model(x, lengths=lengths)`,
and a `config`, which is a frozen dataclass with an `input_size` and an `output_size`.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

from torch import Tensor, nn

from ntm.common.registry import Registry
from ntm.models.step import TorchStep, TwoPartStep
from ntm.trace import Trace

Model = nn.Module
ModelConfig = Any


@dataclass(frozen=True)
class NoInitialisation:
    """The weights of this family begin in one way only."""


class Footprint(NamedTuple):
    """About how large a network is, told from its config before anything is built."""

    parameters: int
    layers: int
    heads: int = 0
    products: int = 0
    """Multiplications of a step, beside one for each parameter."""
    values: int = 0
    """Numbers in a trace of a step."""


@dataclass(frozen=True)
class Family(ABC):
    """One kind of model."""

    name: str
    """What users type."""
    title: str
    """What figures and reports call it."""
    colour: str
    """Its colour in them, as #rrggbb."""
    fixed: Mapping[str, Any] = field(default_factory=dict)
    """Fields of the config that tell this family from others with the same config class."""
    on_page: tuple[str, str] | None = None
    """Its colours on a light and on a dark page, which must be easy to read; or else `colour`."""

    config: ClassVar[type]
    initialisation: ClassVar[type] = NoInitialisation
    has_memory: ClassVar[bool] = False
    """Whether `trace` and `enlarged` work: whether it is an NTM of some kind."""

    @property
    def page_colours(self) -> tuple[str, str]:
        """The colours on a light and on a dark page."""
        return self.on_page or (self.colour, self.colour)

    @abstractmethod
    def build(self, config: Any, initialisation: Any, engine: str) -> Model:
        """The network that a config describes, freshly initialised."""

    def fits(self, config: object) -> bool:
        """Whether a config is of this family."""
        same = type(config) is self.config
        return same and all(getattr(config, name) == value for name, value in self.fixed.items())

    def sizes(self, config: Any) -> str:
        """The sizes of a config, in words."""
        return ", ".join(f"{name} {value}" for name, value in vars(config).items())

    def footprint(self, config: Any, memory_locations: int | None = None) -> Footprint | None:
        """How large a network is, with that much memory; None: this family does not say."""
        return None

    def runs_on(self, model: Model) -> str:
        """What runs the model, in words; a RuntimeError says why nothing can."""
        return "torch"

    def step(self, model: Model, optimiser: Any) -> TwoPartStep:
        """The fastest training step for this model; autograd's works for all of them."""
        return TorchStep(model, optimiser)

    def bound_backward(self, model: Model, limit: float | None) -> None:  # noqa: B027 - optional
        """Bound the gradients of every step; None removes the bound. By default nothing happens."""

    def trace(
        self, model: Any, x: Tensor, lengths: Tensor | None = None, *, memory: bool = False
    ) -> Trace:
        """Everything that the heads do."""
        raise ValueError(f"{self.title} has no heads to watch; give an NTM.")

    def enlarged(self, model: Any, memory_locations: int) -> Model:
        """The same network with more memory locations."""
        raise ValueError(f"{self.title} has no memory to enlarge: memory_locations is for an NTM.")


def lstm_parameters(inputs: int, size: int, layers: int) -> int:
    """About how many weights the layers of an LSTM have, each of which sees the one below."""
    return 4 * size * (inputs + size) + 8 * (layers - 1) * size * size


MODELS: Registry[Family] = Registry("model", "ntm.families")


def register(family: Family) -> Family:
    """Make a family known by its name; a name has one class."""
    return MODELS.add(family.name, family)


def family(name: str | None, source: str | None = None) -> Family:
    """The family of that name, or of a file that registers one; `source` as in `Registry.find`."""
    return MODELS.find(name, source)


def family_of(model: object) -> Family:
    """The family that a model, or its config, belongs to."""
    config = model.config if isinstance(model, nn.Module) else model
    for known in MODELS.values():
        if known.fits(config):
            return known
    raise ValueError(
        f"No model family has configs like {type(config).__name__}; register one with "
        f"ntm.models.register. Known: {', '.join(MODELS)}."
    )

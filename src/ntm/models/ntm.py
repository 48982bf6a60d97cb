"""The Neural Turing Machine with its two controllers, as two model families."""

from typing import Any

from torch import Tensor

from ntm import engine
from ntm.config import Initialisation, NTMConfig
from ntm.description import Capabilities, Description, describe
from ntm.engine import checked_name
from ntm.layer import NTM
from ntm.models.family import Family, register
from ntm.models.step import NativeStep, TorchStep, TwoPartStep
from ntm.trace import Trace


class NTMFamily(Family):
    """Family of NTMs. A subclass for another kind overrides `build`, and perhaps `config`."""

    config = NTMConfig
    initialisation = Initialisation
    capabilities = Capabilities(grows=True, published=True, browser=True)

    def build(self, config: NTMConfig, initialisation: Initialisation, engine: str) -> NTM:
        """Return a freshly initialised network with this config."""
        return NTM.from_config(config, initialisation, engine=checked_name(engine))

    def sizes(self, config: NTMConfig) -> str:
        """Describe controller, memory and heads in words."""
        layers = f"{config.controller_layers} x " if config.controller_layers > 1 else ""
        return (
            f"controller {layers}{config.controller_size}, memory {config.memory_locations} x "
            f"{config.memory_width}, {config.read_heads} + {config.write_heads} heads"
        )

    def describe(self, config: NTMConfig) -> Description:
        """Return the parameters, the state and the trace arrays of an NTM."""
        return describe(config)

    def runs_on(self, model: Any) -> str:
        """Return a text with the engine that runs the model, and the reason."""
        choice = _choice(model)
        return f"{choice.name} engine ({choice.reason.rstrip('.')})"

    def step(self, model: Any, optimiser: Any) -> TwoPartStep:
        """Return the training step of the model's engine if it has one, else autograd's."""
        gradients = engine.get(_choice(model).name).gradients(model)
        if gradients is None:
            return TorchStep(model, optimiser)
        return NativeStep(model, gradients, optimiser)

    def bound_backward(self, model: Any, limit: float | None) -> None:
        """Bound the gradients that flow back through the controller and the heads at every step."""
        model.backward_clip = limit

    def trace(
        self, model: Any, x: Tensor, lengths: Tensor | None = None, *, memory: bool = False
    ) -> Trace:
        """Return a recording of everything that the heads do."""
        if not hasattr(model, "trace"):
            raise ValueError(
                f"{self.title} cannot be traced: its network, {type(model).__name__}, has no "
                f"method trace; override trace of the family."
            )
        trace: Trace = model.trace(x, lengths=lengths, memory=memory)
        return trace

    def resized(self, model: Any, memory_locations: int) -> NTM:
        """Return a copy of the network with more memory locations."""
        larger: NTM = model.resized(memory_locations)
        return larger


def _choice(model: NTM) -> engine.Choice:
    like = model.start.memory
    return engine.choose(model.engine, like.device, like.dtype, model)


# Okabe and Ito's colours, which people with common colour blindness can tell apart.
register(
    NTMFamily(
        "ntm-ff",
        "NTM, feedforward controller",
        "#0072B2",
        {"controller": "feedforward"},
        on_page=("#0072b2", "#63b8ec"),
    )
)
register(
    NTMFamily(
        "ntm-lstm",
        "NTM, LSTM controller",
        "#009E73",
        {"controller": "lstm"},
        on_page=("#007a59", "#3fd1a4"),
    )
)

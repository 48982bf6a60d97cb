"""The LSTM baseline as a model family, with its training steps."""

import math
from typing import Any, cast

from torch import Tensor, nn

from ntm.description import Capabilities, Description
from ntm.engine import Choice, checked_name, native, recognition
from ntm.engine.base import refusal
from ntm.engine.fused import LSTMGradients
from ntm.models.family import Family, register
from ntm.models.lstm import LSTMBaseline, LSTMConfig, LSTMInitialisation, describe
from ntm.models.step import NativeStep, TorchStep, TwoPartStep
from ntm.tasks import Batch


def kernel_parameters(net: LSTMBaseline) -> list[Tensor]:
    """Return the tensors that the native engine reads, in the order of the kernels.

    Raise Unrecognised if a call of the network would run more than the native engine computes.
    """
    recognition.require_no_global_hooks()
    shapes, own = describe(net.config).shapes(), recognition.own_attributes
    parts = own(net, LSTMBaseline, "the network")
    modules = {"output": own(parts["_modules"]["output"], nn.Linear, "output")}
    layers = own(parts["_modules"]["layers"], nn.ModuleList, "layers")["_modules"]
    if len(layers) != net.config.layers:
        raise recognition.Unrecognised(f"layers has {len(layers)} layers, not {net.config.layers}")
    for index, layer in layers.items():
        name = f"layers.{index}"
        modules[name] = own(layer, nn.LSTM, name)
        if len(modules[name]["_parameters"]) != 2:
            raise recognition.Unrecognised(f"{name} has other parameters than two weights")
    start = [name for name in shapes if name.startswith("start")]
    found = []
    for name in [name for name in shapes if name not in start] + start:
        place, _, tensor = name.rpartition(".")
        parameters = modules.get(place, parts)["_parameters"]
        found.append(
            recognition.plain_tensor(parameters, place or "the network", tensor, shapes[name])
        )
    if not all(parameter.requires_grad for parameter in found):
        raise recognition.Unrecognised("a parameter needs no gradient")
    return found


recognition.know(LSTMBaseline)
recognition.know(nn.LSTM, ("weight_ih_l0", "weight_hh_l0"))


class PaddedStep(TorchStep):
    """Training step by torch on padded sequences, with the native engine's update if possible.

    An LSTM is causal: steps after the end of a sequence change nothing before it, and their outputs
    are not scored. torch runs a padded batch with one kernel per layer, but a packed batch step by
    step. So padding is faster, above all for similar lengths (`training.bucketed`).
    """

    def __init__(self, model: Any, optimiser: Any) -> None:
        super().__init__(model, optimiser)
        self._step_if_finite = optimiser.fused_step

    def update(self, bits: float) -> None:
        """Update the weights, as `TwoPartStep.update` describes."""
        # The fused step checks the gradients itself, which is faster.
        if not math.isfinite(bits) or not self._step_if_finite():
            super().update(bits)

    def _logits(self, batch: Batch) -> Tensor:
        logits, _ = self.model(batch.inputs)
        return cast(Tensor, logits)


class LSTMFamily(Family):
    """The paper's LSTM baseline."""

    config = LSTMConfig
    initialisation = LSTMInitialisation
    capabilities = Capabilities(tuned=False)

    def build(
        self, config: LSTMConfig, initialisation: LSTMInitialisation, engine: str
    ) -> LSTMBaseline:
        """Return a freshly initialised network with this config."""
        return LSTMBaseline.from_config(config, initialisation, engine=checked_name(engine))

    def sizes(self, config: LSTMConfig) -> str:
        """Describe layers and units in words."""
        return f"{config.layers} layers of {config.hidden_size}"

    def describe(self, config: LSTMConfig) -> Description:
        """Return the parameters and the state of a network."""
        return describe(config)

    def step(self, model: Any, optimiser: Any) -> TwoPartStep:
        """Return the native engine's step if it can train the model, else a `PaddedStep`."""
        if _choice(model).name == "native":
            gradients = LSTMGradients(model.config, kernel_parameters(model))
            return NativeStep(model, gradients, optimiser)
        return PaddedStep(model, optimiser)

    def runs_on(self, model: Any) -> str:
        """Describe in words what trains the model, and why."""
        choice = _choice(model)
        name = "native engine" if choice.name == "native" else "torch.nn.LSTM"
        return f"{name} ({choice.reason.rstrip('.')})"


def _choice(net: LSTMBaseline) -> Choice:
    """Return the engine that trains a network; raise RuntimeError if a requested one cannot."""
    if net.engine == "reference":
        return Choice("reference", "it was asked for")
    obstacle = _obstacle(net)
    if obstacle is None:
        return Choice(
            "native", "it is the fastest here" if net.engine == "auto" else "it was asked for"
        )
    if net.engine == "native":
        raise refusal("native", obstacle)
    return Choice("reference", f"not the native engine: {obstacle}")


def _obstacle(net: LSTMBaseline) -> str | None:
    """Return the reason why the native engine does not train this network, or None."""
    try:
        kernel_parameters(net)
    except recognition.Unrecognised as difference:
        return str(difference)
    return native.obstacle(net.start_cell.device, net.start_cell.dtype)


register(LSTMFamily("lstm", "LSTM", "#D55E00", on_page=("#c24e00", "#ff9a52")))

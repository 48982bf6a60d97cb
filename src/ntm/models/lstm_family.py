"""The LSTM baseline as a model family, with its training steps."""

import math
from typing import Any, cast

from torch import Tensor, nn

from ntm.engine import Choice, checked_name, native, recognition
from ntm.engine.base import refusal
from ntm.engine.fused import LSTMGradients
from ntm.models.family import Family, Footprint, lstm_parameters, register
from ntm.models.lstm import LSTMBaseline, LSTMConfig, LSTMInitialisation
from ntm.models.step import NativeStep, TorchStep, TwoPartStep
from ntm.tasks import Batch


def kernel_parameters(net: LSTMBaseline) -> list[Tensor]:
    """Return the tensors that the native engine reads, in its order.

    Raise Unrecognised if a call of the network would run more than the native engine computes.
    """
    recognition.require_no_global_hooks()
    c, own = net.config, recognition.own_attributes
    parts = own(net, LSTMBaseline, "the network")
    layers = own(parts["_modules"]["layers"], nn.ModuleList, "layers")["_modules"]
    if len(layers) != c.layers:
        raise recognition.Unrecognised(f"layers has {len(layers)} layers, not {c.layers}")
    found = [weight for index, layer in layers.items() for weight in _weights(c, index, layer)]
    output = own(parts["_modules"]["output"], nn.Linear, "output")["_parameters"]
    features, start = c.layers * c.hidden_size, (c.layers, c.hidden_size)
    found += [
        recognition.plain_tensor(output, "output", "weight", (c.output_size, features)),
        recognition.plain_tensor(output, "output", "bias", (c.output_size,)),
        recognition.plain_tensor(parts["_parameters"], "the network", "start_hidden", start),
        recognition.plain_tensor(parts["_parameters"], "the network", "start_cell", start),
    ]
    if not all(parameter.requires_grad for parameter in found):
        raise recognition.Unrecognised("a parameter needs no gradient")
    return found


def _weights(c: LSTMConfig, index: str, layer: nn.Module) -> list[Tensor]:
    """Return the two weights of a layer."""
    name, gates = f"layers.{index}", 4 * c.hidden_size
    below = c.input_size + 1 + (0 if index == "0" else c.hidden_size)
    own = recognition.own_attributes(layer, nn.LSTM, name)["_parameters"]
    if len(own) != 2:
        raise recognition.Unrecognised(f"{name} has other parameters than two weights")
    widths = {"weight_ih_l0": below, "weight_hh_l0": c.hidden_size}
    return [
        recognition.plain_tensor(own, name, weight, (gates, width))
        for weight, width in widths.items()
    ]


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

    def build(
        self, config: LSTMConfig, initialisation: LSTMInitialisation, engine: str
    ) -> LSTMBaseline:
        """Return a freshly initialised network with this config."""
        return LSTMBaseline.from_config(config, initialisation, engine=checked_name(engine))

    def sizes(self, config: LSTMConfig) -> str:
        """Describe layers and units in words."""
        return f"{config.layers} layers of {config.hidden_size}"

    def footprint(self, config: LSTMConfig, memory_locations: int | None = None) -> Footprint:
        """Return the size of a network; `memory_locations` has no effect."""
        weights = lstm_parameters(config.input_size, config.hidden_size, config.layers)
        return Footprint(weights, config.layers)

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
    """Return the engine that trains a network; raise if the requested engine cannot."""
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

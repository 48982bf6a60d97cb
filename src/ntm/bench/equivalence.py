"""Check before every measurement: a speed is reported only if the engines agree.

Both engines make one training step from equal weights on equal sequences of mixed lengths. Logits,
cost, gradients and updated weights must agree. The reference engine in float64 is the truth. The
error of the native engine in float32 may be at most a small multiple of the error of the reference
engine in float32.
"""

from collections.abc import Mapping

import torch
from torch import Tensor

from ntm.bench.networks import PaperNTM, fresh, optimiser_of, random_batch
from ntm.layer import NTM
from ntm.models import family_of
from ntm.runs import RunError
from ntm.tasks import Batch
from ntm.training import Step, TorchStep

Values = Mapping[str, Tensor]

_MULTIPLE = 8.0
# A few rounding errors are allowed even if the reference engine in float32 happens to be exact.
_ROUNDING = 8 * torch.finfo(torch.float32).eps
_LENGTHS = (7, 5, 2)


def require_equivalence(network: PaperNTM) -> None:
    """Raise an error if the native engine does not agree with the reference engine."""
    batch = random_batch(network.config, _LENGTHS)
    plain = fresh(network.config, "reference")
    exact = fresh(network.config, "reference").double()
    fast = fresh(network.config, "native")
    exact_batch = batch._replace(inputs=batch.inputs.double(), targets=batch.targets.double())
    require_close(
        str(network),
        fast=values_after_step(fast, family_of(fast).step(fast, optimiser_of(fast)), batch),
        plain=values_after_step(plain, TorchStep(plain, optimiser_of(plain)), batch),
        exact=values_after_step(exact, TorchStep(exact, optimiser_of(exact)), exact_batch),
    )


def values_after_step(net: NTM, step: Step, batch: Batch) -> dict[str, Tensor]:
    """Return logits, cost, gradients and weights of a training step, by name, in float64."""
    with torch.no_grad():
        logits, _ = net(batch.inputs, lengths=batch.lengths)
    values = {"logits": logits, "cost": torch.tensor(step(batch, 0, batch.batch_size))}
    for name, parameter in net.named_parameters():
        values[f"gradient of {name}"] = _gradient(parameter)
        values[f"updated {name}"] = parameter.detach()
    return {name: value.double() for name, value in values.items()}


def require_close(name: str, fast: Values, plain: Values, exact: Values) -> None:
    """Raise an error if a value of the native engine breaks the rule of this module."""
    for key, truth in exact.items():
        allowed = _MULTIPLE * _error(plain[key], truth) + _ROUNDING * _error(truth)
        off = _error(fast[key], truth)
        if not off <= allowed:
            raise RunError(
                f"The engines disagree, so no speed is reported: the {key} of {name} is off by "
                f"{off:.2g}, but rounding explains only {allowed:.2g}. Install the package again; "
                f"if that does not help, report it with the output of `ntm info`."
            )


def _gradient(parameter: Tensor) -> Tensor:
    return torch.zeros_like(parameter) if parameter.grad is None else parameter.grad


def _error(value: Tensor, truth: Tensor | float = 0.0) -> float:
    """Return the largest difference, or zero for an empty tensor."""
    return float((value - truth).abs().max()) if value.numel() else 0.0

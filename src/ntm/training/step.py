"""Steps: one update of the weights each, provided by the model's family."""

from ntm.models import Model, family_of
from ntm.models.step import Step, TorchStep, TwoPartStep
from ntm.training.optimiser import GravesRMSprop

__all__ = ["Step", "TorchStep", "TwoPartStep", "make_step"]


def make_step(model: Model, optimiser: GravesRMSprop) -> TwoPartStep:
    """Return the fastest step of the model's family for this model."""
    return family_of(model).step(model, optimiser)

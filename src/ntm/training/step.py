"""One update of the weights: the step of the model's family."""

from ntm.models import Model, family_of
from ntm.models.step import Step, TorchStep, TwoPartStep
from ntm.training.optimiser import GravesRMSprop

__all__ = ["Step", "TorchStep", "TwoPartStep", "make_step"]


def make_step(model: Model, optimiser: GravesRMSprop) -> TwoPartStep:
    """The fastest step that the model's family has for it."""
    return family_of(model).step(model, optimiser)

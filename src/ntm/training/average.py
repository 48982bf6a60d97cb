"""A running mean of a network's weights over the last part of its training.

At a constant learning rate the weights wander around the place they are drawn to, and each of them
costs more than their mean does (Polyak and Juditsky, 1992). Early weights are far from the
final ones, so the mean covers only the last share of the run so far.
"""

import copy

import torch

from ntm.models.family import Model


class Average:
    """The mean of the weights passed to `take`, as a network of its own.

    share: how far back the mean reaches, as a part of the training so far: after t sequences, the
    weights of s sequences ago count exp(-s / (share t)) as much as the newest, to first order.
    """

    def __init__(self, model: Model, share: float) -> None:
        self.model = copy.deepcopy(model).requires_grad_(False)
        self.share = share

    @torch.no_grad()
    def take(self, model: Model, before: int, now: int) -> None:
        """Count the weights after `now` sequences, having counted those after `before`."""
        weight = 1 - (before / now) ** (1 / self.share)
        for mean, newest in zip(self.model.parameters(), model.parameters(), strict=True):
            mean.lerp_(newest, weight)

"""A running mean of a network's weights over the last part of its training.

At a constant learning rate the weights fluctuate around an optimum, and their mean has a lower cost
than any of them (Polyak and Juditsky, 1992). Early weights are far from the final ones, so the mean
covers only the last share of the run so far.
"""

import copy

import torch

from ntm.models.family import Model


class Average:
    """A network that holds the running mean of the weights passed to `take`.

    share: share of the training so far that the mean covers. After t sequences, the weights of s
        sequences ago count exp(-s / (share t)) as much as the newest, to first order.
    """

    def __init__(self, model: Model, share: float) -> None:
        self.model = copy.deepcopy(model).requires_grad_(False)
        self.share = share

    @torch.no_grad()
    def take(self, model: Model, before: int, now: int) -> None:
        """Add the weights after `now` sequences; the last call added the weights after `before`."""
        weight = 1 - (before / now) ** (1 / self.share)
        for mean, newest in zip(self.model.parameters(), model.parameters(), strict=True):
            mean.lerp_(newest, weight)

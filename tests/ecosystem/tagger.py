"""A small model around an NTM, its data, and training by plain PyTorch for comparison."""

from itertools import chain, product

import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits as cost
from torch.utils.data import DataLoader, TensorDataset

from ntm import NTM

RATE, BATCH, UPDATES = 0.01, 4, 6
VARIANTS = pytest.mark.parametrize(
    ("controller", "engine"), list(product(("feedforward", "lstm"), ("native", "reference")))
)


class Tagger(nn.Module):
    """An NTM that says for each step which of two inputs is large."""

    def __init__(self, controller: str, engine: str) -> None:
        super().__init__()
        sizes = {"controller_size": 7, "memory_locations": 11, "memory_width": 5}
        self.net = NTM(3, 2, controller=controller, engine=engine, batch_first=True, **sizes)

    def forward(self, x: Tensor) -> Tensor:
        """Return logits (batch, time, 2) for x (batch, time, 3)."""
        return self.net(x)[0]


def tagger(controller: str, engine: str, seed: int = 1) -> Tagger:
    """Return a model with weights of this seed."""
    torch.manual_seed(seed)
    return Tagger(controller, engine)


def examples() -> TensorDataset:
    """Return as many sequences as all updates take, and their targets."""
    x = torch.rand(BATCH * UPDATES, 5, 3, generator=torch.Generator().manual_seed(2))
    return TensorDataset(x, (x[..., :2] > 0.5).float())


def loader() -> DataLoader[tuple[Tensor, ...]]:
    """Return the batches, in a fixed order."""
    return DataLoader(examples(), batch_size=BATCH)


def train(model: nn.Module, epochs: int = 1) -> nn.Module:
    """Train a model on all batches by plain PyTorch."""
    optimiser = torch.optim.Adam(model.parameters(), lr=RATE)
    for x, y in chain.from_iterable(loader() for _ in range(epochs)):
        optimiser.zero_grad()
        cost(model(x), y).backward()
        optimiser.step()
    return model


def assert_same(ours: nn.Module, theirs: nn.Module) -> None:
    """Fail unless two models have the same parameters, to the bit."""
    torch.testing.assert_close(ours.state_dict(), theirs.state_dict(), rtol=0, atol=0)

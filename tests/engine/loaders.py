"""Batches from DataLoader workers, with a network that has run natively in the parent.

python -m tests.engine.loaders fork|spawn
"""

import sys

import torch
from torch import Tensor
from torch.utils.data import DataLoader, Dataset

from ntm import NTM
from ntm.tasks import Copy

TASK = Copy(bits=3, max_length=4)


def network() -> NTM:
    torch.manual_seed(0)
    return NTM(
        TASK.input_size,
        TASK.output_size,
        controller_size=7,
        memory_locations=11,
        memory_width=5,
        engine="native",
    )


class Answers(Dataset[tuple[Tensor, Tensor, Tensor]]):
    """Problems of one length, and the network's answers, computed in the worker."""

    def __init__(self, net: NTM) -> None:
        self.net = net

    def __len__(self) -> int:
        return 12

    @torch.no_grad()
    def __getitem__(self, index: int) -> tuple[Tensor, Tensor, Tensor]:
        batch = TASK.at(length=3).sample(1, torch.Generator().manual_seed(index))
        logits, _ = self.net(batch.inputs)
        return batch.inputs[:, 0], batch.targets[:, 0], logits[:, 0]


def losses(net: NTM, context: str | None) -> list[Tensor]:
    """Train on the loader's batches; check that the worker's answers equal the parent's."""
    loader = DataLoader(
        Answers(network()),
        batch_size=3,
        num_workers=2 if context else 0,
        multiprocessing_context=context,
    )
    optimiser, found = torch.optim.SGD(net.parameters(), 0.1), []
    untrained = network()
    for inputs, targets, theirs in loader:
        x = inputs.transpose(0, 1).contiguous()
        assert torch.equal(untrained(x)[0].transpose(0, 1), theirs)
        logits, _ = net(x)
        loss = torch.nn.functional.binary_cross_entropy_with_logits(
            logits, targets.transpose(0, 1).contiguous()
        )
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        found.append(loss.detach())
    return found


if __name__ == "__main__":
    torch.set_num_threads(2)
    net = network()
    net(torch.zeros(5, 8, TASK.input_size))[0].sum().backward()  # starts the helper threads
    expected = losses(network(), None)
    assert all(map(torch.equal, losses(network(), sys.argv[1]), expected))
    assert all(map(torch.equal, losses(network(), None), expected))  # the parent still works
    print("equal", len(expected))

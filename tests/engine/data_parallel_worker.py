"""One of several processes that train networks together; writes their weights and gradients.

python data_parallel_worker.py FOLDER RANK PROCESSES
"""

import sys
from datetime import timedelta
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import distributed
from torch.nn.parallel import DistributedDataParallel

from ntm.layer import NTM

SEQUENCES, STEPS, UPDATES = 6, 5, 3


KINDS = [(c, e) for c in ("feedforward", "lstm") for e in ("native", "reference")]


def network(controller: str, engine: str) -> NTM:
    torch.manual_seed(3)
    options = {"controller_size": 7, "memory_locations": 11, "memory_width": 5}
    return NTM(3, 2, controller=controller, read_heads=2, engine=engine, **options)


def train(model: torch.nn.Module, first: int, last: int) -> None:
    """Train on the mean loss of sequences first to last - 1, and keep the last gradients."""
    optimiser = torch.optim.SGD(model.parameters(), lr=0.1)
    generator = torch.Generator().manual_seed(5)
    for _ in range(UPDATES):
        x = torch.randn(STEPS, SEQUENCES, 3, generator=generator)
        lengths = torch.randint(1, STEPS + 1, (SEQUENCES,), generator=generator)
        optimiser.zero_grad()
        logits, _ = model(x[:, first:last], lengths=lengths[first:last])
        loss = logits.square().sum() / (last - first)
        loss.backward()
        optimiser.step()


def named_tensors(net: NTM) -> dict[str, torch.Tensor]:
    gradients = {f"gradient of {name}": p.grad for name, p in net.named_parameters()}
    return {**net.state_dict(), **gradients}


def main(folder: Path, rank: int, processes: int) -> None:
    distributed.init_process_group(
        "gloo",
        init_method=f"file://{folder / 'meeting'}",
        rank=rank,
        world_size=processes,
        timeout=timedelta(seconds=60),
    )
    share = SEQUENCES // processes
    for kind in KINDS:
        net = network(*kind)
        train(DistributedDataParallel(net), rank * share, (rank + 1) * share)
        save_file(named_tensors(net), folder / f"{'-'.join(kind)}-{rank}.safetensors")
    distributed.destroy_process_group()


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))

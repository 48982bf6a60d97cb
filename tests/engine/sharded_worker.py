"""One of several processes that each hold a part of every parameter; writes the whole parameters.

python sharded_worker.py FOLDER RANK PROCESSES
"""

import sys
from datetime import timedelta
from itertools import product
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import distributed
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

from ntm.layer import NTM

SEQUENCES, STEPS, UPDATES = 6, 5, 3
VARIANTS = tuple(product(("feedforward", "lstm"), ("native", "reference")))


def network(controller: str, engine: str) -> NTM:
    torch.manual_seed(3)
    options = {"controller_size": 7, "memory_locations": 11, "memory_width": 5}
    return NTM(3, 2, controller=controller, engine=engine, read_heads=2, **options)


def train(net: NTM, first: int, last: int) -> None:
    """Train on the mean loss of sequences first to last - 1."""
    optimiser = torch.optim.SGD(net.parameters(), lr=0.1)
    generator = torch.Generator().manual_seed(5)
    for _ in range(UPDATES):
        x = torch.randn(STEPS, SEQUENCES, 3, generator=generator)
        optimiser.zero_grad()
        logits, _ = net(x[:, first:last])
        (logits.square().sum() / (last - first)).backward()
        optimiser.step()


def main(folder: Path, rank: int, processes: int) -> None:
    distributed.init_process_group(
        "gloo",
        init_method=f"file://{folder / 'meeting'}",
        rank=rank,
        world_size=processes,
        timeout=timedelta(seconds=60),
    )
    share = SEQUENCES // processes
    for controller, engine in VARIANTS:
        net = network(controller, engine)
        fully_shard(net, mesh=init_device_mesh("cpu", (processes,)))
        train(net, rank * share, (rank + 1) * share)
        whole = {name: p.full_tensor().detach() for name, p in net.named_parameters()}
        save_file(whole, folder / f"{controller}-{engine}-{rank}.safetensors")
    distributed.barrier()  # in some versions, a process that ends while another one waits aborts
    distributed.destroy_process_group()


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))

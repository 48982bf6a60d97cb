"""Parameters that processes share; tests/engine/test_distributed.py has several processes."""

from tempfile import TemporaryDirectory

from tests.torch_features.feature import feature, small_net
from tests.torch_features.networks import cost_after
from torch import distributed
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.optim import SGD


@feature("sharded training (FSDP2, `fully_shard`)")
def sharded(engine: str) -> None:
    with TemporaryDirectory() as folder:
        store = distributed.FileStore(f"{folder}/store", 1)
        distributed.init_process_group("gloo", store=store, rank=0, world_size=1)
        try:
            for controller in ("feedforward", "lstm"):
                net, twin = (small_net(engine, controller=controller) for _ in range(2))
                fully_shard(net, mesh=init_device_mesh("cpu", (1,)))
                costs = cost_after(net, SGD(net.parameters(), lr=0.1))
                assert costs == cost_after(twin, SGD(twin.parameters(), lr=0.1))
        finally:
            distributed.destroy_process_group()

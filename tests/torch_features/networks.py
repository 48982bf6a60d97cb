"""Features that concern a network as a module: copies, files, processes, training."""

import copy
import io
import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
from tests.torch_features.feature import assert_same, feature, inputs, small_net
from torch import distributed, nn
from torch.distributed import checkpoint
from torch.distributed.checkpoint.state_dict import get_state_dict, set_state_dict
from torch.nn.functional import binary_cross_entropy_with_logits
from torch.nn.parallel import DistributedDataParallel
from torch.optim import LBFGS, SGD, Adagrad, Adam, AdamW, Optimizer, RMSprop
from torch.optim.swa_utils import AveragedModel
from torch.utils.tensorboard import SummaryWriter

from ntm import NTM

CONTROLLERS = ("feedforward", "lstm")


@feature("`state_dict`")
def state_dict(engine: str) -> None:
    net, x = small_net(engine), inputs()
    torch.manual_seed(9)
    other = NTM.from_config(net.config, engine=engine)
    other.load_state_dict(net.state_dict())
    assert_same(other(x), net(x))


@feature("`save_pretrained`, `from_pretrained`")
def folders(engine: str) -> None:
    net, x = small_net(engine), inputs()
    with TemporaryDirectory() as folder:
        net.save_pretrained(folder)
        assert_same(NTM.from_pretrained(Path(folder), engine=engine)(x), net(x))


@feature("`from_pretrained(..., device=, dtype=)`")
def folders_elsewhere(engine: str) -> None:
    net, x = small_net(engine), inputs()
    with TemporaryDirectory() as folder:
        net.save_pretrained(folder)
        with torch.device("meta"):
            loaded = NTM.from_pretrained(folder, engine=engine, dtype=torch.float64)
        assert_same(loaded(x.double()), net.double()(x.double()))
        there = NTM.from_pretrained(folder, device="meta")
        assert {parameter.device.type for parameter in there.parameters()} == {"meta"}


class Negative(NTM):
    """A subclass with a parameter and outputs of its own."""

    def __init__(self, *sizes: Any, **options: Any) -> None:
        super().__init__(*sizes, **options)
        self.factor = torch.nn.Parameter(torch.tensor(-1.0))

    def forward(self, *args: Any, **options: Any) -> Any:
        logits, state = super().forward(*args, **options)
        return self.factor * logits, state


@feature("a subclass, saved, loaded, resized and copied")
def subclasses(engine: str) -> None:
    x = inputs()
    net = Negative.from_config(small_net(engine).config, engine=engine)
    with TemporaryDirectory() as folder:
        net.save_pretrained(folder)
        loaded = Negative.from_pretrained(folder, engine=engine)
    for again in (loaded, net.resized(net.config.memory_locations), copy.deepcopy(net)):
        assert type(again) is Negative
        assert_same(again(x), net(x))


@feature("`copy.deepcopy`")
def deepcopy(engine: str) -> None:
    net, x = small_net(engine), inputs()
    twin = copy.deepcopy(net)
    assert twin.cell.output.bias is not net.cell.output.bias
    assert_same(twin(x), net(x))


@feature("`pickle`, `torch.save`")
def pickled(engine: str) -> None:
    net, x = small_net(engine, backward_clip=1.0), inputs()
    expected = net(x)
    file = io.BytesIO()
    torch.save(net, file)
    file.seek(0)
    again = pickle.loads(pickle.dumps(torch.load(file, weights_only=False)))
    file = io.BytesIO()
    torch.save(expected[1].detach(), file)
    file.seek(0)
    state = torch.load(file)
    assert (again.engine, again.backward_clip) == (engine, 1.0)
    assert_same(again(x), expected)
    assert_same((x, state), (x, expected[1]))


def train_shared(net: NTM) -> None:
    """What another process does with a network whose memory it shares."""
    with torch.no_grad():
        logits, _ = net(inputs())
        net.cell.output.bias.add_(logits.sum())


@feature("`share_memory`, `torch.multiprocessing`")
def shared(engine: str) -> None:
    net = small_net(engine).share_memory()
    expected = net.cell.output.bias.detach() + net(inputs())[0].sum()
    worker = torch.multiprocessing.get_context("spawn").Process(target=train_shared, args=(net,))
    worker.start()
    worker.join()
    assert worker.exitcode == 0
    torch.testing.assert_close(net.cell.output.bias.detach(), expected)


def cost_after(net: torch.nn.Module, optimiser: Optimizer, steps: int = 4) -> list[float]:
    """The cost before each of some steps of training."""
    x, targets = inputs(), torch.ones(5, 3, 2)

    def cost() -> torch.Tensor:
        optimiser.zero_grad()
        loss = binary_cross_entropy_with_logits(net(x)[0], targets)
        loss.backward()
        return loss.detach()

    return [float(optimiser.step(cost)) for _ in range(steps)]


@feature("any optimiser")
def optimisers(engine: str) -> None:
    for kind, rate in (
        (SGD, 0.1),
        (RMSprop, 0.01),
        (Adagrad, 0.1),
        (Adam, 0.03),
        (AdamW, 0.03),
        (LBFGS, 0.5),
    ):
        net = small_net(engine)
        costs = cost_after(net, kind(net.parameters(), lr=rate))
        assert costs[-1] < costs[0], kind


@feature("averaged weights (`torch.optim.swa_utils.AveragedModel`)")
def averaged(engine: str) -> None:
    net, x = small_net(engine), inputs()
    mean = AveragedModel(net)
    mean.update_parameters(net)
    with torch.no_grad():
        net.cell.output.bias.add_(2.0)
    mean.update_parameters(net)
    net.cell.output.bias.data.sub_(1.0)
    assert_same(mean(x), net(x), exactly=False)


@feature("distributed training (`DistributedDataParallel`)")
def data_parallel(engine: str) -> None:
    """One process here; tests/engine/test_distributed.py has several."""
    for controller in CONTROLLERS:
        net, twin = (small_net(engine, controller=controller) for _ in range(2))
        with alone_in_a_group():
            costs = cost_after(DistributedDataParallel(net), SGD(net.parameters(), lr=0.1))
        assert costs == cost_after(twin, SGD(twin.parameters(), lr=0.1))


@contextmanager
def alone_in_a_group() -> Iterator[None]:
    """Within this, the process is a group of one."""
    with TemporaryDirectory() as folder:
        store = distributed.FileStore(f"{folder}/store", 1)
        distributed.init_process_group("gloo", store=store, rank=0, world_size=1)
        try:
            yield
        finally:
            distributed.destroy_process_group()


@feature("distributed checkpoints (`torch.distributed.checkpoint`)")
def distributed_checkpoints(engine: str) -> None:
    for controller in CONTROLLERS:
        nets = [small_net(engine, controller=controller) for _ in range(2)]
        ours, theirs = ((net, AdamW(net.parameters(), lr=0.03)) for net in nets)
        cost_after(*ours)
        with alone_in_a_group(), TemporaryDirectory() as folder:
            checkpoint.save(both_states(*ours), checkpoint_id=folder)
            loaded = both_states(*theirs)
            checkpoint.load(loaded, checkpoint_id=folder)
        set_state_dict(
            *theirs, model_state_dict=loaded["model"], optim_state_dict=loaded["optimiser"]
        )
        assert_same(nets[1](inputs()), nets[0](inputs()))
        assert cost_after(*theirs) == cost_after(*ours)


def both_states(net: NTM, optimiser: Optimizer) -> dict[str, Any]:
    return dict(zip(("model", "optimiser"), get_state_dict(net, optimiser), strict=True))


@feature("a gradient of every parameter after `backward`")
def every_gradient(engine: str) -> None:
    for controller in CONTROLLERS:
        net = small_net(engine, controller=controller)
        net(inputs(steps=2))[0].square().sum().backward()
        assert all(p.grad.norm().isfinite() for p in net.parameters())
        assert float(nn.utils.clip_grad_norm_(net.parameters(), 1.0)) > 0


@feature("TensorBoard histograms of all parameters")
def histograms(engine: str) -> None:
    for controller in CONTROLLERS:
        net = small_net(engine, controller=controller)
        net(inputs(steps=2))[0].square().sum().backward()
        with TemporaryDirectory() as folder, SummaryWriter(folder) as writer:
            for name, parameter in net.named_parameters():
                writer.add_histogram(name, parameter, 0)
                writer.add_histogram(f"gradient of {name}", parameter.grad, 0)
            writer.flush()
            assert sum(file.stat().st_size for file in Path(folder).iterdir()) > 10_000

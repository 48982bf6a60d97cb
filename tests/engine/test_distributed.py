"""Several processes that train together get the same results as one process."""

import copy
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import torch
from safetensors.torch import load_file
from tests.engine import data_parallel_worker as worker
from tests.engine import sharded_worker as sharded

PROCESSES = 2


def run(script: ModuleType, folder: Path) -> None:
    """Run a script in several processes that share a folder."""
    flags = ["-S"] if sys.flags.no_site else []
    command = [sys.executable, *flags, str(script.__file__), str(folder)]
    ranks = [
        subprocess.Popen([*command, str(rank), str(PROCESSES)], stderr=subprocess.PIPE, text=True)
        for rank in range(PROCESSES)
    ]
    errors = [process.communicate(timeout=600)[1] for process in ranks]
    assert [process.returncode for process in ranks] == [0] * PROCESSES, errors


def test_two_processes_train_as_one(tmp_path: Path) -> None:
    run(worker, tmp_path)
    for kind in worker.KINDS:
        expected = trained_alone(*kind)
        for rank in range(PROCESSES):
            found = load_file(tmp_path / f"{'-'.join(kind)}-{rank}.safetensors")
            assert found.keys() == expected.keys()
            for name in expected:
                torch.testing.assert_close(
                    found[name], expected[name], msg=lambda m, n=(*kind, name): f"{n}: {m}"
                )


def trained_alone(controller: str, engine: str) -> dict[str, torch.Tensor]:
    """Return the weights and gradients of one process; check that every parameter has changed."""
    net = worker.network(controller, engine)
    start = {name: tensor.clone() for name, tensor in net.state_dict().items()}
    worker.train(net, 0, worker.SEQUENCES)
    trained = worker.named_tensors(net)
    assert all(not torch.equal(trained[name], start[name]) for name in start)
    return trained


def test_two_processes_that_share_the_parameters_train_as_one(tmp_path: Path) -> None:
    run(sharded, tmp_path)
    for controller, engine in sharded.VARIANTS:
        net = sharded.network(controller, engine)
        start = copy.deepcopy(net.state_dict())
        sharded.train(net, 0, sharded.SEQUENCES)
        expected = dict(net.named_parameters())
        assert not torch.equal(expected["start.memory"], start["start.memory"])
        for rank in range(PROCESSES):
            found = load_file(tmp_path / f"{controller}-{engine}-{rank}.safetensors")
            torch.testing.assert_close(found, {n: p.detach() for n, p in expected.items()})

"""Data-parallel training: several processes compute what one computes."""

import subprocess
import sys
from pathlib import Path

import torch
from safetensors.torch import load_file
from tests.engine import data_parallel_worker as worker

PROCESSES = 2


def test_two_processes_train_as_one(tmp_path: Path) -> None:
    flags = ["-S"] if sys.flags.no_site else []
    command = [sys.executable, *flags, str(worker.__file__), str(tmp_path)]
    ranks = [
        subprocess.Popen([*command, str(rank), str(PROCESSES)], stderr=subprocess.PIPE, text=True)
        for rank in range(PROCESSES)
    ]
    errors = [process.communicate(timeout=600)[1] for process in ranks]
    assert [process.returncode for process in ranks] == [0] * PROCESSES, errors

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
    """The weights and gradients of one process; every parameter has moved."""
    net = worker.network(controller, engine)
    start = {name: tensor.clone() for name, tensor in net.state_dict().items()}
    worker.train(net, 0, worker.SEQUENCES)
    trained = worker.named_tensors(net)
    assert all(not torch.equal(trained[name], start[name]) for name in start)
    return trained

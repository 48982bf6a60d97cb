"""Training steps of the contestants of rivals.py. It needs the environment that rivals.py makes."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from dnc import DNC
from jax_ntm import JaxTraining
from pytorch_ntm import their_train
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits

from ntm.bench.networks import PaperNTM, fresh, native_step, optimiser_of
from ntm.config import NTMConfig
from ntm.tasks import Batch, Copy
from ntm.training import TorchStep

OURS, COMPILED, JAX = "native engine", "torch.compile", "JAX, jit and scan"
Work = Callable[[int], object]


def copy_batch(length: int, batch_size: int) -> Batch:
    return Copy().at(length=length).sample(batch_size, torch.Generator().manual_seed(1))


def same_machine(config: NTMConfig, batch: Batch) -> dict[str, Work]:
    """Return the programs that compute the same network as the native engine."""
    eager, compiled = fresh(config, "reference"), fresh(config, "reference")
    compiled.cell.compile(dynamic=False)
    return {
        OURS: _on(batch, native_step(config)),
        "eager PyTorch": _on(batch, TorchStep(eager, optimiser_of(eager))),
        COMPILED: _on(batch, TorchStep(compiled, optimiser_of(compiled))),
        JAX: JaxTraining(fresh(config, "reference"), batch),
    }


def other_machines(config: NTMConfig, batch: Batch, checkout: Path | None) -> dict[str, Work]:
    """Return other networks with an LSTM controller of the same sizes, and an LSTM."""
    made: dict[str, Work] = {
        "dnc": _plain(_dnc(config), batch),
        "torch.nn.LSTM, 3 x 256": _plain(_LSTM(config), batch),
    }
    return made | ({} if checkout is None else {"pytorch-ntm": _pytorch_ntm(checkout, batch)})


def require_equal(config: NTMConfig, batch: Batch) -> None:
    """Fail unless one update in JAX gives the weights of one update by the native engine."""
    ours, theirs = fresh(config, "native"), JaxTraining(fresh(config, "reference"), batch)
    TorchStep(ours, optimiser_of(ours))(batch, 0, batch.batch_size)
    theirs(0)
    for name, weights in theirs.weights().items():
        torch.testing.assert_close(ours.state_dict()[name], weights, rtol=1e-4, atol=1e-6)


def paper_config(model: str) -> NTMConfig:
    return PaperNTM("copy", model).config


def _on(batch: Batch, step: Any) -> Work:
    return lambda _number: step(batch, 0, batch.batch_size)


class _LSTM(nn.Module):
    def __init__(self, config: NTMConfig) -> None:
        super().__init__()
        self.layers = nn.LSTM(config.input_size, 256, 3)
        self.output = nn.Linear(256, config.output_size)

    def forward(self, x: Tensor) -> Tensor:
        logits: Tensor = self.output(self.layers(x)[0])
        return logits


def _dnc(config: NTMConfig) -> nn.Module:
    class Machine(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.machine = DNC(
                config.input_size,
                config.controller_size,
                num_hidden_layers=1,
                nr_cells=config.memory_locations,
                cell_size=config.memory_width,
                read_heads=config.read_heads,
                batch_first=False,
                gpu_id=-1,
            )
            self.output = nn.Linear(config.input_size, config.output_size)

        def forward(self, x: Tensor) -> Tensor:
            seen, _ = self.machine(x, (None, None, None), reset_experience=True)
            logits: Tensor = self.output(seen)
            return logits

    return Machine()


def _plain(model: nn.Module, batch: Batch) -> Work:
    """Return a training step with a stock optimiser."""
    optimiser = torch.optim.RMSprop(model.parameters(), lr=1e-4, momentum=0.9)
    scored = batch.mask.unsqueeze(2)

    def step(_number: int) -> None:
        optimiser.zero_grad()
        logits = model(batch.inputs)
        binary_cross_entropy_with_logits(logits, batch.targets, weight=scored).backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_value_(model.parameters(), 10.0)
        optimiser.step()

    return step


def _pytorch_ntm(checkout: Path, batch: Batch) -> Work:
    """Return the training step of their train.py on our problems."""
    train = their_train(checkout)
    kind, settings = train.TASKS["copy"][:2]
    model = kind(params=settings(batch_size=batch.batch_size))
    vectors = len(batch.inputs) // 2
    inputs, answer = batch.inputs[: vectors + 1], batch.targets[vectors + 1 :]
    parts = (model.net, model.criterion, model.optimizer, inputs, answer)
    return lambda _number: train.train_batch(*parts)

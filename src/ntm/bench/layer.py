"""The layer in a user's own loop: autograd, beside the fused step and beside `torch.nn.LSTM`."""

import resource
from dataclasses import dataclass
from statistics import median

from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits

from ntm.bench.networks import BenchEffort, NetworkRow, PaperNTM, fresh, random_batch
from ntm.bench.results import BATCH, Note, Section, milliseconds, times
from ntm.bench.timing import Quartiles, Work, alternate, spread_of_ratios
from ntm.config import NTMConfig
from ntm.engine.fused import NTMGradients
from ntm.tasks import Batch

_CALLS = 3
"""Number of calls over which page faults are averaged."""


@dataclass(frozen=True)
class LayerTimes(NetworkRow):
    """Times of forward, loss and backward of one network through autograd; every step is scored."""

    steps: int
    layer_seconds: float
    fused_seconds: float
    """Seconds of the same gradients without autograd, as in `ntm train`, without the optimiser."""
    lstm_seconds: float
    """Seconds of a `torch.nn.LSTM` with a linear output, as wide as the controller."""
    page_faults: float
    """Page faults per call of the layer, after the first calls."""
    over_fused: Quartiles
    """Time of the layer divided by the time of the fused step."""
    over_lstm: Quartiles
    """Time of the layer divided by the time of `torch.nn.LSTM`."""


def measure_layer(effort: BenchEffort, note: Note) -> list[LayerTimes]:
    """Measure the layer, the fused step and `torch.nn.LSTM` in turn, on one thread."""
    rows = []
    for network, batch_size in effort.layers:
        for steps in effort.layer_steps:
            note(f"the layer and nn.LSTM: {network}, batch {batch_size}, {steps} steps")
            rows.append(_times(network, batch_size, steps, effort))
    return rows


def _times(network: PaperNTM, batch_size: int, steps: int, effort: BenchEffort) -> LayerTimes:
    config = network.config
    batch = random_batch(config, (steps,) * batch_size)
    layer = _through_autograd(_Layer(config), batch.inputs, batch.targets)
    works = {
        "layer": layer,
        "fused": _fused(config, batch),
        "nn.LSTM": _through_autograd(_LSTM(config), *_seen_by_controller(config, batch)),
    }
    seconds = alternate(works, effort.rounds, effort.slice_seconds)
    return LayerTimes(
        *network,
        batch_size,
        steps,
        median(seconds["layer"]),
        median(seconds["fused"]),
        median(seconds["nn.LSTM"]),
        _page_faults(layer),
        spread_of_ratios(seconds["layer"], seconds["fused"]),
        spread_of_ratios(seconds["layer"], seconds["nn.LSTM"]),
    )


class _Layer(nn.Module):
    """An NTM that returns only its logits."""

    def __init__(self, config: NTMConfig) -> None:
        super().__init__()
        self.ntm = fresh(config, "native")

    def forward(self, x: Tensor) -> Tensor:
        logits: Tensor = self.ntm(x)[0]
        return logits


class _LSTM(nn.Module):
    """An LSTM that sees as many values as the NTM's controller, and a linear output."""

    def __init__(self, config: NTMConfig) -> None:
        super().__init__()
        self.lstm = nn.LSTM(config.controller_inputs, config.controller_size)
        self.output = nn.Linear(config.controller_size, config.output_size)

    def forward(self, x: Tensor) -> Tensor:
        logits: Tensor = self.output(self.lstm(x)[0])
        return logits


def _seen_by_controller(config: NTMConfig, batch: Batch) -> tuple[Tensor, Tensor]:
    """Return inputs with the width of the controller's input (input and reads), and targets."""
    return batch.inputs.new_ones(*batch.mask.shape, config.controller_inputs), batch.targets


def _through_autograd(net: nn.Module, inputs: Tensor, targets: Tensor) -> Work:
    parameters = list(net.parameters())

    def work(_number: int) -> None:
        for parameter in parameters:
            parameter.grad = None
        loss = binary_cross_entropy_with_logits(net(inputs), targets, reduction="sum")
        loss.backward()  # type: ignore[no-untyped-call]

    return work


def _fused(config: NTMConfig, batch: Batch) -> Work:
    gradients = NTMGradients(fresh(config, "native"))
    return lambda _number: gradients(*batch, 0, batch.batch_size)


def _page_faults(work: Work) -> float:
    """Return the number of page faults per call; page faults with disk access do not count."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for number in range(_CALLS):
        work(number)
    return (resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before) / _CALLS


LAYER = Section(
    "The layer through autograd, one thread: forward, loss and backward",
    {
        **BATCH,
        "steps": lambda row: f"{row.steps}",
        "layer, ms": lambda row: milliseconds(row.layer_seconds),
        "fused, ms": lambda row: milliseconds(row.fused_seconds),
        "nn.LSTM, ms": lambda row: milliseconds(row.lstm_seconds),
        "page faults": lambda row: f"{row.page_faults:,.0f}",
        "times fused": lambda row: times(row.over_fused),
        "times nn.LSTM": lambda row: times(row.over_lstm),
    },
    measure_layer,
)

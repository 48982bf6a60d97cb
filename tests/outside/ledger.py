"""A family from outside the package with a memory that is not an NTM's."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from ntm.description import Description, Parameter, StatePart, TraceArray
from ntm.models import Family, register
from ntm.trace import Trace


@dataclass(frozen=True)
class LedgerConfig:
    """A memory that is written row by row."""

    input_size: int
    output_size: int
    rows: int = 7
    width: int = 3


class Ledger(nn.Module):
    """At step t, row t is written; two heads read one row and all rows."""

    def __init__(self, config: LedgerConfig) -> None:
        super().__init__()
        self.config = config
        self.write = nn.Linear(config.input_size, config.width)
        self.output = nn.Linear(2 * config.width, config.output_size)

    def forward(self, x: Tensor, state: Any = None, *, lengths: Tensor) -> tuple[Tensor, Any]:
        assert len(lengths) == x.shape[1]
        return self.recorded(x)[0], None

    def recorded(self, x: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
        """Return the logits, and everything that happened, time first."""
        steps, batch = x.shape[:2]
        places = torch.arange(steps) % self.config.rows
        writing = nn.functional.one_hot(places, self.config.rows).to(x)
        writing = writing[:, None, None].expand(-1, batch, 1, -1)
        written = torch.tanh(self.write(x))
        memory = torch.cumsum(writing[:, :, 0, :, None] * written[:, :, None], dim=0)
        usage = torch.cumsum(writing[:, :, 0], dim=0).clamp(max=1)
        spread = torch.full_like(writing, 1 / self.config.rows)
        reading = torch.cat([writing, spread], dim=2)
        reads = reading @ memory
        return self.output(reads.flatten(2)), {
            "memory": memory,
            "usage": usage,
            "write_weightings": writing,
            "writes": written[:, :, None],
            "openness": torch.ones(steps, batch, 2),
            "read_weightings": reading,
            "reads": reads,
        }


class LedgerFamily(Family):
    """Describes its machine, and nothing else tells the package about it."""

    config = LedgerConfig

    def build(self, config: LedgerConfig, initialisation: object, engine: str) -> Ledger:
        return Ledger(config)

    def describe(self, config: LedgerConfig) -> Description:
        return Description(
            sizes={"location": config.rows, "width": config.width, "read head": 2, "write head": 1},
            parameters=(
                Parameter("write.weight", (config.width, config.input_size)),
                Parameter("write.bias", (config.width,)),
                Parameter("output.weight", (config.output_size, 2 * config.width)),
                Parameter("output.bias", (config.output_size,)),
            ),
            state=(StatePart("memory", ("location", "width")),),
            arrays=(
                TraceArray("memory", ("location", "width"), "memory", "memory"),
                TraceArray("usage", ("location",), "usage"),
                TraceArray("write_weightings", ("write head", "location"), "row", "weighting"),
                TraceArray("writes", ("write head", "width"), "write", "vector"),
                TraceArray("openness", ("read head",), "openness"),
                TraceArray("read_weightings", ("read head", "location"), "row", "weighting"),
                TraceArray("reads", ("read head", "width"), "read", "vector"),
            ),
        )

    @torch.no_grad()
    def trace(
        self, model: Any, x: Tensor, lengths: Tensor | None = None, *, memory: bool = False
    ) -> Trace:
        logits, recorded = model.recorded(x)
        counts = torch.full(x.shape[1:2], len(x)) if lengths is None else lengths
        inside = torch.arange(len(x))[:, None] < counts
        arrays = {
            name: (array * inside.reshape(*inside.shape, *[1] * (array.dim() - 2))).numpy()
            for name, array in recorded.items()
            if memory or name != "memory"
        }
        return Trace(
            lengths=counts.numpy(),
            inputs=x.numpy(),
            outputs=logits.numpy(),
            described=self.describe(model.config).arrays,
            arrays=arrays,
        )


register(LedgerFamily("ledger", "Ledger", "#123456"))

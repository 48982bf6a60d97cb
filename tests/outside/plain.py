"""A family from outside the package with nothing that a family need not have."""

from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn

from ntm.models import Family, register


@dataclass(frozen=True)
class PlainConfig:
    """No layers, no memory."""

    input_size: int
    output_size: int


class Plain(nn.Module):
    """One linear map; it insists on the lengths that it is promised."""

    def __init__(self, config: PlainConfig) -> None:
        super().__init__()
        self.config = config
        self.map = nn.Linear(config.input_size, config.output_size)

    def forward(self, x: Tensor, *, lengths: Tensor) -> tuple[Tensor, Any]:
        assert len(lengths) == x.shape[1]
        return self.map(x), None


class PlainFamily(Family):
    """A map of each step alone."""

    config = PlainConfig

    def build(self, config: PlainConfig, initialisation: object, engine: str) -> Plain:
        return Plain(config)


register(PlainFamily("plain", "Plain", "#123456"))

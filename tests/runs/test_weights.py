"""Weights and the config they must fit, whatever fields a config has."""

from dataclasses import dataclass

import pytest
from torch import nn

from ntm.runs.weights import require_fitting


@dataclass(frozen=True)
class Sizes:
    width: int = 3


@dataclass(frozen=True)
class Words:
    kind: str = "plain"


def network() -> nn.Module:
    return nn.Linear(3, 2)


@pytest.mark.parametrize("config", [Sizes(), Words()])
def test_a_config_needs_no_layers_and_no_sizes(config: object) -> None:
    require_fitting(network().state_dict(), config, network)


def test_sizes_are_compared_before_anything_is_built() -> None:
    def never() -> nn.Module:
        raise AssertionError

    with pytest.raises(ValueError, match="far larger network than the weights"):
        require_fitting(network().state_dict(), Sizes(width=10**9), never)

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from ntm import NTM, LSTMConfig, NTMConfig
from ntm.description import Description
from ntm.evaluation import record
from ntm.models import MODELS, Family, family, family_of, register
from ntm.models.ntm import NTMFamily
from ntm.models.step import TorchStep
from ntm.paper import PaperNetwork, paper_tables
from ntm.tasks import Copy


@dataclass(frozen=True)
class Sizes:
    input_size: int
    output_size: int


class Line(nn.Linear):
    """A model in a few lines: it has a config, and the call of NTM."""

    config = Sizes(3, 2)

    def forward(self, x: Tensor, lengths: Tensor) -> tuple[Tensor, None]:  # type: ignore[override]
        assert len(lengths) == x.shape[1]
        return super().forward(x), None


class LineFamily(Family):
    config = Sizes

    def build(self, config: Sizes, initialisation: object, engine: str) -> Line:
        return Line(config.input_size, config.output_size)


@pytest.fixture
def line() -> Iterator[Family]:
    yield register(LineFamily("line", "A line", "#123456"))
    del MODELS["line"]


@pytest.mark.parametrize(
    ("config", "name"),
    [
        (NTMConfig(3, 2), "ntm-ff"),
        (NTMConfig(3, 2, controller="lstm"), "ntm-lstm"),
        (LSTMConfig(3, 2), "lstm"),
    ],
)
def test_a_config_and_its_model_belong_to_one_family(config: Any, name: str) -> None:
    kind = family(name)
    assert family_of(config) is kind
    assert family_of(kind.build(config, kind.initialisation(), "auto")) is kind
    assert [other.name for other in MODELS.values() if other.fits(config)] == [name]


def test_a_family_that_says_no_more_than_it_must_has_the_rest(line: Family) -> None:
    model = line.build(Sizes(3, 2), line.initialisation(), "auto")
    assert family_of(model) is line
    assert line.sizes(Sizes(3, 2)) == "input_size 3, output_size 2"
    assert line.runs_on(model) == "torch"
    assert line.footprint(Sizes(3, 2)) is None
    assert isinstance(line.step(model, torch.optim.SGD(model.parameters())), TorchStep)
    line.bound_backward(model, 1.0)
    assert line.describe(Sizes(3, 2)) == Description()
    x = torch.rand(4, 2, 3)
    trace = line.trace(model, x)
    assert np.array_equal(trace.outputs, nn.Linear.forward(model, x).detach().numpy())
    assert (trace.lengths.tolist(), trace.arrays) == ([4, 4], {})
    with pytest.raises(ValueError, match="A line has no heads to watch"):
        record(model, Copy(bits=2), sequences=1)
    with pytest.raises(ValueError, match="A line has no memory to enlarge"):
        line.resized(model, 5)


def test_a_family_of_version_1_0_may_call_resized_enlarged() -> None:
    def enlarged(self: Family, model: NTM, memory_locations: int) -> NTM:  # noqa: ARG001
        return model.resized(memory_locations + 1)

    with pytest.warns(DeprecationWarning, match="enlarged is called resized"):
        kind = type("Old", (NTMFamily,), {"enlarged": enlarged})
    old = kind("old", "Old", "#123456")
    larger = old.resized(NTM(3, 2, memory_locations=5), 7)
    assert larger.config.memory_locations == 8
    MODELS["old"] = old
    assert family_of(larger) is old
    del MODELS["old"]
    with pytest.warns(DeprecationWarning, match="enlarged is called resized"):
        assert family("ntm-ff").enlarged(NTM(3, 2), 200).config.memory_locations == 200


def test_a_family_without_build_is_refused_at_once() -> None:
    class Unfinished(Family):
        config = Sizes

    with pytest.raises(TypeError, match=r"abstract.*build"):
        Unfinished("unfinished", "Unfinished", "#123456")


@pytest.mark.parametrize("row", paper_tables(), ids=lambda row: f"{row.task} {row.model}")
def test_a_footprint_is_as_large_as_the_network(row: PaperNetwork) -> None:
    kind = family(row.model)
    model = kind.build(row.config, kind.initialisation(), "auto")
    size = kind.footprint(row.config)
    assert size is not None
    true = sum(parameter.numel() for parameter in model.parameters())
    assert size.parameters == true
    if kind.capabilities.grows:
        steps, more = 3, row.config.memory_locations + 7
        x = torch.zeros(steps, 1, row.config.input_size)
        trace = kind.trace(kind.resized(model, more), x, memory=True)
        recorded = sum(array.size for array in trace.arrays.values())
        assert recorded == steps * kind.footprint(row.config, more).values


@pytest.mark.usefixtures("line")
def test_a_name_has_one_class() -> None:
    class Impostor(LineFamily):
        pass

    with pytest.raises(ValueError, match=r"'line' belongs to .*LineFamily; give .*Impostor a name"):
        register(Impostor("line", "Another", "#654321"))
    again = register(LineFamily("line", "The same, run again", "#123456"))
    assert MODELS["line"] is again


def test_what_no_family_has_is_refused_with_those_there_are() -> None:
    with pytest.raises(ValueError, match="no model called 'ntm-f'; did you mean 'ntm-ff'"):
        family("ntm-f")
    with pytest.raises(ValueError, match=r"configs like Sizes; register one .* ntm-ff, ntm-lstm"):
        family_of(Sizes(3, 2))

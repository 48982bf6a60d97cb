"""The Differentiable Neural Computer of examples/dnc.py in commands, figures and the studio."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from fastapi.testclient import TestClient
from tests.outside.test_dnc import INPUTS, dnc, make_net, randn
from tests.outside.test_outside import done, ntm

from ntm.models import MODELS, register
from ntm.studio import create_app
from ntm.trace import Trace

FILE = Path(__file__).parents[2] / "examples" / "dnc.py"
SMALL = ("controller_size=6", "memory_locations=8", "memory_width=4")
FAMILY = dnc.DNCFamily("dnc", "DNC", "#CC79A7")
OWN = {"usage", "allocation", "forward", "backward", "free_gates", "modes"}


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "dnc"
    sizes = [text for size in SMALL for text in ("--set", f"model.{size}")]
    sizes += ["--set", "task.max_length=3", "--set", "training.validation_sequences=2"]
    done(ntm("train", "repeat-copy", "--model", FILE, "--sequences", 8, "--run", folder, *sizes))
    return folder


def test_the_description_is_the_network() -> None:
    net = make_net()
    described = dnc.describe(net.config)
    shapes = {name: tuple(parameter.shape) for name, parameter in net.state_dict().items()}
    assert described.shapes() == shapes
    assert tuple(part.name for part in described.state) == dnc.State._fields
    for part, tensor in zip(described.state, net(randn(2, 3, INPUTS))[1], strict=True):
        assert tensor.shape == (3, *described.shape(part))


def test_a_trace_records_what_a_run_computes() -> None:
    net, x, lengths = make_net(), randn(6, 2, INPUTS), torch.tensor([4, 6])
    before = x.clone()
    trace = FAMILY.trace(net, x, lengths, memory=True)
    assert torch.equal(x, before)
    logits, state = net(x, lengths=lengths)
    np.testing.assert_allclose(trace.outputs, logits.detach(), rtol=1e-5, atol=1e-6)
    for b, last in enumerate(lengths - 1):
        for name in ("memory", "usage", "read_weightings", "reads"):
            expected = getattr(state, name)[b].detach()
            np.testing.assert_allclose(trace.arrays[name][last, b], expected, rtol=1e-5, atol=1e-6)
    assert not any(array[4:, 0].any() for array in trace.arrays.values())
    for name, shape in {a.name: dnc.describe(net.config).shape(a) for a in dnc.ARRAYS}.items():
        assert trace.arrays[name].shape == (6, 2, *shape)


def test_a_run_is_resumed_evaluated_analysed_and_traced(trained: Path, tmp_path: Path) -> None:
    resumed = done(ntm("train", "--run", trained, "--resume", "--sequences", 12))
    assert "after 12 sequences" in resumed
    cost = json.loads(done(ntm("eval", trained, "--sequences", 4, "--json")))
    assert (cost["model"], cost["sequences"]) == ("dnc", 4)
    assert "repeat-copy, dnc" in done(ntm("analyse", trained, "--sequences", 4))
    file, page = tmp_path / "t.npz", tmp_path / "t.html"
    assert "read    head 1" in done(ntm("trace", trained))
    done(ntm("trace", trained, "--save", file, "--html", page))
    assert Trace.load(file).arrays.keys() >= OWN


def test_figures_show_its_own_arrays(trained: Path, tmp_path: Path) -> None:
    done(ntm("figures", trained, "--out", tmp_path, "--format", "svg"))
    picture = (tmp_path / "figure-09-repeat-copy-memory-use.svg").read_text()
    for label in ("Usage", "Allocation", "Forward weighting", "Backward weighting"):
        assert f"<!-- {label} -->" in picture


def test_the_studio_shows_its_own_arrays(trained: Path) -> None:
    client = TestClient(create_app(trained.parent), base_url="http://127.0.0.1:8765")
    problem = {"vectors": [[1, 0, 1, 0, 1, 0]], "repeats": 2}
    register(FAMILY)
    try:
        document = client.post("/api/trace", json={"network": "run:dnc", "problem": problem}).json()
    finally:
        del MODELS["dnc"]
    assert {array["name"] for array in document["arrays"]} >= OWN

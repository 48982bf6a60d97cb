"""The interface as the page uses it."""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from fastapi.testclient import TestClient
from tests.studio.conftest import HOST, make_run

from ntm import pretrained
from ntm.models import MODELS, Family, register
from ntm.paper import paper_settings, registry
from ntm.runs import Run, build_model
from ntm.studio.documents import decoded
from ntm.studio.problems import drawable, encode
from ntm.studio.server import create_app
from ntm.tasks import TASKS, Copy

DRAWABLE = drawable()


def listed(client: TestClient) -> dict[str, dict[str, object]]:
    return {network["id"]: network for network in client.get("/api/networks").json()}


def test_the_networks_are_those_of_the_folder_and_the_untrained_ones(client: TestClient) -> None:
    networks = listed(client)
    runs = [name for name in networks if name.startswith("run:")]
    untrained = [name for name in networks if name.startswith("untrained:")]
    assert runs == ["run:baseline", "run:copying"]
    assert untrained == [f"untrained:{task}" for task in DRAWABLE] == list(networks)[-5:]
    copying = networks["run:copying"]
    # Of every location 5 numbers of memory and 4 of each of 2 heads. Beside them, a step has 7
    # hidden units, 16 numbers of the read head (read, key, 3 shifts, 3 more) and 21 of the
    # write head.
    most = (8_000_000 - 1000 * (7 + 16 + 21)) // 13
    limits = {"max_steps": 1000, "max_locations": 1024, "max_location_steps": most}
    assert copying["limits"] == limits
    assert (copying["task"], copying["model"]) == ("copy", "ntm-ff")
    assert (copying["sequences"], copying["bits"]) == (40, 1.5)
    assert copying["memory_locations"] == 11
    assert copying["problem"]["parts"][0]["shape"] == [3]  # type: ignore[index]
    assert networks["run:baseline"]["memory_locations"] is None
    assert networks["untrained:copy"]["sequences"] == 0


@pytest.mark.parametrize("task", DRAWABLE)
def test_an_example_traced_gives_what_the_layer_gives(tmp_path: Path, task: str) -> None:
    run = make_run(tmp_path / "r", task)
    client = TestClient(create_app(tmp_path), base_url=HOST)
    drawn = client.post("/api/example", json={"network": "run:r", "seed": 4}).json()
    document = client.post("/api/trace", json={"network": "run:r", **drawn}).json()
    net, _ = Run(run.path).load_model()
    batch = encode(drawn["problem"], run.settings.task)
    with torch.no_grad():
        probabilities = torch.sigmoid(net(batch.inputs)[0][:, 0])
    assert np.allclose(decoded(document["outputs"]), probabilities, atol=1e-6)
    assert np.array_equal(decoded(document["targets"]), batch.targets[:, 0])
    assert document["title"].startswith("r, ")


def test_sizes_beyond_training_and_a_larger_memory(client: TestClient) -> None:
    request = {"network": "run:copying", "sizes": {"length": 50}, "seed": 1}
    drawn = client.post("/api/example", json=request).json()
    assert len(drawn["problem"]["vectors"]) == 50
    request = {"network": "run:copying", **drawn, "memory_locations": 64}
    document = client.post("/api/trace", json=request).json()
    assert document["memory"]["shape"] == [101, 64, 5]
    assert document["title"] == "copying, length 50"
    refused = client.post("/api/trace", json=request | {"memory_locations": 1025})
    assert refused.status_code == 422
    assert "give at most 1024" in refused.json()["error"]


def test_new_weights_are_noticed_and_old_ones_are_not_loaded_again(
    client: TestClient, folder: Path
) -> None:
    request = {"network": "run:copying", "problem": {"vectors": [[0, 1, 1]]}}
    first, again = (client.post("/api/trace", json=request).json() for _ in range(2))
    assert first == again
    run = Run(folder / "copying")
    net, _ = run.load_model()
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.add_(0.5)
    run.save_weights("best", net, {"sequences": 60, "validation_bits": 1.0})
    assert client.post("/api/trace", json=request).json()["outputs"] != first["outputs"]
    assert listed(client)["run:copying"]["sequences"] == 60


def test_a_pretrained_network_is_the_one_that_was_published(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = make_run(tmp_path / "runs" / "r", task__bits=3)
    file = pretrained.publish(run, tmp_path)
    monkeypatch.setattr("ntm.runs.packaged.FOLDER", tmp_path)
    client = TestClient(create_app(tmp_path / "runs"), base_url=HOST)
    published = listed(client)[f"pretrained:{file.stem}"]
    assert (published["sequences"], published["title"]) == (40, "copy-ff")
    assert published["bits"] == pretrained.facts(file.stem).mean_bits
    problem = {"vectors": [[0, 1, 1]]}
    ours, theirs = (
        client.post("/api/trace", json={"network": network, "problem": problem}).json()
        for network in ("pretrained:copy-ff", "run:r")
    )
    assert ours["outputs"] == theirs["outputs"]
    assert ours["title"] == "copy-ff, length 1"


def test_the_latest_weights_will_do_where_there_are_no_best(
    client: TestClient, folder: Path
) -> None:
    (folder / "copying" / "best.safetensors").rename(folder / "copying" / "model.safetensors")
    assert "run:copying" in listed(client)
    request = {"network": "run:copying", "problem": {"vectors": [[0, 1, 1]]}}
    assert client.post("/api/trace", json=request).status_code == 200


def test_a_trace_is_shared_as_a_page(client: TestClient) -> None:
    request = {"network": "run:copying", "problem": {"vectors": [[0, 1, 1]]}}
    answer = client.post("/api/share", json=request)
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.headers["content-disposition"] == 'attachment; filename="trace.html"'
    found = re.search(r'<script type="application/json" id="trace">(.*?)</script>', answer.text)
    assert found is not None
    assert json.loads(found[1]) == client.post("/api/trace", json=request).json()


def test_the_paper_has_its_curves_over_sequences(client: TestClient) -> None:
    curves = client.get("/api/paper/ngrams").json()
    assert curves.keys() == {"ntm-ff", "ntm-lstm", "lstm", "optimal"}
    assert 500_000 < curves["lstm"][-1][0] <= 1_000_000
    assert 130 < curves["lstm"][-1][1] < 160


def test_the_page_and_its_files_are_served_and_may_load_nothing_else(client: TestClient) -> None:
    page = client.get("/")
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    policy = page.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'; ")
    assert "unsafe" not in policy
    assert "http" not in policy
    files = re.findall(r'(?:src|href)="(static/[^"]+)"', page.text)
    assert {Path(file).suffix for file in files} >= {".js", ".css"}
    for file in files:
        answer = client.get(f"/{file}")
        assert answer.status_code == 200, file
        assert answer.headers["x-content-type-options"] == "nosniff"


def test_a_studio_without_a_folder_has_networks_all_the_same(tmp_path: Path) -> None:
    client = TestClient(create_app(tmp_path / "none"), base_url=HOST)
    assert len(listed(client)) >= 5
    assert next(iter(listed(client).values()))["task"] == "copy"  # the page opens on the first
    assert client.get("/api/runs").json()["runs"] == []
    assert not (tmp_path / "none").exists()


def test_runs_with_many_bits_work(tmp_path: Path) -> None:
    make_run(tmp_path / "wide", task__bits=300)
    client = TestClient(create_app(tmp_path), base_url=HOST)
    form = listed(client)["run:wide"]["problem"]
    assert form["sizes"]["length"]["max"] < 200  # type: ignore[index]
    drawn = client.post("/api/example", json={"network": "run:wide", "sizes": {"length": 7}}).json()
    assert [len(vector) for vector in drawn["problem"]["vectors"]] == [300] * 7
    document = client.post("/api/trace", json={"network": "run:wide", **drawn}).json()
    assert document["outputs"]["shape"] == [15, 300]
    drawn = {"vectors": [[0] * 300] * 170}  # 341 steps of 301 channels
    refused = client.post("/api/trace", json={"network": "run:wide", "problem": drawn})
    assert refused.status_code == 422
    assert "up to 100,000 values" in refused.json()["error"]


def test_the_guide_knows_every_task_and_model_of_the_page(client: TestClient) -> None:
    guide = client.get("/api/guide").json()
    assert list(guide["tasks"]) == DRAWABLE
    assert guide["models"].keys() == {"ntm-ff", "ntm-lstm", "lstm"}
    for network in listed(client).values():
        task, model = guide["tasks"][network["task"]], guide["models"][network["model"]]
        assert all(task[name] for name in ("hint", "look_for", "frame"))
        assert model["title"]
        assert len(set(model["colours"])) == 2


@dataclass(frozen=True)
class PlainConfig:
    input_size: int
    output_size: int


class PlainFamily(Family):
    """As another package may bring it."""

    config = PlainConfig

    def build(self, config: PlainConfig, initialisation: object, engine: str) -> torch.nn.Module:
        net: Any = torch.nn.Linear(config.input_size, config.output_size)
        net.config = config
        return net


def test_a_run_of_a_family_of_unknown_size_is_watched_and_not_played(tmp_path: Path) -> None:
    register(PlainFamily("plain", "Plain", "#123456"))
    try:
        settings = paper_settings("copy", "plain")
        run = Run.create(tmp_path / "mine", settings)
        run.save_weights("best", build_model(settings), {"sequences": 40})
        client = TestClient(create_app(tmp_path), base_url=HOST)
        assert [one["model"] for one in client.get("/api/runs").json()["runs"]] == ["plain"]
        assert "run:mine" not in listed(client)
    finally:
        del MODELS["plain"]


def test_what_others_register_is_shown_as_far_as_it_is_known(client: TestClient) -> None:
    register(PlainFamily("plain", "Plain", "#123456"))
    TASKS["again"] = type("Again", (Copy,), {"name": "again"})
    try:
        guide = client.get("/api/guide").json()
        assert guide["models"]["plain"] == {"title": "Plain", "colours": ["#123456", "#123456"]}
        assert guide["tasks"]["again"]["title"] == "Again"
        assert guide["tasks"]["again"]["frame"] is None
        assert client.get("/api/paper/again").json() == {}
        assert "untrained:again" in listed(client)
        drawn = client.post("/api/example", json={"network": "untrained:again"}).json()
        request = {"network": "untrained:again", **drawn}
        assert client.post("/api/trace", json=request).json()["hint"] is None
    finally:
        del MODELS["plain"], TASKS["again"]
        registry._EXPERIMENTS.pop("again", None)

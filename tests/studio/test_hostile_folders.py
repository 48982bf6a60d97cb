"""Whatever lies in the folder, the studio says why it cannot use it, and stays small and quick."""

import json
import os
import resource
from pathlib import Path
from urllib.parse import quote

import pytest
from fastapi.testclient import TestClient
from tests.studio.conftest import HOST, make_run
from tests.studio.test_hostile import assert_refused, post
from tests.studio.test_saved import a_trace

from ntm.studio.errors import RefusedError
from ntm.studio.folder import MOST_RUNS
from ntm.studio.networks import Networks
from ntm.studio.security import ANSWER_HEADERS
from ntm.studio.server import create_app
from ntm.studio.workers import Workers

FOREIGN = {
    "empty": b"",
    "not-json": b"{",
    "list": b"[]",
    "other-format": b'{"format": 99}',
    "nonsense": b'{"format": 1, "task": 5, "model": [1], "training": {"name": []}}',
    "unknown-task": b'{"format": 1, "task": {"name": "juggling"}, "model": {"name": "lstm"}}',
    "deep": b"[" * 100_000,
    "long": b" " * 20_001,
    "binary": b"\xff" * 1000,
}


def test_torn_and_foreign_folders_say_why_and_do_not_hide_the_others(tmp_path: Path) -> None:
    for name, content in FOREIGN.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "config.json").write_bytes(content)
    (tmp_path / "no-run").mkdir()
    (tmp_path / "pipe").mkdir()
    os.mkfifo(tmp_path / "pipe" / "config.json")
    (tmp_path / "circle").symlink_to(tmp_path / "circle")
    (tmp_path / ".hidden").mkdir()
    make_run(tmp_path / "good")
    make_run(tmp_path / "torn-weights")
    (tmp_path / "torn-weights" / "best.safetensors").write_bytes(b"\x08" + b"\x00" * 7 + b"{}")
    make_run(tmp_path / "wrong-weights", model="ntm-lstm")
    (tmp_path / "wrong-weights" / "best.safetensors").write_bytes(
        (tmp_path / "good" / "best.safetensors").read_bytes()
    )
    make_run(tmp_path / "torn-metrics").metrics.write_bytes(b'{"sequences": 7, "bi\n\xff\n{}\n[]\n')

    client = TestClient(create_app(tmp_path), base_url=HOST)
    runs = {run["name"]: run for run in client.get("/api/runs").json()["runs"]}
    unreadable = {name for name, run in runs.items() if run["state"] == "unreadable"}
    assert unreadable == {*FOREIGN, "pipe"}
    assert all(runs[name]["reason"] for name in unreadable)
    assert runs.keys() - unreadable == {"good", "torn-weights", "wrong-weights", "torn-metrics"}
    assert runs["torn-metrics"]["sequences"] == 0
    networks = {network["id"] for network in client.get("/api/networks").json()}
    assert {"run:good", "run:torn-metrics"} <= networks
    assert networks.isdisjoint({"run:torn-weights", *(f"run:{name}" for name in unreadable)})
    problem = {"vectors": [[0] * 8]}
    for name in runs.keys() - {"good", "torn-metrics"}:
        request = {"network": f"run:{name}", "problem": problem}
        assert_refused(client.post("/api/trace", json=request), 404, 422)
    for name in unreadable:
        assert_refused(client.get(f"/api/runs/{name}/curve"), 404)


@pytest.mark.parametrize("section", ["task", "model"])
@pytest.mark.parametrize("named_by", ["name", "from"])
def test_no_code_that_a_folder_names_is_run(tmp_path: Path, section: str, named_by: str) -> None:
    run, code, trail = make_run(tmp_path / "bad"), tmp_path / "code.py", tmp_path / "trail"
    code.write_text(f"open({str(trail)!r}, 'w')")
    config = json.loads((run.path / "config.json").read_text())
    config[section] |= {"name": "mine", named_by: str(code)}
    (run.path / "config.json").write_text(json.dumps(config))
    client = TestClient(create_app(tmp_path), base_url=HOST)
    (listed,) = client.get("/api/runs").json()["runs"]
    assert listed["state"] == "unreadable"
    assert "runs no code" in listed["reason"]
    client.get("/api/networks")
    assert_refused(post(client, "/api/runs/bad/resume", {}), 404)
    assert not trail.exists()


def test_a_network_too_large_to_build_is_left_out(tmp_path: Path) -> None:
    run = make_run(tmp_path / "giant")
    config = json.loads((run.path / "config.json").read_text())
    config["model"] |= {"memory_locations": 10**9, "memory_width": 10**6}
    (run.path / "config.json").write_text(json.dumps(config))
    client = TestClient(create_app(tmp_path), base_url=HOST)
    networks = {network["id"] for network in client.get("/api/networks").json()}
    assert "run:giant" not in networks
    assert len(client.get("/api/runs").json()["runs"]) == 1


# Numbers that a config may hold, each of which would fill the memory of the machine.
LARGE = {
    "copy-bits": ("copy", {"bits": 10**6}),
    "copy-endless": ("copy", {"bits": 10**30}),
    "copy-long": ("copy", {"max_length": 10**9}),
    "copy-wide": ("copy", {"bits": 20_000}),
    "recall-items": ("associative-recall", {"item_length": 10**7, "bits": 10**4}),
    "ngrams-long": ("ngrams", {"length": 10**9}),
    "sort-long": ("priority-sort", {"length": 10**8, "answers": 10**7}),
}


def test_no_config_makes_the_studio_fill_the_memory(tmp_path: Path) -> None:
    for name, (task, values) in LARGE.items():
        run = make_run(tmp_path / name, task)
        config = json.loads((run.path / "config.json").read_text())
        config["task"] |= values
        (run.path / "config.json").write_text(json.dumps(config))
    make_run(tmp_path / "good")
    client = TestClient(create_app(tmp_path), base_url=HOST)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    runs = {run["name"]: run for run in client.get("/api/runs").json()["runs"]}
    assert runs.keys() == {"good", *LARGE}
    networks = {network["id"] for network in client.get("/api/networks").json()}
    assert [name for name in networks if name.startswith("run:")] == ["run:good"]
    for name in LARGE:
        request = {"network": f"run:{name}", "problem": {"vectors": [[0] * 8]}}
        assert_refused(post(client, "/api/example", {"network": f"run:{name}"}), 404)
        assert_refused(post(client, "/api/trace", request), 404)
    assert post(client, "/api/example", {"network": "run:good"}).status_code == 200
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 500_000  # kilobytes


@pytest.mark.parametrize(
    ("sizes", "why"),
    [
        ({"read_heads": 200, "write_heads": 57, "memory_width": 1}, "257 heads"),
        ({"memory_width": 2000, "memory_locations": 1, "controller_size": 1}, "numbers"),
        ({"shifts": ",".join(map(str, range(1000))), "memory_locations": 2000}, "take too long"),
    ],
    ids=["heads", "width", "shifts"],
)
def test_no_network_makes_the_studio_compute_or_send_without_end(
    tmp_path: Path, sizes: dict[str, object], why: str
) -> None:
    make_run(tmp_path / "bad", **{f"model__{name}": size for name, size in sizes.items()})
    client = TestClient(create_app(tmp_path), base_url=HOST)
    request = {"network": "run:bad", "problem": {"vectors": [[0] * 8] * 450}}
    assert_refused(post(client, "/api/trace", request), 422)
    assert why in post(client, "/api/trace", request).json()["error"]


def test_of_very_many_runs_some_are_shown(tmp_path: Path) -> None:
    for number in range(MOST_RUNS + 3):
        (tmp_path / f"{number:05}").mkdir()
        (tmp_path / f"{number:05}" / "config.json").write_text("{")
        (tmp_path / f"{number:05}.npz").touch()
    client = TestClient(create_app(tmp_path), base_url=HOST)
    answer = client.get("/api/runs").json()
    while not answer["read"]:  # on a busy machine they take more than one answer
        answer = client.get("/api/runs").json()
    names = [run["name"] for run in answer["runs"]]
    assert not answer["whole"]
    assert names == [f"{number:05}" for number in range(MOST_RUNS)]
    assert client.get("/api/traces").json() == [f"{name}.npz" for name in names]


def test_a_folder_says_whether_all_of_it_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_run(tmp_path / "one")
    make_run(tmp_path / "two")
    client = TestClient(create_app(tmp_path), base_url=HOST)
    for bound in ("MOST_RUNS", "_MOST_ENTRIES"):
        for most, whole in ((2, True), (1, False)):
            monkeypatch.setattr(f"ntm.studio.folder.{bound}", most)
            answer = client.get("/api/runs").json()
            assert (len(answer["runs"]), answer["whole"]) == (most, whole)
        monkeypatch.undo()


def test_what_is_beyond_the_end_of_a_list_can_be_asked_for(
    client: TestClient, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_run(folder / "later")
    for name in ("t.npz", "u.npz"):
        a_trace().save(folder / name)
    monkeypatch.setattr("ntm.studio.folder.MOST_RUNS", 1)
    assert "run:later" not in {network["id"] for network in client.get("/api/networks").json()}
    assert client.get("/api/traces").json() == ["t.npz"]
    assert client.get("/api/networks/run:later").json()["id"] == "run:later"
    request = {"network": "run:later", "problem": {"vectors": [[0] * 8]}}
    assert post(client, "/api/trace", request).status_code == 200
    assert client.get("/api/runs/later/curve").status_code == 200
    assert client.get("/api/traces/u.npz").status_code == 200
    for name in ("nowhere", "..", ".", "../copying", "t.npz"):
        assert_refused(client.get(f"/api/networks/run:{quote(name, safe='')}"), 404)


def test_a_folder_that_takes_long_to_read_is_listed_bit_by_bit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_run(tmp_path / "one")
    client = TestClient(create_app(tmp_path), base_url=HOST)
    monkeypatch.setattr("ntm.studio.folder._TIME_TO_READ", -1)  # it is over at once
    assert "run:one" not in {network["id"] for network in client.get("/api/networks").json()}
    assert client.get("/api/folder").json() == {"whole": True, "read": False}
    assert client.get("/api/runs").json() == {"runs": [], "whole": True, "read": False}
    assert client.get("/api/networks/run:one").json()["id"] == "run:one"
    # What was read once is listed, however little time there is.
    assert [run["name"] for run in client.get("/api/runs").json()["runs"]] == ["one"]
    assert client.get("/api/folder").json() == {"whole": True, "read": True}


def test_a_config_that_was_mended_is_read_again(tmp_path: Path) -> None:
    config = make_run(tmp_path / "one").path / "config.json"
    good = config.read_text()
    client = TestClient(create_app(tmp_path), base_url=HOST)
    for text, state in (("{", "unreadable"), (good, "stopped")):
        config.write_text(text)
        assert [run["state"] for run in client.get("/api/runs").json()["runs"]] == [state]


def test_a_config_that_is_too_long_is_not_read(client: TestClient, folder: Path) -> None:
    with (folder / "copying" / "config.json").open("a") as config:
        config.write(" " * 20_000)
    _, copying = client.get("/api/runs").json()["runs"]
    assert copying["state"] == "unreadable"
    assert "too long" in copying["reason"]


def test_weights_that_list_more_than_a_network_has_are_not_opened(tmp_path: Path) -> None:
    file = make_run(tmp_path / "listing").weights_file("best")
    tensor = '"{}":{{"dtype":"F32","shape":[0],"data_offsets":[0,0]}}'
    listed = ",".join(tensor.format(number) for number in range(40_000))
    header = f'{{"__metadata__":{{"ntm":"{{\\"sequences\\":1}}"}},{listed}}}'.encode()
    file.write_bytes(len(header).to_bytes(8, "little") + header)
    client = TestClient(create_app(tmp_path), base_url=HOST)
    assert "run:listing" not in {network["id"] for network in client.get("/api/networks").json()}


def test_weights_too_large_to_be_those_of_a_network_are_not_opened(tmp_path: Path) -> None:
    file, size = make_run(tmp_path / "sparse").weights_file("best"), 10**9
    facts = '"__metadata__":{"ntm":"{\\"sequences\\":1}"}'
    tensor = f'"all":{{"dtype":"U8","shape":[{size}],"data_offsets":[0,{size}]}}'
    header = f"{{{facts},{tensor}}}".encode()
    file.write_bytes(len(header).to_bytes(8, "little") + header)
    os.truncate(file, 8 + len(header) + size)  # a file with a hole takes no room
    client = TestClient(create_app(tmp_path), base_url=HOST)
    assert "run:sparse" not in {network["id"] for network in client.get("/api/networks").json()}


@pytest.mark.parametrize(
    ("model", "layers"), [("lstm", "layers"), ("ntm-lstm", "controller_layers")]
)
def test_a_network_of_very_many_layers_is_not_loaded(
    tmp_path: Path, model: str, layers: str
) -> None:
    make_run(tmp_path / "deep", model=model, **{f"model__{layers}": 40})
    client = TestClient(create_app(tmp_path), base_url=HOST)
    request = {"network": "run:deep", "problem": {"vectors": [[0] * 8]}}
    assert_refused(post(client, "/api/trace", request), 422)
    assert "40 layers" in post(client, "/api/trace", request).json()["error"]


def test_steps_and_parameters_are_bounded_together(tmp_path: Path) -> None:
    make_run(tmp_path / "large", model="lstm", model__hidden_size=1500, model__layers=1)
    client = TestClient(create_app(tmp_path), base_url=HOST)
    request = {"network": "run:large", "problem": {"vectors": [[0] * 8] * 499}}
    assert_refused(post(client, "/api/trace", request), 422)
    assert "take too long" in post(client, "/api/trace", request).json()["error"]


def test_too_many_examples_at_once_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They go through the same few threads as traces."""
    asked: list[str] = []

    async def refusing(_self: Workers, _work: object) -> str:
        asked.append("worker")
        raise RefusedError(503, "The studio is busy.")

    monkeypatch.setattr(Workers, "run", refusing)
    client = TestClient(create_app(tmp_path), base_url=HOST)
    assert_refused(post(client, "/api/example", {"network": "untrained:copy"}), 503)
    assert asked == ["worker"]


def test_a_mistake_of_the_studio_is_answered_with_all_headers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_self: Networks) -> None:
        raise ZeroDivisionError("a secret of the folder")

    monkeypatch.setattr(Networks, "listing", broken)
    client = TestClient(create_app(tmp_path), base_url=HOST, raise_server_exceptions=False)
    answer = client.get("/api/networks")
    assert_refused(answer, 500)
    assert "secret" not in answer.text
    for header, value in ANSWER_HEADERS.items():
        assert answer.headers.get_list(header) == [value]

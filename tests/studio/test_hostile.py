"""What nobody should send gets a sentence, and changes nothing."""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from fastapi.testclient import TestClient
from tests.studio.conftest import HOST, make_run

from ntm.studio.security import MAX_BODY, is_own_host
from ntm.studio.server import create_app

JSON = {"content-type": "application/json"}
TRACE: dict[str, Any] = {"network": "run:copying", "problem": {"vectors": [[0, 1, 1]]}}
OUTSIDE = [
    "..",
    "../secret",
    "../../etc/passwd",
    "/etc/passwd",
    "copying/../../secret",
    "%2e%2e%2fsecret",
    "..\\secret",
    "copying\x00",
    "copying\n",
    "~",
    "",
    ".lock",
    "linked",
    "a" * 5000,
    "\ud800",
]
NUMBERS = [-1, 0, 10**6, 10**400, 1.5, True, "5", [], {}]


def everything_in(folder: Path) -> dict[str, str]:
    """Every name below a folder, and what it is or holds."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_symlink():
            found[str(path)] = f"link to {path.readlink()}"
        elif path.is_file():
            stat = path.stat()
            digest = hashlib.sha256(path.read_bytes()).hexdigest()
            found[str(path)] = f"{digest} {stat.st_mtime_ns} {stat.st_mode}"
        else:
            found[str(path)] = "folder"
    return found


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of runs, with a secret beside it that a link leads to."""
    root = tmp_path_factory.mktemp("root")
    make_run(root / "runs" / "copying", task__bits=3)
    make_run(root / "secret")
    (root / "runs" / "linked").symlink_to(root / "secret")
    return root / "runs"


@pytest.fixture(scope="module")
def studio(place: Path) -> Iterator[TestClient]:
    with TestClient(create_app(place), base_url=HOST) as opened:
        yield opened


@pytest.fixture
def client(studio: TestClient, place: Path) -> Iterator[TestClient]:
    """A stranger at the studio; whatever is tried, everything must be as it was afterwards."""
    before = everything_in(place.parent)
    yield studio
    assert everything_in(place.parent) == before


def assert_refused(answer: Any, *statuses: int) -> None:
    assert answer.status_code in (statuses or range(400, 500)), answer.text
    assert answer.headers["content-type"] == "application/json"
    assert list(answer.json()) == ["error"]
    sentence = answer.json()["error"]
    assert sentence.endswith("."), sentence
    assert len(sentence) < 500
    assert "default-src 'none'" in answer.headers["content-security-policy"]


def post(client: TestClient, path: str, body: object, **headers: str) -> Any:
    text = body if isinstance(body, str | bytes) else json.dumps(body)
    return client.post(path, content=text, headers=JSON | headers)


@pytest.mark.parametrize("name", OUTSIDE)
def test_no_name_leads_out_of_the_folder(client: TestClient, name: str) -> None:
    quoted = quote(name.encode("utf-8", "surrogatepass"), safe="").replace(".", "%2e")
    for path in (f"/api/runs/{quoted}/curve", f"/static/{quoted}", f"/api/paper/{quoted}"):
        assert_refused(client.get(path))
    for action in ("stop", "resume", "delete"):
        assert_refused(post(client, f"/api/runs/{quoted}/{action}", {}))
    if name:
        assert_refused(client.get(f"/api/traces/{quoted}"))
    encodable = name.encode(errors="replace").decode()
    assert post(client, "/api/curves", {"after": {encodable: 0}}).json() == {}
    for network in (f"run:{name}", f"pretrained:{name}", f"untrained:{name}", name):
        assert_refused(post(client, "/api/trace", TRACE | {"network": network}), 404, 422)
        assert_refused(post(client, "/api/share", TRACE | {"network": network}), 404, 422)
        assert_refused(post(client, "/api/example", {"network": network}), 404, 422)
    if name != "linked":
        assert_refused(post(client, "/api/runs", {"task": "copy", "name": name}), 422)
    for key in ("task", "model"):
        assert_refused(post(client, "/api/runs", {"task": "copy", key: name}), 422)


def test_a_link_that_leaves_the_folder_is_not_followed(client: TestClient) -> None:
    linked = {run["name"]: run for run in client.get("/api/runs").json()["runs"]}["linked"]
    assert linked["state"] == "unreadable"
    assert "plain file in the folder" in linked["reason"]
    assert "run:linked" not in {network["id"] for network in client.get("/api/networks").json()}


@pytest.mark.parametrize("file", ["config.json", "best.safetensors", "metrics.jsonl", ".lock"])
def test_nor_is_a_file_of_a_run_that_lies_elsewhere(tmp_path: Path, file: str) -> None:
    """A run of good files, one of which is a link to a good file outside."""
    make_run(tmp_path / "secret", training__seed=77)
    make_run(tmp_path / "runs" / "half")
    inside, outside = tmp_path / "runs" / "half" / file, tmp_path / "secret" / file
    outside.touch()
    inside.unlink(missing_ok=True)
    inside.symlink_to(outside)
    client = TestClient(create_app(tmp_path / "runs"), base_url=HOST)
    (run,) = client.get("/api/runs").json()["runs"]
    networks = {network["id"] for network in client.get("/api/networks").json()}
    assert run["seed"] != 77
    assert (run["state"] == "unreadable") is (file == "config.json")
    assert (run["sequences"] == 0) is (file in {"config.json", "metrics.jsonl"})
    assert ("run:half" not in networks) is (file in {"config.json", "best.safetensors"})


@pytest.mark.parametrize("number", NUMBERS)
def test_numbers_out_of_bounds_or_of_another_kind(client: TestClient, number: object) -> None:
    for key in ("length", "repeats", "items"):
        sized = {"network": "run:copying", "sizes": {key: number}}
        assert_refused(post(client, "/api/example", sized), 422)
    for key in ("memory_locations", "network", "problem"):
        assert_refused(post(client, "/api/trace", TRACE | {key: number}), 404, 422)
    assert_refused(post(client, "/api/trace", TRACE | {"problem": {"vectors": number}}), 422)
    assert_refused(post(client, "/api/trace", TRACE | {"problem": {"vectors": [number]}}), 422)
    problem = {"vectors": [[0, 1, number]]}
    if number != 0 or isinstance(number, bool):
        assert_refused(post(client, "/api/trace", TRACE | {"problem": problem}), 422)
        assert_refused(
            post(client, "/api/runs", {"task": "copy", "seed": number, "name": "?"}), 422
        )
    assert_refused(
        post(client, "/api/runs", {"task": "copy", "sequences": number, "name": "?"}), 422
    )


@pytest.mark.parametrize("after", ["-1", "nan", "1e9", "9" * 400, "", "x", "0x10", "1;2", "[]"])
def test_a_place_on_a_curve_is_a_whole_number(client: TestClient, after: str) -> None:
    answer = client.get("/api/runs/copying/curve", params={"after": after})
    assert_refused(answer, 422)


@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_json_has_no_such_numbers(client: TestClient, word: str) -> None:
    sort = f'{{"vectors": [[0, 1, 1]], "priorities": [{word}]}}'
    for body in (
        word,
        f'{{"network": "run:copying", "problem": {sort}}}',
        f'{{"network": "run:copying", "problem": {{"vectors": [[0, 1, {word}]]}}}}',
        f'{{"network": {word}, "problem": {word}, "memory_locations": {word}}}',
        f'{{"network": "run:copying", "problem": {sort}, "more": {word}}}',
    ):
        assert_refused(post(client, "/api/trace", body), 400, 422)
    assert_refused(post(client, "/api/example", f'{{"network": "run:copying", "seed": {word}}}'))
    assert_refused(post(client, "/api/runs", f'{{"task": "copy", "sequences": {word}}}'))


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"null",
        b"[]",
        b'"text"',
        b"{'network': 1}",
        b'{"network": "run:copying",}',
        b"\xff\xfe\x00",
        b"\x80abc",
        b"[" * 100_000,
        b'{"a":' * 50_000,
        b"[" * 50_000 + b"]" * 50_000,
        b'{"network": "run:copying", "problem": ' + b"[" * 90_000 + b"]" * 90_000 + b"}",
        b"1" * 5000,
        b'{"' + b"k" * 900_000 + b'": 1}',
        b'{"\\ud800": 1}',
    ],
    ids=range(16),
)
def test_malformed_json(client: TestClient, body: bytes) -> None:
    for path in ("/api/trace", "/api/share", "/api/example", "/api/runs"):
        assert_refused(post(client, path, body), 400, 422)


def test_more_than_the_limit_is_not_even_read(client: TestClient) -> None:
    def endless() -> Iterator[bytes]:
        for _ in range(1000):
            yield b" " * 100_000

    assert_refused(post(client, "/api/trace", b" " * (MAX_BODY + 1)), 413)
    assert_refused(client.post("/api/trace", content=endless(), headers=JSON), 413)
    announced = JSON | {"content-length": str(10**12)}
    assert_refused(client.post("/api/trace", content=b"{}", headers=announced), 413)


def test_more_than_can_be_shown_is_refused_before_it_is_computed(client: TestClient) -> None:
    vectors = [[0, 1, 1]] * 499
    request = {"network": "run:copying", "problem": {"vectors": vectors}}
    assert post(client, "/api/trace", request).status_code == 200
    assert_refused(post(client, "/api/trace", request | {"memory_locations": 1024}), 422)
    longer = {"network": "run:copying", "problem": {"vectors": [*vectors, vectors[0]]}}
    assert_refused(post(client, "/api/trace", longer), 422)
    smaller = {**TRACE, "memory_locations": 5}
    assert_refused(post(client, "/api/trace", smaller), 422)


@pytest.mark.parametrize("kind", ["", "text/plain", "multipart/form-data", "application/jsonp"])
def test_only_what_is_declared_as_json_is_read(client: TestClient, kind: str) -> None:
    for path in ("/api/trace", "/api/runs", "/api/runs/copying/stop", "/nowhere"):
        headers = {"content-type": kind} if kind else {}
        assert_refused(client.post(path, content=json.dumps(TRACE), headers=headers), 415)


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "http://127.0.0.1:9999"},
        {"origin": "http://localhost:8765"},
        {"origin": "https://127.0.0.1:8765"},
        {"origin": "null"},
        {"origin": ""},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site", "sec-fetch-mode": "navigate"},
        {"host": "evil.example"},
        {"host": "evil.example:8765"},
        {"host": "127.0.0.1.evil.example"},
        {"host": "localhost.evil.example"},
        {"host": "evil@127.0.0.1"},
        {"host": "10.0.0.1"},
        {"host": "127.0.0.1:8765:1"},
        {"host": "[::1"},
        {"host": ""},
    ],
    ids=str,
)
def test_strangers_are_refused(client: TestClient, headers: dict[str, str]) -> None:
    assert_refused(client.get("/api/runs", headers=headers), 403)
    assert_refused(post(client, "/api/trace", TRACE, **headers), 403)
    assert_refused(post(client, "/api/runs", {"task": "copy"}, **headers), 403)
    assert_refused(client.options("/api/runs", headers=headers), 403)


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": HOST},
        {"sec-fetch-site": "same-origin"},
        {"sec-fetch-site": "none"},
        {"host": "localhost:8765"},
        {"host": "LOCALHOST"},
        {"host": "[::1]:8765", "origin": "http://[::1]:8765"},
    ],
    ids=str,
)
def test_the_page_itself_is_let_in(client: TestClient, headers: dict[str, str]) -> None:
    assert post(client, "/api/trace", TRACE, **headers).status_code == 200


def test_a_link_on_another_site_may_open_the_page_and_nothing_else(client: TestClient) -> None:
    followed = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
    assert client.get("/", headers=followed).status_code == 200
    assert_refused(client.get("/api/runs", headers=followed), 403)


@pytest.mark.parametrize(
    ("header", "bound", "own"),
    [
        ("192.168.1.5:80", "0.0.0.0", True),
        ("[fe80::1]:80", "::", True),
        ("studio.example", "0.0.0.0", False),
        ("studio.example:80", "studio.example", True),
        ("192.168.1.5", "127.0.0.1", False),
        ("192.168.1.5", "localhost", False),
    ],
)
def test_a_studio_for_the_network_goes_by_addresses_and_its_own_name(
    header: str, bound: str, own: bool
) -> None:
    assert is_own_host(header, bound) is own


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE", "TRACE", "PROPFIND", "HEAD"])
def test_other_methods(client: TestClient, method: str) -> None:
    for path in ("/", "/api/runs", "/api/trace", "/api/runs/copying/stop", "/static/app.js"):
        answer = client.request(method, path, headers=JSON)
        assert answer.status_code == 405
        assert "allow" in answer.headers


@pytest.mark.parametrize(
    "path",
    [
        "/api", "/api/", "/docs", "/redoc", "/static/", "/static/%2e%2e", "/static/..%2fserver.py",
        "/static/%2e%2e/server.py", "/api/runs/%2e%2e/curve", "/api/runs/%2fetc/curve", "/%c3%a9",
        "/static/%00", "/%ff%fe",
    ],
)  # fmt: skip
def test_addresses_that_lead_nowhere(client: TestClient, path: str) -> None:
    assert_refused(client.get(path), 404, 422)


def test_starting_what_is_there_or_stopping_what_was_not_started(client: TestClient) -> None:
    assert_refused(post(client, "/api/runs", {"task": "copy", "name": "copying"}), 409)
    assert_refused(post(client, "/api/runs", {"task": "copy", "name": "linked"}), 409)
    assert_refused(post(client, "/api/runs/copying/stop", {}), 409)
    assert_refused(post(client, "/api/runs/nobody/stop", {}), 404)
    assert_refused(post(client, "/api/runs/linked/stop", {}), 404)
    assert_refused(post(client, "/api/runs/linked/resume", {}), 404)
    assert_refused(post(client, "/api/runs/linked/delete", {}), 409)
    assert_refused(post(client, "/api/runs/nobody/delete", {}), 404)
    assert_refused(post(client, "/api/runs/copying/resume", {"sequences": 3}), 409)
    assert_refused(client.get("/api/runs/nobody/curve"), 404)

"""Another user of the machine, who can reach the studio but was not shown its address."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from tests.studio.conftest import HOST
from tests.studio.test_hostile import JSON, assert_refused, everything_in, place

from ntm.studio.server import create_app

__all__ = ["place"]  # a fixture

TOKEN = "the-token-that-was-printed"
EVERYWHERE = [
    ("GET", "/"),
    ("GET", "/static/app.js"),
    ("GET", "/openapi.json"),
    ("GET", "/api/guide"),
    ("GET", "/api/networks"),
    ("GET", "/api/networks/pretrained:copy-ff"),
    ("GET", "/api/traces"),
    ("GET", "/api/folder"),
    ("GET", "/api/traces/t.npz"),
    ("GET", "/api/runs"),
    ("GET", "/api/runs/copying/curve"),
    ("GET", "/api/paper/copy"),
    ("GET", "/nowhere"),
    ("POST", "/api/example"),
    ("POST", "/api/trace"),
    ("POST", "/api/share"),
    ("POST", "/api/curves"),
    ("POST", "/api/runs"),
    ("POST", "/api/runs/copying/stop"),
    ("POST", "/api/runs/copying/resume"),
    ("POST", "/api/runs/copying/delete"),
    ("DELETE", "/api/runs"),
    ("HEAD", "/"),
]
WRONG = [
    {},
    {"cookie": "ntm-studio-8765=guess"},
    {"cookie": f"ntm-studio-8766={TOKEN}"},
    {"cookie": f"other={TOKEN}"},
    {"cookie": "ntm-studio-8765="},
    {"cookie": "\x01;;==,"},
    {"authorization": "Bearer guess"},
    {"authorization": f"Basic {TOKEN}"},
    {"authorization": TOKEN},
    {"authorization": "Bearer \u00e9".encode()},
]


@pytest.fixture(scope="module")
def guarded(place: Path) -> Iterator[TestClient]:
    with TestClient(create_app(place, token=TOKEN), base_url=HOST) as opened:
        yield opened


@pytest.mark.parametrize("headers", WRONG, ids=str)
def test_without_the_token_there_is_nothing_to_see(
    guarded: TestClient, place: Path, headers: dict[str, str]
) -> None:
    before = everything_in(place.parent)
    for method, path in EVERYWHERE:
        guarded.cookies.clear()
        answer = guarded.request(method, path, headers=JSON | headers)
        assert answer.status_code == 403, path
        assert "set-cookie" not in answer.headers
        if method != "HEAD":
            assert_refused(answer, 403)
    assert everything_in(place.parent) == before


@pytest.mark.parametrize(
    "query",
    [
        "token=guess",
        "token=",
        f"token={TOKEN}&token=guess",
        f"TOKEN={TOKEN}",
        f"token={TOKEN[:-1]}",
        f"token={TOKEN}%00",
    ],
)
def test_a_wrong_token_in_the_address_is_no_invitation(guarded: TestClient, query: str) -> None:
    guarded.cookies.clear()
    assert_refused(guarded.get(f"/?{query}"), 403)


def test_the_token_opens_the_page_alone_and_becomes_a_cookie(guarded: TestClient) -> None:
    guarded.cookies.clear()
    assert_refused(guarded.get(f"/api/runs?token={TOKEN}"), 403)
    answer = guarded.get(f"/?token={TOKEN}", follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    cookie = answer.headers["set-cookie"].lower()
    assert cookie.startswith(f"ntm-studio-8765={TOKEN};")
    assert {"httponly", "samesite=lax", "path=/"} <= {part.strip() for part in cookie.split(";")}
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert guarded.get("/").status_code == 200
    assert guarded.get("/api/runs").status_code == 200
    assert_refused(guarded.get("/api/runs", headers={"origin": "https://evil.example"}), 403)
    guarded.cookies.clear()
    bearing = {"authorization": f"Bearer {TOKEN}"}
    assert guarded.get("/api/runs", headers=bearing).status_code == 200


# What somebody does who knows the port and the number of the process, from /proc.
CURIOUS = """
import encodings.idna, http.client, json, os, sys  # before it may read none
if os.geteuid() == 0:
    os.setgroups([]), os.setgid(65534), os.setuid(65534)
port, pid, asked = int(sys.argv[1]), sys.argv[2], json.loads(sys.argv[3])
told = []
for method, path in asked:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    body = "{}" if method == "POST" else None
    connection.request(method, path, body, {"content-type": "application/json"})
    told.append(connection.getresponse().status)
seen = open(f"/proc/{pid}/cmdline").read()
try:
    seen += open(f"/proc/{pid}/environ").read()
except OSError:
    pass
print(json.dumps([os.getuid(), told, seen]))
"""


def test_another_user_of_the_machine_is_refused_everywhere(tmp_path: Path) -> None:
    """A real one, where the tests may become one; else somebody without the token."""
    command = [sys.executable, "-m", "ntm", "studio", tmp_path, "--port=0", "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as studio:
        assert studio.stdout is not None
        place, _, token = studio.stdout.readline().strip().partition("/?token=")
        asked = [place.rpartition(":")[2], str(studio.pid), json.dumps(EVERYWHERE)]
        curious = [sys.executable, "-I", "-c", CURIOUS, *asked]
        done = subprocess.run(curious, check=False, capture_output=True, text=True)
        studio.terminate()
    assert done.returncode == 0, done.stderr
    uid, told, seen = json.loads(done.stdout)
    assert uid == (os.geteuid() or 65534)
    assert told == [403] * len(EVERYWHERE)
    assert token not in seen

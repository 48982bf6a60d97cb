"""Requests damaged at random: the studio answers them or refuses in a sentence, and goes on.

NTM_DAMAGED_REQUESTS says how many; see `docs/testing.md`.
"""

import json
import os
import random
from collections import Counter
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx2
from fastapi.testclient import TestClient
from tests.fuzz.damage import damaged_bytes, damaged_json
from tests.studio.conftest import HOST, make_run

from ntm.studio.server import create_app

REQUESTS = int(os.environ.get("NTM_DAMAGED_REQUESTS", "300"))
SEED = int(os.environ.get("NTM_DAMAGED_SEED", "0"))
TRACE: dict[str, Any] = {"network": "run:copying", "problem": {"vectors": [[0, 1, 1], [1, 1, 0]]}}
BODIES: dict[str, Any] = {
    "/api/trace": TRACE | {"memory_locations": 20},
    "/api/share": TRACE,
    "/api/example": {"network": "pretrained:copy-ff", "sizes": {"length": 3}, "seed": 1},
    "/api/curves": {"after": {"copying": 20}},
    "/api/runs": {"task": "copy", "model": "ntm-ff", "seed": 1, "sequences": 10, "name": "new"},
    "/api/runs/copying/resume": {"sequences": 200},
}
PATHS = [
    "/",
    "/static/viewer.js",
    "/api/networks",
    "/api/runs",
    "/api/guide",
    "/api/runs/copying/curve?after=20",
    "/api/paper/copy",
    "/api/traces/none.npz",
]
HEADERS = {"host": "127.0.0.1:8765", "origin": HOST, "cookie": "a=b", "accept": "*/*"}


def damaged_request(client: TestClient, chance: random.Random) -> httpx2.Response:
    headers = {"content-type": "application/json"}
    if chance.random() < 0.2:
        name = chance.choice(sorted(HEADERS))
        headers[name] = damaged_text(HEADERS[name], chance)
    if chance.random() < 0.3:
        return client.get(damaged_text(chance.choice(PATHS), chance, safe="/?="), headers=headers)
    path = chance.choice(sorted(BODIES))
    damage = chance.choice([damaged_bytes, damaged_json])
    body = damage(json.dumps(BODIES[path]).encode(), chance)
    return client.post(path, content=body, headers=headers)


def damaged_text(text: str, chance: random.Random, safe: str = "*/:.=") -> str:
    return quote(damaged_bytes(text.encode(), chance)[:2000], safe=safe)


def test_a_damaged_request_is_answered_or_refused(tmp_path: Path) -> None:
    make_run(tmp_path / "copying", task__bits=3)
    chance, statuses = random.Random(SEED), Counter[int]()
    # No training may begin, so that a request which is whole after all changes nothing.
    with TestClient(create_app(tmp_path, max_trainings=0), base_url=HOST) as client:
        for _ in range(REQUESTS):
            answer = damaged_request(client, chance)
            statuses[answer.status_code] += 1
            assert answer.status_code == 200 or 400 <= answer.status_code < 500, answer.text
            if answer.status_code != 200:
                assert list(answer.json()) == ["error"]
                assert answer.json()["error"].endswith(".")
        assert client.get("/api/networks").status_code == 200
    assert sum(count for status, count in statuses.items() if status != 200) > REQUESTS // 3
    print(f"{REQUESTS:,} damaged requests: {dict(statuses)}")

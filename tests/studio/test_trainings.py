"""Runs that are started and stopped from the page: real processes."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fastapi.testclient import TestClient
from tests.studio.conftest import HOST

from ntm.runs import Run
from ntm.studio.server import create_app
from ntm.studio.trainings import Order

PATIENCE = 300


def until(condition: Callable[[], Any]) -> Any:
    """Wait for something to become true; returns it."""
    deadline = time.monotonic() + PATIENCE
    while not (found := condition()):
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.1)
    return found


def states(client: TestClient) -> dict[str, str]:
    return {run["name"]: run["state"] for run in client.get("/api/runs").json()}


def test_the_command_is_a_list_of_arguments() -> None:
    command = Order("copy", "ntm-ff", 3, 500).command(Path("a folder; echo"))
    assert command[1:5] == ["-m", "ntm", "train", "copy"]
    assert command[command.index("--run") + 1] == "a folder; echo"


def test_a_run_is_started_watched_and_stopped_and_another_ends_with_the_studio(
    tmp_path: Path,
) -> None:
    app = create_app(tmp_path / "runs", max_trainings=2)
    with TestClient(app, base_url=HOST) as client:
        order = {"task": "copy", "seed": 3, "sequences": 10_000_000}
        assert client.post("/api/runs", json=order).json() == {"name": "copy-ntm-ff-3"}
        assert states(client) == {"copy-ntm-ff-3": "running"}
        again = client.post("/api/runs", json=order)
        assert again.status_code == 409
        second = client.post("/api/runs", json=order | {"name": "second", "model": "ntm-lstm"})
        assert second.status_code == 200
        third = client.post("/api/runs", json=order | {"name": "third"})
        assert third.status_code == 429

        curve = "/api/runs/copy-ntm-ff-3/curve"
        until(lambda: client.get(curve).json()["points"])
        assert client.get(curve).json()["can_stop"]
        for _ in range(2):  # the second request must not end it the hard way
            stopped = client.post("/api/runs/copy-ntm-ff-3/stop", json={})
        assert stopped.json() == {"name": "copy-ntm-ff-3"}
        until(lambda: states(client)["copy-ntm-ff-3"] == "stopped")
        last = client.get(curve).json()
        assert last["reason"] is None
        assert list((tmp_path / "runs" / "copy-ntm-ff-3" / "checkpoint").iterdir())
        until(lambda: client.get("/api/runs/second/curve").json()["points"])
    run = Run(tmp_path / "runs" / "second")
    assert (run.settings.model_name, run.settings.training.seed) == ("ntm-lstm", 3)
    assert list(run.checkpoints.iterdir())
    with run.locked():  # nobody trains it any more
        pass


def test_a_run_that_cannot_be_had_says_why(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    with TestClient(create_app(tmp_path / "file"), base_url=HOST) as client:
        client.post("/api/runs", json={"task": "copy", "name": "lost"})
        until(lambda: states(client) == {"lost": "failed"})
        (lost,) = client.get("/api/runs").json()
        assert "Not a directory" in lost["reason"]
        assert client.get("/api/runs/lost/curve").json()["state"] == "failed"
        assert client.post("/api/runs/lost/stop", json={}).status_code == 409

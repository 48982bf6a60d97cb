"""Runs that are started and stopped from the page: real processes."""

import errno
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from tests.studio.conftest import HOST, make_run, write_metrics

from ntm.runs import Run, RunError
from ntm.studio.server import create_app
from ntm.studio.trainings import Order, Trainings

PATIENCE = 300


def until(condition: Callable[[], Any]) -> Any:
    """Wait for something to become true; returns it."""
    deadline = time.monotonic() + PATIENCE
    while not (found := condition()):
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.1)
    return found


def states(client: TestClient) -> dict[str, str]:
    return {run["name"]: run["state"] for run in client.get("/api/runs").json()["runs"]}


def test_the_command_is_a_list_of_arguments() -> None:
    command = Order("copy", "ntm-ff", 3, 500).command(Path("a folder; echo"))
    assert command[:4] == ["-m", "ntm", "train", "copy"]
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
        (lost,) = client.get("/api/runs").json()["runs"]
        assert "is not a folder" in lost["reason"]
        assert client.get("/api/runs/lost/curve").json()["state"] == "failed"
        assert client.post("/api/runs/lost/stop", json={}).status_code == 409
        (tmp_path / "file").unlink()
        assert client.post("/api/runs/lost/resume", json={}).status_code == 200
        until((tmp_path / "file" / "lost" / "config.json").exists)


def test_a_run_that_is_deleted_while_it_is_listed_has_nothing_to_say(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    trainings = Trainings(most=1)
    trainings.start("lost", Order("copy", "ntm-ff", 1, 100), tmp_path / "file" / "lost")
    ((_, listed),) = trainings.started()
    listed.wait()
    assert "is not a folder" in str(listed.failure)
    trainings.forget("lost")
    assert listed.failure is None


def test_a_run_that_never_began_can_be_taken_off_the_list(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    with TestClient(create_app(tmp_path / "file"), base_url=HOST) as client:
        client.post("/api/runs", json={"task": "copy", "name": "lost"})
        until(lambda: states(client) == {"lost": "failed"})
        assert client.post("/api/runs/lost/delete", json={}).json()["was_there"]
        assert states(client) == {}


def test_a_run_that_somebody_else_deleted_is_gone(client: TestClient, folder: Path) -> None:
    assert "copying" in states(client)
    shutil.rmtree(folder / "copying")
    answer = client.post("/api/runs/copying/delete", json={})
    assert answer.json() == {"name": "copying", "was_there": False}


def test_a_run_that_is_stopped_at_once_keeps_a_checkpoint_and_goes_on_from_it(
    tmp_path: Path,
) -> None:
    """Stopped before its process has even imported anything."""
    with TestClient(create_app(tmp_path), base_url=HOST) as client:
        client.post("/api/runs", json={"task": "copy", "name": "short", "sequences": 10_000_000})
        assert client.post("/api/runs/short/stop", json={}).status_code == 200
        until(lambda: states(client)["short"] != "running")
        assert states(client) == {"short": "stopped"}
        assert client.get("/api/runs").json()["runs"][0]["reason"] is None
        assert list(Run(tmp_path / "short").checkpoints.iterdir())
        assert client.post("/api/runs/short/resume", json={}).json() == {"name": "short"}
        assert client.post("/api/runs/short/resume", json={}).status_code == 409
        until(lambda: client.get("/api/runs/short/curve").json()["points"])
        assert client.post("/api/runs/short/delete", json={}).status_code == 409
        client.post("/api/runs/short/stop", json={})
        until(lambda: states(client) == {"short": "stopped"})
        assert client.post("/api/runs/short/delete", json={}).json()["was_there"]
        assert states(client) == {}
        assert list(tmp_path.iterdir()) == []


def test_a_finished_run_goes_on_only_for_longer(client: TestClient, folder: Path) -> None:
    run = Run(folder / "copying")
    write_metrics(run.metrics, (100, 0.5))
    assert states(client)["copying"] == "finished"
    refused = client.post("/api/runs/copying/resume", json={})
    assert refused.status_code == 409
    assert "give more than that" in refused.json()["error"]
    command = Order("copy", "ntm-ff", 1, 200, resume=True).command(Path("here"))
    assert command[2:] == ["train", "--resume", "--sequences", "200", "--run", "here"]


def test_a_run_that_starts_from_a_network_and_has_not_begun_is_not_resumed_here(
    client: TestClient, folder: Path
) -> None:
    """The other folder may name code, which the studio does not run."""
    make_run(folder / "tuned", training__start_from="../elsewhere")
    refused = client.post("/api/runs/tuned/resume", json={})
    assert refused.status_code == 409
    assert "tuned has not started; resume it with ntm train" in refused.text


def test_a_run_that_another_process_trains_is_not_deleted(client: TestClient, folder: Path) -> None:
    run = Run(folder / "copying")
    with run.locked():
        assert client.post("/api/runs/copying/delete", json={}).status_code == 409
        assert client.post("/api/runs/copying/resume", json={}).status_code == 409
    assert client.post("/api/runs/copying/delete", json={}).status_code == 200
    assert not run.path.exists()
    assert client.get("/api/runs/copying/curve").status_code == 404
    assert "copying" not in states(client)


def test_a_real_process_keeps_its_folder(tmp_path: Path) -> None:
    run = tmp_path / "mine"
    command = [sys.executable, "-m", "ntm", "train", "copy", "--run", str(run)]
    with (
        TestClient(create_app(tmp_path), base_url=HOST) as client,
        subprocess.Popen(
            [*command, "--sequences", "10000000"], stdout=subprocess.DEVNULL
        ) as process,
    ):
        until((run / "metrics.jsonl").exists)
        refused = client.post("/api/runs/mine/delete", json={})
        assert refused.status_code == 409
        assert "another process" in refused.json()["error"]
        assert (run / "config.json").exists()
        process.send_signal(signal.SIGINT)
        process.wait()
        assert client.post("/api/runs/mine/delete", json={}).status_code == 200
    assert not run.exists()


def test_nobody_begins_to_train_in_a_folder_that_is_being_deleted(
    client: TestClient, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    removed = []

    def remove(path: Path) -> None:
        with pytest.raises(RunError, match="another process"), Run(path).locked():
            pass
        removed.append(path)

    monkeypatch.setattr(shutil, "rmtree", remove)
    assert client.post("/api/runs/copying/delete", json={}).status_code == 200
    assert len(removed) == 1
    assert not (folder / "copying").exists()


def test_a_run_that_takes_long_to_remove_is_gone_at_once(
    client: TestClient, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    really_remove, may_go_on = shutil.rmtree, threading.Event()

    def remove(path: Path) -> None:
        may_go_on.wait()
        really_remove(path)

    monkeypatch.setattr("ntm.studio.runs._TIME_TO_REMOVE", 0.01)
    monkeypatch.setattr(shutil, "rmtree", remove)
    deleted = [client.post("/api/runs/copying/delete", json={}).json() for _ in range(2)]
    assert deleted == [{"name": "copying", "was_there": there} for there in (True, False)]
    assert states(client) == {"baseline": "stopped"}
    may_go_on.set()
    until(lambda: [path.name for path in folder.iterdir()] == ["baseline"])


def test_a_run_that_cannot_be_removed_is_still_there(
    client: TestClient, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def remove(_path: Path) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(shutil, "rmtree", remove)
    refused = client.post("/api/runs/copying/delete", json={})
    assert refused.status_code == 409
    assert "cannot be removed: Permission denied" in refused.json()["error"]
    assert states(client)["copying"] == "stopped"
    assert sorted(path.name for path in folder.iterdir()) == ["baseline", "copying"]


def test_a_lock_that_is_a_link_harms_nobody(client: TestClient, folder: Path) -> None:
    outside = folder.parent / "precious"
    outside.write_text("precious")
    lock = folder / "copying" / ".lock"
    for place in (outside, folder / "baseline" / "config.json"):
        lock.unlink(missing_ok=True)
        lock.symlink_to(place)
        assert states(client)["copying"] == "stopped"
        answer = client.post("/api/runs/copying/delete", json={})
        assert answer.status_code == 409
        assert "cannot be removed" in answer.json()["error"]
    assert outside.read_text() == "precious"

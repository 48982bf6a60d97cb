"""Runs whose several starts are tried: how far they are, and how far they go."""

import json
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from tests.studio.conftest import HOST, make_run
from tests.studio.test_trainings import until

from ntm.runs import Run
from ntm.studio.server import create_app

TRIED = {"training__starts": 3, "training__trial_sequences": 100, "training__sequences": 500}


@pytest.fixture
def tried(tmp_path: Path) -> Run:
    """A run of up to three starts, a hundred sequences each; the one that is kept has 500."""
    run = make_run(tmp_path / "tried", **TRIED, training__enough_bits=0.1)
    run.metrics.unlink()
    return run


def report(run: Run, *lines: tuple[int, int]) -> None:
    with run.metrics.open("a") as metrics:
        for sequences, start in lines:
            metrics.write(json.dumps({"sequences": sequences, "bits": 1, "start": start}) + "\n")


def listed(run: Run) -> dict[str, Any]:
    client = TestClient(create_app(run.path.parent), base_url=HOST)
    (found,) = client.get("/api/runs").json()["runs"]
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize(
    ("lines", "total", "at_most"),
    [
        ([], 700, True),
        ([(50, 1), (100, 1)], 700, True),
        ([(100, 1), (150, 1)], 500, False),  # the first was good enough
        ([(100, 1), (150, 2), (200, 2)], 700, True),
        ([(100, 1), (200, 2), (250, 1)], 600, False),
        ([(100, 1), (200, 2), (600, 2)], 600, False),  # one report after many sequences
        ([(100, 1), (200, 2), (250, 3)], 700, False),
    ],
)
def test_the_total_follows_from_the_starts_so_far(
    tried: Run, lines: list[tuple[int, int]], total: int, at_most: bool
) -> None:
    report(tried, *lines)
    found = listed(tried)
    assert (found["total"], found["at_most"]) == (total, at_most)
    assert found["state"] == ("finished" if lines and lines[-1][0] >= total else "stopped")


def test_where_all_starts_are_tried_the_total_is_known(tmp_path: Path) -> None:
    run = make_run(tmp_path / "tried", **TRIED)
    report(run, (100, 1))
    assert (listed(run)["total"], listed(run)["at_most"]) == (700, False)


def test_a_run_without_trials_has_its_sequences(tmp_path: Path) -> None:
    run = make_run(tmp_path / "plain", **TRIED | {"training__sequences": 90})
    assert (listed(run)["total"], listed(run)["at_most"]) == (90, False)


def test_it_is_extended_by_sequences_altogether(tried: Run) -> None:
    """`ntm train` is told those of the start that is kept."""
    report(tried, (100, 1), (200, 2), (600, 1))
    with TestClient(create_app(tried.path.parent), base_url=HOST) as client:
        resume = "/api/runs/tried/resume"
        refused = client.post(resume, json={})
        assert refused.status_code == 409
        assert "600" in refused.json()["error"]
        assert client.post(resume, json={"sequences": 900}).status_code == 200
        until(lambda: Run(tried.path).settings.training.sequences == 800)


def test_trials_are_not_cut_short(tried: Run) -> None:
    report(tried, (100, 1))
    client = TestClient(create_app(tried.path.parent, max_trainings=0), base_url=HOST)
    refused = client.post("/api/runs/tried/resume", json={"sequences": 150})
    assert refused.status_code == 409
    assert "The trials of tried take 200 sequences" in refused.json()["error"]

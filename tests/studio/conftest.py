import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from ntm.runs import Run, build_model
from ntm.studio.server import create_app
from ntm.training import paper_settings

HOST = "http://127.0.0.1:8765"
SMALL = {"model.controller_size": "7", "model.memory_locations": "11", "model.memory_width": "5"}
SMALL_LSTM = {"model.hidden_size": "5", "model.layers": "1"}

MakeRun = Callable[..., Run]


def make_run(path: Path, task: str = "copy", model: str = "ntm-ff", **changes: object) -> Run:
    """The folder of a run that was stopped half-way, as training leaves it."""
    texts = {"training.sequences": "100", **(SMALL_LSTM if model == "lstm" else SMALL)}
    texts |= {name.replace("__", "."): str(value) for name, value in changes.items()}
    settings = paper_settings(task, model).with_text(texts)
    run = Run.create(path, settings)
    run.save_weights("best", build_model(settings), {"sequences": 40, "validation_bits": 1.5})
    write_metrics(run.metrics, (20, 3.5), (40, 1.25))
    return run


def write_metrics(file: Path, *points: tuple[int, float]) -> None:
    """Append lines of metrics."""
    with file.open("a") as opened:
        for sequences, bits in points:
            opened.write(json.dumps({"sequences": sequences, "bits": bits}) + "\n")


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine anything may take long."""
    monkeypatch.setattr("ntm.studio.workers.SECONDS_TO_ANSWER", 300.0)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a run of an NTM and a run of an LSTM."""
    make_run(tmp_path / "runs" / "copying", task__bits=3)
    make_run(tmp_path / "runs" / "baseline", model="lstm")
    return tmp_path / "runs"


@pytest.fixture
def client(folder: Path) -> Iterator[TestClient]:
    """A browser, so to speak, at the studio of that folder."""
    with TestClient(create_app(folder), base_url=HOST) as opened:
        yield opened

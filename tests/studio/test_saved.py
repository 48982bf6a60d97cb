"""Saved traces in the folder of the studio."""

import io
import json
import zipfile
from pathlib import Path

import numpy as np
import pytest
import torch
from fastapi.testclient import TestClient
from tests.studio.test_hostile import assert_refused

from ntm import NTM
from ntm.studio import trace_document, traced
from ntm.tasks import Copy
from ntm.trace import Trace

TASK = Copy(bits=3)


def a_trace() -> Trace:
    torch.manual_seed(1)
    net = NTM(TASK.input_size, TASK.output_size, memory_locations=9, memory_width=4)
    return traced(net, TASK.at(length=3).sample(1, torch.Generator()), TASK, "a title")


def test_saved_traces_are_listed_and_shown(client: TestClient, folder: Path) -> None:
    assert client.get("/api/traces").json() == []
    trace = a_trace()
    for name in ("one.npz", "two.npz"):
        trace.save(folder / name)
    (folder / "other.txt").write_text("no trace")
    assert client.get("/api/traces").json() == ["one.npz", "two.npz"]
    answer = client.get("/api/traces/one.npz")
    assert answer.json() == json.loads(json.dumps(trace_document(trace)))


def test_what_is_no_trace_or_not_in_the_folder_is_refused(client: TestClient, folder: Path) -> None:
    a_trace().save(folder.parent / "outside.npz")
    (folder / "linked.npz").symlink_to(folder.parent / "outside.npz")
    (folder / "text.npz").write_text("nothing")
    for name in ("linked.npz", "missing.npz", "copying", "%2e%2e%2foutside.npz", ".npz"):
        assert_refused(client.get(f"/api/traces/{name}"), 404, 422)
    assert "cannot be shown" in client.get("/api/traces/text.npz").json()["error"]


def changed(file: Path, **arrays: object) -> None:
    with np.load(file) as opened:
        kept = dict(opened)
    np.savez(file, **(kept | arrays))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "arrays",
    [
        {"about": np.array('{"format": "ntm-trace-2", "config": NaN}')},
        {"about": np.array("[" * 100_000)},
        {"about": np.array("[]")},
        {"about": np.array('{"format": "ntm-trace-9"}')},
        {"lengths": np.array([8])},
        {"lengths": np.array([-1])},
        {"lengths": np.array([0])},
        {"outputs": np.zeros((7, 1, 3), dtype=complex)},
        {"outputs": np.zeros((7, 2, 3))},
        {"reads": np.zeros((7, 1, 1, 5))},
        {"memory": np.zeros((7, 1, 9))},
        {"shifts": np.zeros(4, dtype=int)},
        {"more": np.zeros(3)},
    ],
    ids=lambda arrays: str(next(iter(arrays.items())))[:60],
)
def test_arrays_that_do_not_fit_together(
    client: TestClient, folder: Path, arrays: dict[str, object]
) -> None:
    a_trace().save(folder / "odd.npz")
    changed(folder / "odd.npz", **arrays)
    assert_refused(client.get("/api/traces/odd.npz"), 422)


def test_a_file_that_unpacks_to_too_much_is_not_unpacked(client: TestClient, folder: Path) -> None:
    a_trace().save(folder / "large.npz")
    with zipfile.ZipFile(folder / "large.npz", "a", zipfile.ZIP_DEFLATED) as archive:
        content = io.BytesIO()
        np.save(content, np.zeros(100_000_000, np.uint8))
        archive.writestr("more.npy", content.getvalue())
    assert_refused(client.get("/api/traces/large.npz"), 422)
    assert "more than at_most=" in client.get("/api/traces/large.npz").json()["error"]


def test_a_header_that_promises_more_than_there_is(client: TestClient, folder: Path) -> None:
    a_trace().save(folder / "liar.npz")
    header = io.BytesIO()
    promise = {"descr": "<f8", "fortran_order": False, "shape": (10**12,)}
    np.lib.format.write_array_header_1_0(header, promise)
    with zipfile.ZipFile(folder / "liar.npz", "a") as archive:
        archive.writestr("more.npy", header.getvalue())
    assert_refused(client.get("/api/traces/liar.npz"), 422)


def test_more_than_a_page_can_show_is_refused(client: TestClient, folder: Path) -> None:
    trace, file = a_trace(), folder / "odd.npz"
    wide = {"inputs": np.zeros((7, 1, 200_000), np.float16)}
    heads = {
        name: np.zeros((7, 1, 300, *array.shape[3:]), np.float16)
        for name, array in trace.arrays.items()
        if name.startswith("read_") or name == "reads"
    }
    for arrays, why in ((wide, "200,003 channels"), (heads, "301 heads")):
        trace.save(file)
        changed(file, **arrays)
        assert_refused(client.get("/api/traces/odd.npz"), 422)
        assert why in client.get("/api/traces/odd.npz").json()["error"]


@pytest.mark.parametrize("value", ["1e999", '"\\ud800"', "[" * 900 + "]" * 900])
def test_facts_that_json_cannot_say_do_no_harm(
    client: TestClient, folder: Path, value: str
) -> None:
    a_trace().save(folder / "odd.npz")
    about = f'{{"format": "ntm-trace-2", "config": {value}}}'
    changed(folder / "odd.npz", about=np.array(about))
    answer = client.get("/api/traces/odd.npz")
    assert answer.status_code in {200, 422}
    json.loads(answer.text, parse_constant=pytest.fail)


def test_odd_facts_are_only_words(client: TestClient, folder: Path) -> None:
    about = {"format": "ntm-trace-2", "title": ["<b>"], "task": {"a": 1}, "input_channels": 5}
    a_trace().save(folder / "odd.npz")
    changed(folder / "odd.npz", about=np.array(json.dumps(about)))
    document = client.get("/api/traces/odd.npz").json()
    assert document["title"] == "['<b>']"
    assert document["task"] is None
    assert document["labels"]["inputs"] == ["input 1", "input 2", "input 3", "input 4"]

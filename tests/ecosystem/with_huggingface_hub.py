"""huggingface_hub: networks are pushed to a local server of the hub's API, and loaded from it."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from safetensors.torch import load
from tests.ecosystem.hub_endpoint import Endpoint, running

from ntm import NTM

PUSH = """
import torch
from ntm import NTM
from ntm.tasks import make_task

torch.manual_seed(1)
net = NTM(9, 8, controller="{controller}", controller_size=7, memory_locations=11, memory_width=5)
print(net.push_to_hub("someone/machine", task=make_task("copy"), private=True, message="First"))
"""
LOAD = """
import torch
from ntm import NTM

net = NTM.from_pretrained("someone/machine", {options})
print(type(net).__name__, net.engine, sum(p.double().sum().item() for p in net.parameters()))
"""


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with running() as server:
        yield server


def program(code: str, endpoint: Endpoint, home: Path, **more: str) -> tuple[int, str, str]:
    """Run a program in a separate process: huggingface_hub reads its variables on import."""
    hub = {"HF_ENDPOINT": endpoint.address, "HF_HOME": str(home), "HF_TOKEN": "hf_nobody"}
    quiet = {"HF_HUB_DISABLE_PROGRESS_BARS": "1", "HF_HUB_DISABLE_TELEMETRY": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **hub, **quiet, **more},
        cwd=home,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def printed(code: str, endpoint: Endpoint, home: Path, **more: str) -> str:
    status, out, error = program(code, endpoint, home, **more)
    assert status == 0, error
    return out.strip()


def refusal(code: str, endpoint: Endpoint, home: Path, **more: str) -> str:
    status, _, error = program(code, endpoint, home, **more)
    assert status == 1
    return error.strip().splitlines()[-1]


def uploaded(endpoint: Endpoint, folder: Path, **changes: bytes) -> None:
    """Put a network on the hub without a push, with some of its files changed."""
    NTM(9, 8, memory_locations=11, memory_width=5).save_pretrained(folder / "saved")
    files = {file.name: file.read_bytes() for file in (folder / "saved").iterdir()}
    endpoint.commit("someone/machine", files | changes)


def test_a_pushed_network_is_loaded_again(endpoint: Endpoint, tmp_path: Path) -> None:
    both = PUSH.format(controller="lstm") + LOAD.format(options="engine='reference'")
    address, loaded = printed(both, endpoint, tmp_path).splitlines()
    assert address.startswith(f"{endpoint.address}/someone/machine/commit/")
    (files,) = endpoint.repositories["someone/machine"]
    assert sorted(files) == ["README.md", "config.json", "model.safetensors"]
    assert json.loads(files["config.json"])["task"]["name"] == "copy"
    assert b'NTM.from_pretrained("someone/machine")' in files["README.md"]
    tensors = load(files["model.safetensors"]).values()
    kind, chosen, total = loaded.split()
    assert (kind, chosen) == ("NTM", "reference")
    assert float(total) == pytest.approx(sum(t.double().sum().item() for t in tensors), abs=1e-9)


def test_a_second_push_keeps_the_card_and_a_revision_loads_the_first(
    endpoint: Endpoint, tmp_path: Path
) -> None:
    uploaded(endpoint, tmp_path, **{"README.md": b"written by hand"})
    first = "revision='" + "0" * 40 + "'"
    loads = LOAD.format(options="") + LOAD.format(options=first)
    _, newest, older = printed(PUSH.format(controller="lstm") + loads, endpoint, tmp_path).split(
        "\n"
    )
    assert newest != older
    assert endpoint.repositories["someone/machine"][-1]["README.md"] == b"written by hand"
    offline = printed(LOAD.format(options=""), endpoint, tmp_path, HF_HUB_OFFLINE="1")
    assert offline == newest


def test_only_the_two_files_of_a_network_are_downloaded(endpoint: Endpoint, tmp_path: Path) -> None:
    uploaded(endpoint, tmp_path, **{"model.py": b"raise SystemExit", "weights.bin": b"pickle"})
    printed(LOAD.format(options=""), endpoint, tmp_path)
    asked = {path.rpartition("/")[2] for path in endpoint.requests if "/resolve/" in path}
    assert asked == {"config.json", "model.safetensors"}


@pytest.mark.parametrize(
    ("name", "damage", "told"),
    [
        ("config.json", b"{", "ValueError: .*config.json is damaged"),
        ("config.json", b'{"format": "other"}', "ValueError: .*is not in the format"),
        ("model.safetensors", b"\xff" * 20, "ValueError: .*is not a safetensors file"),
    ],
)
def test_damaged_files_are_refused_by_the_readers_of_folders(
    name: str, damage: bytes, told: str, endpoint: Endpoint, tmp_path: Path
) -> None:
    uploaded(endpoint, tmp_path, **{name: damage})
    message = refusal(LOAD.format(options=""), endpoint, tmp_path)
    assert re.match(told, message), message


def test_a_missing_network_is_told_in_one_sentence(endpoint: Endpoint, tmp_path: Path) -> None:
    begin = "FileNotFoundError: There is no folder someone/machine, and the Hugging Face hub gave"
    assert refusal(LOAD.format(options=""), endpoint, tmp_path).startswith(begin)
    endpoint.commit("someone/machine", {"other.txt": b""})
    message = refusal(LOAD.format(options="revision='nowhere'"), endpoint, tmp_path)
    assert message.startswith(begin)
    assert "is no network: no config.json" in refusal(LOAD.format(options=""), endpoint, tmp_path)


def test_a_folder_of_the_same_name_comes_first(endpoint: Endpoint, tmp_path: Path) -> None:
    NTM(9, 8).save_pretrained(tmp_path / "someone" / "machine")
    assert printed(LOAD.format(options=""), endpoint, tmp_path).startswith("NTM auto")
    assert endpoint.requests == []
    assert "is a folder" in refusal(LOAD.format(options="revision='main'"), endpoint, tmp_path)

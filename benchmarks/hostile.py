"""Response time and memory of the studio on the worst folders of runs.

    python benchmarks/hostile.py [NAME ...] [--at-once 6] [--json]

Every folder contains something as large as the studio still accepts, or larger. Each folder gets a
new `ntm studio` process. Times are in seconds from the request to the last byte of the answer.
Prints

    alone       slowest of three requests, sent one after another
    at once     slowest of several requests, sent together
    peak        peak memory of the process
    answers     statuses of the requests sent together

The studio should answer within 2 s and stay below 1 GB. Refusals count as answers.
"""

import argparse
import http.client
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import zipfile
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from ntm import NTM
from ntm.paper import paper_settings
from ntm.runs import Run, build_model
from ntm.studio import traced
from ntm.tasks import Copy

HEADERS = {"content-type": "application/json"}


class Asked(NamedTuple):
    """Request to the studio."""

    method: str
    path: str
    body: Any = None


def run(path: Path, model: str, bits: int = 8, **sizes: object) -> Run:
    """Create the folder of a copy run with a network of these sizes."""
    texts = {f"model.{name}": str(size) for name, size in sizes.items()}
    settings = paper_settings("copy", model).with_text({"task.bits": str(bits)} | texts)
    made = Run.create(path, settings)
    # Without blanks, so that as much as possible fits into the largest config that is read.
    config = json.loads((path / "config.json").read_text())
    (path / "config.json").write_text(json.dumps(config, separators=(",", ":")))
    made.save_weights("best", build_model(settings), {"sequences": 1, "validation_bits": 1.0})
    return made


def trace(length: int, bits: int = 8, path: str = "/api/trace", **more: object) -> Asked:
    problem = {"vectors": [[0] * bits] * length}
    return Asked("POST", path, {"network": "run:bad", "problem": problem, **more})


def ntm(
    length: int, path: str = "/api/trace", model: str = "ntm-ff", shifts: int = 3, **sizes: int
) -> Callable[[Path], Asked]:
    """Return a function that makes a network with a memory, and a problem for it."""

    def make(folder: Path) -> Asked:
        run(folder / "bad", model, shifts=",".join(map(str, range(shifts))), **sizes)
        return trace(length, path=path)

    return make


def lstm(length: int, hidden: int, layers: int = 1) -> Callable[[Path], Asked]:
    def make(folder: Path) -> Asked:
        run(folder / "bad", "lstm", hidden_size=hidden, layers=layers)
        return trace(length)

    return make


def wide(folder: Path) -> Asked:
    run(folder / "bad", "ntm-ff", bits=900, controller_size=10)
    return trace(50, 900)


def many_runs(folder: Path, padding: int = 0, count: int = 5000, **task: object) -> None:
    """Create many folders with the config of one run, each a little different."""
    config = json.loads((run(folder / "bad", "ntm-ff").path / "config.json").read_text())
    weights = (folder / "bad" / "best.safetensors").read_bytes()
    for number in range(count):
        config["training"]["seed"] = number
        config["task"] |= {name: int(str(size)) - number for name, size in task.items()}
        place = folder / f"run-{number}"
        place.mkdir()
        (place / "config.json").write_text(json.dumps(config) + " " * padding)
        (place / "best.safetensors").write_bytes(weights)


def listing(path: str, **many: Any) -> Callable[[Path], Asked]:
    def make(folder: Path) -> Asked:
        many_runs(folder, **many)
        return Asked("GET", path)

    return make


def reports(folder: Path) -> Asked:
    """Create 2,000 runs with 20,000 reports each."""
    many_runs(folder, count=2000)
    lines = "".join(f'{{"sequences": {n}, "bits": {n}.5}}\n' for n in range(20_000))
    for place in folder.glob("run-*"):
        (place / "metrics.jsonl").write_text(lines)
    return Asked("GET", "/api/runs")


def nested_config(folder: Path) -> Asked:
    many_runs(folder, count=300)
    for place in folder.glob("run-*"):
        config = json.loads((place / "config.json").read_text())
        config["model"]["shifts"] = list(range(140_000))
        (place / "config.json").write_text(json.dumps(config))
    return Asked("GET", "/api/networks")


def long_header(folder: Path) -> Asked:
    """Create weights with a header longer than any network's."""
    file = run(folder / "bad", "ntm-ff").weights_file("best")
    tensor = '"{}":{{"dtype":"F32","shape":[0],"data_offsets":[0,0]}}'
    header = ("{" + ",".join(tensor.format(n) for n in range(1_500_000)) + "}").encode()
    file.write_bytes(len(header).to_bytes(8, "little") + header)
    return Asked("GET", "/api/networks")


def recorded(folder: Path, **arrays: Any) -> Asked:
    """Save a trace with some arrays replaced."""
    task = Copy(bits=3)
    net = NTM(task.input_size, task.output_size, memory_locations=9, memory_width=4)
    file = folder / "bad.npz"
    made = traced(net, task.at(length=3).sample(1, torch.Generator()), task)
    made.save(file)
    with np.load(file) as opened:
        kept = dict(opened)
    np.savez_compressed(file, **(kept | arrays))
    return Asked("GET", "/api/traces/bad.npz")


def many_channels(folder: Path) -> Asked:
    return recorded(folder, inputs=np.zeros((7, 1, 1_000_000), np.float16))


def many_heads(folder: Path) -> Asked:
    heads = 200_000
    task = Copy(bits=3)
    net = NTM(task.input_size, task.output_size, memory_locations=9, memory_width=4)
    made = traced(net, task.at(length=3).sample(1, torch.Generator()), task)
    arrays = {
        name: np.zeros((7, 1, heads, *getattr(made, name).shape[3:]), np.float16)[:1]
        for name in vars(made)
        if name.startswith("read_") or name == "reads"
    }
    rest = {
        name: array[:1]
        for name, array in vars(made).items()
        if isinstance(array, np.ndarray) and name != "lengths"
    }
    return recorded(folder, **(rest | arrays | {"lengths": np.array([1])}))


def large_facts(folder: Path) -> Asked:
    about = {"format": "ntm-trace-2", "config": [[]] * 4_000_000}
    return recorded(folder, about=np.array(json.dumps(about)))


def large_arrays(folder: Path) -> Asked:
    return recorded(folder, memory=np.zeros((7, 1, 9, 240_000), np.float32))


def many_members(folder: Path) -> Asked:
    asked = recorded(folder)
    content = io.BytesIO()
    np.save(content, np.zeros(0))
    with zipfile.ZipFile(folder / "bad.npz", "a") as archive:
        for number in range(300_000):
            archive.writestr(f"{number}.npy", content.getvalue())
    return asked


def many_files(folder: Path) -> Asked:
    for number in range(200_000):
        (folder / f"{number}.npz").touch()
    return Asked("GET", "/api/traces")


FOLDERS: dict[str, Callable[[Path], Asked]] = {
    "lstm, long": lstm(490, 860),
    "lstm, wide": lstm(160, 1490),
    "lstm, deep": lstm(100, 190, 32),
    "lstm, too deep": lstm(1, 8, 4000),
    "ntm, locations": ntm(490, memory_locations=285),
    "ntm, locations, as a file": ntm(490, path="/api/share", memory_locations=285),
    "ntm, many heads": ntm(
        3, memory_locations=1, memory_width=1, read_heads=100_000, controller_size=1
    ),
    "ntm, wide heads": ntm(
        100, memory_locations=10, memory_width=600, read_heads=100, write_heads=50,
        controller_size=5,
    ),
    "ntm, heads": ntm(
        100, memory_locations=20, read_heads=128, write_heads=128, controller_size=50
    ),
    "ntm, many shifts": ntm(
        400, memory_locations=300, memory_width=4, controller_size=1, shifts=60_000
    ),
    "ntm, shifts, long": ntm(
        490, memory_locations=570, memory_width=1, controller_size=1, shifts=1500
    ),
    "ntm, shifts, locations": ntm(
        50, memory_locations=3900, memory_width=1, controller_size=1, shifts=3700
    ),
    "ntm, heads, long": ntm(
        490, memory_locations=6, memory_width=1, read_heads=128, write_heads=128, controller_size=1
    ),
    "ntm, heads, locations": ntm(
        1, memory_locations=2500, read_heads=128, write_heads=128, controller_size=10
    ),
    "ntm, width": ntm(490, memory_locations=1, memory_width=1160, controller_size=1),
    "ntm, controller": ntm(150, controller_size=3500, memory_width=100),
    "ntm, controller, long": ntm(490, controller_size=860, memory_locations=1, memory_width=1),
    "ntm, controller, large": ntm(150, controller_size=1570, memory_locations=1, memory_width=1),
    "ntm, lstm": ntm(150, model="ntm-lstm", controller_size=1540),
    "ntm, lstm, deep": ntm(
        490, model="ntm-lstm", controller_size=110, controller_layers=32, memory_locations=1,
        memory_width=1,
    ),
    "bits": wide,
    "runs": listing("/api/runs"),
    "networks": listing("/api/networks"),
    "runs, long configs": listing("/api/runs", padding=990_000, count=2000),
    "networks, wide tasks": listing("/api/networks", bits=20_000),
    "networks, long shifts": nested_config,
    "reports": reports,
    "header of weights": long_header,
    "trace, channels": many_channels,
    "trace, heads": many_heads,
    "trace, facts": large_facts,
    "trace, arrays": large_arrays,
    "trace, members": many_members,
    "traces": many_files,
}  # fmt: skip


class Studio:
    """Process of `ntm studio`."""

    def __init__(self, folder: Path) -> None:
        command = [sys.executable, "-m", "ntm", "studio", str(folder), "--port=0", "--no-browser"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        found = re.search(r":(\d+)/\?token=(\S+)", self.process.stdout.readline())
        assert found is not None
        self.port, self.token = int(found[1]), found[2]

    def ask(self, asked: Asked) -> tuple[float, int]:
        """Send a request; return the seconds to the last byte of the answer, and its status."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        headers = HEADERS | {"authorization": f"Bearer {self.token}"}
        body = None if asked.body is None else json.dumps(asked.body)
        began = time.perf_counter()
        connection.request(asked.method, asked.path, body, headers)
        answer = connection.getresponse()
        while answer.read(2**20):
            pass
        connection.close()
        return time.perf_counter() - began, answer.status

    def peak(self) -> float:
        """Return the peak memory in MB."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        found = re.search(r"VmHWM:\s+(\d+)", status)
        assert found is not None
        return int(found[1]) / 1000


def measured(make: Callable[[Path], Asked], at_once: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        asked = make(Path(folder))
        studio = Studio(Path(folder))
        try:
            alone = [studio.ask(asked) for _ in range(3)]
            with ThreadPoolExecutor(at_once) as pool:
                together = list(pool.map(studio.ask, [asked] * at_once))
            peak = studio.peak()
        finally:
            studio.process.terminate()
            studio.process.wait()
    return {
        "alone": max(seconds for seconds, _ in alone),
        "alone_status": [status for _, status in alone],
        "at_once": max(seconds for seconds, _ in together),
        "peak_megabytes": peak,
        "answers": dict(Counter(status for _, status in together)),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="; ".join(FOLDERS))
    parser.add_argument("--at-once", type=int, default=6)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    for name in options.names:
        if name not in FOLDERS:
            parser.error(f"There is no folder called {name!r}; --help lists all names.")
    results = {}
    for name in options.names or FOLDERS:
        results[name] = result = measured(FOLDERS[name], options.at_once)
        if not options.json:
            print(
                f"{name:28} alone {result['alone']:6.2f} s {result['alone_status']}  at once "
                f"{result['at_once']:6.2f} s  peak {result['peak_megabytes']:6.0f} MB  "
                f"{result['answers']}",
                flush=True,
            )
    if options.json:
        print(json.dumps({"load": os.getloadavg()[0], **results}))


if __name__ == "__main__":
    main()

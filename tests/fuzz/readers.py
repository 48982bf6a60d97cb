"""The readers of files, each with a whole file and what a right answer is."""

import hashlib
import json
import math
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import torch
from safetensors import torch as safetensors
from tests.fuzz.damage import damaged_bytes, damaged_json, damaged_value

from ntm import NTM, LSTMBaseline
from ntm.runs import FolderError, Run, RunError, Settings, build_model, checkpoints, read_metrics
from ntm.runs.opening import open_run
from ntm.scale.grid import read_grid
from ntm.studio.documents import trace_document
from ntm.studio.terminal import as_text
from ntm.tasks import make_task
from ntm.trace import Trace
from ntm.training import paper_settings
from ntm.training.state import TrainingState

Damage = Callable[[bytes, random.Random], bytes]
SMALL = {"model.controller_size": "3", "model.memory_locations": "5", "model.memory_width": "2"}
GRID = b"""\
tasks = ["copy", "repeat-copy"]
models = ["ntm-ff", "lstm"]
seeds = [1, 2]
[optimiser]
learning_rate = [1e-4, 3e-5]
[training]
sequences = 20_000
device = "cpu"
[model.ntm-ff]
shifts = [[-1, 0, 1], [0, 1]]
[training.repeat-copy]
sequences = 50_000
"""


class Reader(NamedTuple):
    """How a kind of file is made, damaged and read."""

    make: Callable[[Path], Path]
    """Makes the file, and what it needs beside it, in an empty folder."""
    read: Callable[[Path], Any]
    """Reads the file and asserts what holds of every answer."""
    refusals: tuple[type[Exception], ...]
    damages: tuple[Damage, ...] = (damaged_bytes,)


def small_settings() -> Settings:
    return paper_settings("copy", "ntm-ff").with_text(SMALL)


def make_run(folder: Path) -> Run:
    run = Run.create(folder, small_settings())
    run.save_weights("latest", build_model(run.settings), {"sequences": 40, "validation_bits": 1.5})
    return run


def make_config(folder: Path) -> Path:
    return make_run(folder).path / "config.json"


def read_config(file: Path) -> None:
    settings = Run(file.parent).settings
    assert Settings.from_json(json.loads(json.dumps(settings.to_json()))) == settings


def read_network(file: Path) -> None:
    model, facts = Run(file.parent).load_model()
    assert facts["weights"] == "latest"
    shapes = {name: t.shape for name, t in build_model(small_settings()).state_dict().items()}
    assert {name: tensor.shape for name, tensor in model.state_dict().items()} == shapes


def make_metrics(folder: Path) -> Path:
    file = folder / "metrics.jsonl"
    lines = [
        {"sequences": 10 * n, "bits": 3.5, "start": 1, "seconds": 0.5, "validation_bits": n / 7}
        for n in range(1, 6)
    ]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return file


def damaged_line(content: bytes, chance: random.Random) -> bytes:
    lines = content.splitlines(keepends=True)
    number = chance.randrange(len(lines))
    lines[number] = damaged_json(lines[number], chance) + b"\n"
    return b"".join(lines)


def read_lines(file: Path) -> None:
    for line in read_metrics(file):
        assert isinstance(line["sequences"], int)
        assert math.isfinite(line["bits"])
        assert math.isfinite(line.get("validation_bits", 0))


def make_checkpoint(folder: Path) -> Path:
    run = make_run(folder)
    state = TrainingState(run.settings, build_model(run.settings))
    for _ in range(2):
        checkpoints.save(run.checkpoints, state.tensors(), state.values())
    return run.checkpoints / "00000002.json"


def read_checkpoint(file: Path) -> None:
    """Whichever of the two is taken, what it says is what was saved: the digest covers all."""
    run = Run(file.parents[1])
    whole = file.with_name("00000001.json")
    record, tensors = whole.read_bytes(), whole.with_suffix(".safetensors").read_bytes()
    try:
        checkpoint, problems = checkpoints.load_newest(run.checkpoints)
        assert checkpoint is not None
        assert checkpoint.values == json.loads(record)["values"]
        saved = safetensors.load(tensors)
        assert all(torch.equal(saved[name], t) for name, t in checkpoint.tensors.items())
        complain(problems)
    finally:  # a damaged one is removed
        file.with_suffix(".safetensors").write_bytes(tensors)


def complain(problems: list[str]) -> None:
    if problems:
        raise RunError(*problems)


def forged(content: bytes, chance: random.Random) -> bytes:
    """Other values, with the digest that belongs to them: of the tensors it is left to `resume`."""
    record = json.loads(content)
    record["values"] = damaged_value(record["values"], chance)
    return json.dumps(record).encode()


def resume(file: Path) -> None:
    """What stands in a checkpoint whose digest is right is taken or refused as a whole."""
    run, record = Run(file.parents[1]), json.loads(file.read_bytes())
    tensors = file.with_name("00000001.safetensors").read_bytes()
    file.with_suffix(".safetensors").write_bytes(tensors)
    record.pop("sha256")
    text = json.dumps(record, sort_keys=True).encode()
    record["sha256"] = hashlib.sha256(text + tensors).hexdigest()
    file.write_text(json.dumps(record))
    state = TrainingState(run.settings, build_model(run.settings))
    state.restore(run)
    counted = (state.counters.sequences, state.counters.reported, state.starts.others)
    assert all(type(count) is int for count in counted)


def make_tensors(folder: Path) -> Path:
    return make_checkpoint(folder).with_suffix(".safetensors")


def read_tensors(file: Path) -> None:
    record = file.with_suffix(".json").read_bytes()
    try:
        checkpoint, problems = checkpoints.load_newest(file.parent)
        assert checkpoint is not None
        complain(problems)
    finally:
        file.with_suffix(".json").write_bytes(record)


def make_weights(folder: Path) -> Path:
    return make_run(folder).path / "model.safetensors"


def damaged_header(content: bytes, chance: random.Random) -> bytes:
    """A safetensors file whose header says something else, in the right length."""
    length = int.from_bytes(content[:8], "little")
    header = damaged_json(content[8 : 8 + length], chance)
    stated = len(header) if chance.random() < 0.9 else chance.choice([0, 2**20, 2**40, 2**63])
    return stated.to_bytes(8, "little") + header + content[8 + length :]


def make_pretrained(folder: Path) -> Path:
    NTM(3, 2, controller_size=3, memory_locations=5, memory_width=2).save_pretrained(folder)
    return folder / "config.json"


def make_pretrained_weights(folder: Path) -> Path:
    return make_pretrained(folder).with_name("model.safetensors")


def read_pretrained(file: Path) -> None:
    net = NTM.from_pretrained(file.parent, engine="reference")
    assert sum(p.numel() for p in net.parameters()) == _PARAMETERS


def make_saved(folder: Path) -> Path:
    LSTMBaseline(4, 3, 2, 1).save_pretrained(folder, task=make_task("copy", bits=3, max_length=4))
    return folder / "config.json"


def make_saved_weights(folder: Path) -> Path:
    return make_saved(folder).with_name("model.safetensors")


def read_saved(file: Path) -> None:
    """As the commands do, which build the network for the task that the folder names."""
    run = open_run(file.parent)
    net = run.load_model()[0]
    assert run.settings.task.input_size == 4
    assert sum(p.numel() for p in net.parameters()) == sum(
        p.numel() for p in LSTMBaseline(4, 3, 2, 1).parameters()
    )


_PARAMETERS = sum(
    p.numel() for p in NTM(3, 2, controller_size=3, memory_locations=5, memory_width=2).parameters()
)


def make_trace(folder: Path) -> Path:
    net = NTM(3, 2, controller_size=3, memory_locations=5, memory_width=2)
    trace = net.trace(torch.zeros(4, 1, 3), memory=True)
    trace.save(folder / "trace.npz")
    return folder / "trace.npz"


def read_trace(file: Path) -> None:
    trace = Trace.load(file)
    assert trace.inputs.shape[:2] == trace.outputs.shape[:2]
    assert as_text(trace.sequence(0))
    assert trace_document(trace)["steps"] == trace.lengths[0]


def damaged_array(content: bytes, chance: random.Random) -> bytes:
    """One of the arrays in the archive damaged; the archive is whole."""
    import io
    import zipfile

    packed = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(packed, "w") as new:
        chosen = chance.choice(old.namelist())
        for name in old.namelist():
            data = old.read(name)
            new.writestr(name, damaged_bytes(data, chance) if name == chosen else data)
    return packed.getvalue()


def make_grid(folder: Path) -> Path:
    (folder / "sweep.toml").write_bytes(GRID)
    return folder / "sweep.toml"


def read_sweep(file: Path) -> None:
    jobs = read_grid(file, file.parent / "runs")
    assert jobs
    assert len({job.folder for job in jobs}) == len(jobs)


OF_A_RUN = (RunError, FolderError)
READERS = {
    "config": Reader(make_config, read_config, OF_A_RUN, (damaged_bytes, damaged_json)),
    "network": Reader(make_config, read_network, OF_A_RUN, (damaged_bytes, damaged_json)),
    "metrics": Reader(make_metrics, read_lines, OF_A_RUN, (damaged_bytes, damaged_line)),
    "checkpoint": Reader(make_checkpoint, read_checkpoint, OF_A_RUN, (damaged_bytes, damaged_json)),
    "checkpoint tensors": Reader(make_tensors, read_tensors, OF_A_RUN),
    "checkpoint values": Reader(make_checkpoint, resume, OF_A_RUN, (forged,)),
    "weights": Reader(make_weights, read_network, OF_A_RUN, (damaged_bytes, damaged_header)),
    "pretrained": Reader(
        make_pretrained, read_pretrained, (ValueError,), (damaged_bytes, damaged_json)
    ),
    "pretrained weights": Reader(
        make_pretrained_weights,
        read_pretrained,
        (ValueError, TypeError),
        (damaged_bytes, damaged_header),
    ),
    "saved": Reader(make_saved, read_saved, OF_A_RUN, (damaged_bytes, damaged_json)),
    "saved weights": Reader(
        make_saved_weights, read_saved, OF_A_RUN, (damaged_bytes, damaged_header)
    ),
    "trace": Reader(make_trace, read_trace, (ValueError,), (damaged_bytes, damaged_array)),
    "sweep": Reader(make_grid, read_sweep, (ValueError,)),
}

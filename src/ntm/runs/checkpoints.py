"""Checkpoints, to resume bit for bit: tensors in safetensors, the rest in JSON, never pickle.

    checkpoint/
      00000007.safetensors    tensors by name
      00000007.json           {"format": 1, "values": {...}, "sha256": "..."}
      00000008.safetensors
      00000008.json

The JSON file is written last and completes a checkpoint. The digest covers the rest of the JSON and
the tensor file. The newest two checkpoints are kept.
"""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import torch
from safetensors import SafetensorError
from safetensors import torch as safetensors
from torch import Tensor

from ntm.common.files import parse_json, remove_leftovers, write_atomically
from ntm.runs.errors import RunError
from ntm.runs.weights import encoded

FORMAT = 1
_KEPT = 2


class Checkpoint(NamedTuple):
    """State that a run needs to resume."""

    tensors: dict[str, Tensor]
    values: dict[str, Any]


class CheckpointError(RunError):
    """Error for a checkpoint that cannot be read; the message says why."""


def save(folder: Path, tensors: Mapping[str, Tensor], values: Mapping[str, Any]) -> None:
    """Write the next checkpoint; keep it and the previous one, and remove older ones."""
    folder.mkdir(parents=True, exist_ok=True)
    number = max(_numbers(folder), default=0) + 1
    content = encoded(tensors)
    record = {"format": FORMAT, "values": dict(values)}
    record["sha256"] = _digest(record, content)
    record_file, tensor_file = _files(folder, number)
    write_atomically(tensor_file, content)
    write_atomically(record_file, json.dumps(record, indent=1).encode())
    for old in _numbers(folder)[:-_KEPT]:
        _remove(folder, old)


def exist(folder: Path) -> bool:
    """Return whether a folder has checkpoints, intact or damaged."""
    return bool(_numbers(folder))


def load_newest(folder: Path) -> tuple[Checkpoint | None, list[str]]:
    """Return the newest intact checkpoint, and a sentence for each newer damaged one.

    Newer, damaged checkpoints are removed, so that they do not count among the two kept ones. The
    checkpoint is None if there are none. If all are damaged, raise CheckpointError.
    """
    problems: list[str] = []
    remove_leftovers(folder)
    for number in reversed(_numbers(folder)):
        try:
            checkpoint = _load(folder, number)
        except CheckpointError as error:
            problems.append(str(error))
            continue
        for damaged in _numbers(folder):
            if damaged > number:
                _remove(folder, damaged)
        return checkpoint, problems
    if problems:
        raise CheckpointError(
            f"{' '.join(problems)} No checkpoint is left to resume from; "
            f"remove {folder} to start the run again."
        )
    return None, []


def _load(folder: Path, number: int) -> Checkpoint:
    path, tensors = _files(folder, number)
    try:
        record, content = parse_json(path.read_bytes()), tensors.read_bytes()
    except FileNotFoundError as error:
        raise CheckpointError(f"{error.filename} is missing.") from error
    except ValueError as error:
        raise CheckpointError(f"{path} is damaged: it is {error}.") from error
    whole = isinstance(record, dict) and {"format", "values", "sha256"} <= record.keys()
    if not whole or not isinstance(record["values"], dict):
        raise CheckpointError(f"{path} is not a checkpoint of this program.")
    if record.pop("sha256") != _digest(record, content):
        raise CheckpointError(f"{path} and its tensors do not match their checksum.")
    if record["format"] != FORMAT:  # intact: do not remove it
        raise RunError(
            f"{path} has the format {record['format']!r}; this version reads {FORMAT}. Resume the "
            f"run with the version that wrote it."
        )
    try:
        return Checkpoint(safetensors.load(content), record["values"])
    except SafetensorError as error:
        raise CheckpointError(f"{tensors} is damaged: {error}.") from error


def _digest(record: Mapping[str, Any], content: bytes) -> str:
    digest = hashlib.sha256(json.dumps(record, sort_keys=True).encode())
    digest.update(content)
    return digest.hexdigest()


def _numbers(folder: Path) -> list[int]:
    """Return the numbers of completed checkpoints, intact or damaged, oldest first."""
    return sorted(int(path.stem) for path in folder.glob("*.json") if path.stem.isdecimal())


def _files(folder: Path, number: int) -> tuple[Path, Path]:
    """Return the files of a checkpoint: its record and its tensors."""
    return folder / f"{number:08}.json", folder / f"{number:08}.safetensors"


def _remove(folder: Path, number: int) -> None:
    # Remove the record first: a tensor file without a record does not count as a checkpoint.
    for file in _files(folder, number):
        file.unlink(missing_ok=True)


def state_tensors(
    model: torch.nn.Module,
    optimiser: torch.optim.Optimizer,
    average: torch.nn.Module | None = None,
) -> dict[str, Tensor]:
    """Return all tensors of a run: model/NAME, optimiser/KEY/NAME, and average/NAME if given."""
    tensors = {f"model/{name}": tensor for name, tensor in model.state_dict().items()}
    if average is not None:
        tensors |= {f"average/{name}": t for name, t in average.state_dict().items()}
    for name, parameter in model.named_parameters():
        for key, value in optimiser.state[parameter].items():
            tensors[f"optimiser/{key}/{name}"] = value
    return tensors


@torch.no_grad()
def restore(
    tensors: Mapping[str, Tensor],
    model: torch.nn.Module,
    optimiser: torch.optim.Optimizer,
    average: torch.nn.Module | None = None,
) -> None:
    """Copy the tensors of `state_tensors` into the objects in place, so that views stay valid."""
    model.load_state_dict(under("model/", tensors))
    if average is not None:
        average.load_state_dict(under("average/", tensors))
    parameters = dict(model.named_parameters())
    for name, tensor in under("optimiser/", tensors).items():
        key, _, owner = name.partition("/")
        if owner in parameters or tensor.numel():  # version 1.0 had parameters without elements
            optimiser.state[parameters[owner]][key].copy_(tensor)


def under(prefix: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Select the tensors whose names start with a prefix, and strip the prefix."""
    return {name.removeprefix(prefix): t for name, t in tensors.items() if name.startswith(prefix)}

"""A network in a folder: what `NTM.save_pretrained` writes and `NTM.from_pretrained` reads.

    config.json         {"format": "ntm-network-1", "config": {...}, "initialisation": {...}, ...}
    model.safetensors   the weights

A folder may come from an untrusted source. No code in it is run; see also `ntm.runs.weights`.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import MISSING, asdict, fields
from pathlib import Path
from typing import Any

import torch
from safetensors import torch as safetensors
from torch import Tensor

from ntm import checks
from ntm.common.fields import check_value
from ntm.common.files import parse_json, write_atomically
from ntm.config import Initialisation, NTMConfig
from ntm.engine import EngineName
from ntm.layer import NTM
from ntm.runs.weights import read_weights, require_fitting, shapes_of

FORMAT = "ntm-network-1"
_KEYS = {"format", "config", "initialisation", "batch_first", "backward_clip"}


def save(net: NTM, folder: str | Path) -> None:
    """Write a network to a folder, new or not; an older network there is replaced."""
    folder = Path(folder)
    weights = {name: tensor.detach().contiguous() for name, tensor in net.state_dict().items()}
    _require_savable(net, weights)
    _require_own(folder)
    folder.mkdir(parents=True, exist_ok=True)
    # Without config.json it is no network: an interrupted save never pairs old with new.
    (folder / "config.json").unlink(missing_ok=True)
    write_atomically(folder / "model.safetensors", safetensors.save(weights))
    text = json.dumps(_described(net), indent=2, allow_nan=False)
    write_atomically(folder / "config.json", text.encode())


def load(
    folder: str | Path, *, batch_first: bool | None = None, engine: EngineName = "auto"
) -> NTM:
    """The network in a folder; `batch_first` is as saved unless it is given."""
    folder = Path(folder)
    values = _read_json(folder)
    saved, clip = values["batch_first"], values["backward_clip"]
    with _errors_naming(folder / "config.json"):
        config: NTMConfig = _read_fields(NTMConfig, values["config"])
        initialisation = _read_fields(Initialisation, values["initialisation"])
        check_value("batch_first", saved, bool)
        check_value("backward_clip", clip, float | None, {"above": 0})
    weights = _read_weights(folder, config)
    net = _empty(config, initialisation)
    net.engine, net.backward_clip = engine, clip
    net.batch_first = saved if batch_first is None else batch_first
    dtype = weights["start.memory"].dtype
    net.to(dtype).to_empty(device="cpu").load_state_dict(weights)
    return net


def _described(net: NTM) -> dict[str, Any]:
    # The engine depends on the machine and is not saved.
    return {
        "format": FORMAT,
        "config": asdict(net.config),
        "initialisation": asdict(net.initialisation),
        "batch_first": bool(net.batch_first),
        "backward_clip": net.backward_clip,
    }


def _require_savable(net: NTM, weights: dict[str, Tensor]) -> None:
    if shapes_of(_empty(net.config).state_dict()) != shapes_of(weights):
        raise ValueError(
            "The network's modules were replaced or wrapped, and its config no longer describes "
            "it. Undo that before saving, or store net.state_dict() beside code of your own."
        )
    kinds = {tensor.dtype for tensor in weights.values()}
    if any(tensor.is_meta for tensor in weights.values()) or len(kinds) > 1:
        raise ValueError(
            "The network has no values (device meta) or parameters of several dtypes. Give it "
            "values, and convert it with net.to(dtype)."
        )
    checks.require_range(*kinds)


def _require_own(folder: Path) -> None:
    """Nothing but a saved network is ever overwritten; a run has a config.json too."""
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"{folder} is a file; name a folder to save the network to.")
    if not (folder / "config.json").exists():
        return
    try:
        _read_json(folder)
    except ValueError as error:
        raise ValueError(
            f"{folder} holds a config.json that is not of a saved network, a run's perhaps. Name "
            f"another folder."
        ) from error


def _read_json(folder: Path) -> dict[str, Any]:
    file = folder / "config.json"
    if not file.is_file():
        what = "has no config.json" if folder.is_dir() else "does not exist"
        raise FileNotFoundError(
            f"{folder} {what}. Name a folder that net.save_pretrained wrote, or a packaged "
            f"network (ntm.pretrained.names())."
        )
    try:
        values = parse_json(file.read_bytes(), strict=True)
    except ValueError as error:
        raise ValueError(f"{file} is torn: it is {error}.") from error
    if not isinstance(values, dict) or values.get("format") != FORMAT:
        raise ValueError(
            f"{file} is not in the format {FORMAT!r} that net.save_pretrained writes. A run's "
            f"network is loaded with ntm.runs.Run(folder).load_model()."
        )
    if values.keys() != _KEYS:
        raise ValueError(f"{file} must have the keys {_listed(_KEYS)}; got {_listed(values)}.")
    return values


@contextmanager
def _errors_naming(path: Path) -> Iterator[None]:
    """Within this, the message of a ValueError begins with the path."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


def _read_fields(kind: type, values: object) -> Any:
    known = {field.name for field in fields(kind)}
    required = {field.name for field in fields(kind) if field.default is MISSING}
    if not isinstance(values, dict) or not required <= values.keys() <= known:
        got = _listed(values) if isinstance(values, dict) else type(values).__name__
        raise ValueError(
            f"it must have the settings of {kind.__name__}, {_listed(known)}; got {got}."
        )
    return kind(**values)


def _read_weights(folder: Path, config: NTMConfig) -> dict[str, Tensor]:
    file = folder / "model.safetensors"
    if not file.is_file():
        raise FileNotFoundError(f"{file} does not exist; save the network again.")
    weights = read_weights(file)
    with _errors_naming(folder):
        require_fitting(weights, config, lambda: NTM.from_config(config))
    checks.require_range(weights["start.memory"].dtype)
    return weights


def _empty(config: NTMConfig, initialisation: Initialisation = Initialisation()) -> NTM:
    """A network without values: nothing is allocated, and no random number is drawn."""
    with torch.device("meta"):
        return NTM.from_config(config, initialisation)


def _listed(names: Any) -> str:
    return ", ".join(sorted(names))

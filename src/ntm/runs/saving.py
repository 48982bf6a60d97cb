"""Saved networks: folders that `save_pretrained` writes and `from_pretrained` reads.

    config.json         {"format": "ntm-network-1", "config": {...}, "initialisation": {...}, ...}
    model.safetensors   the weights

Format 2 also records the class of the network (NTM or LSTMBaseline), the name of the user's
subclass, if the network has one, and the task, if it is known. A network of class NTM itself that
has no task is written in format 1, which earlier versions can read.

A folder may come from an untrusted source. No code from it is run; see also `ntm.runs.weights`. The
class name is only compared, and the task name is only looked up among the registered tasks.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import MISSING, asdict, dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from ntm.common.fields import check_value
from ntm.common.files import parse_json, write_atomically
from ntm.common.text import first_line, unknown
from ntm.config import Initialisation, NTMConfig
from ntm.engine import EngineName
from ntm.layer import NTM, checks
from ntm.layer.rebuilding import difference, plain_defaults, unfilled
from ntm.models.lstm import LSTMBaseline, LSTMConfig, LSTMInitialisation
from ntm.runs.weights import dtype_of, read_fitting, shapes_of, write_weights
from ntm.tasks import TASKS, Examples, Task, make_task

FORMATS = ("ntm-network-1", "ntm-network-2")
_KEYS = {"format", "config", "initialisation", "batch_first", "backward_clip"}
_MORE_KEYS = {"network", "class", "task"}


class _Kind(NamedTuple):
    """A class of networks that can be saved, with its config classes."""

    network: Any
    config: type
    initialisation: type


_KINDS = {
    "NTM": _Kind(NTM, NTMConfig, Initialisation),
    "LSTMBaseline": _Kind(LSTMBaseline, LSTMConfig, LSTMInitialisation),
}


@dataclass(frozen=True)
class Saved:
    """Description of a network in files, before its weights are read."""

    place: Path
    """Folder of a saved network, or file of a packaged one."""
    weights: Path
    config: Any
    initialisation: Any
    batch_first: bool = False
    backward_clip: float | None = None
    network: str = "NTM"
    """NTM or LSTMBaseline."""
    subclass: str | None = None
    """Name of the saved subclass; None for the package's own class."""
    task: dict[str, Any] | None = None
    """Name and settings of the task, if recorded."""

    @property
    def kind(self) -> Any:
        """NTM or LSTMBaseline: the network's class, or the base class of a saved subclass."""
        return _KINDS[self.network].network

    def require(self, kind: type[nn.Module]) -> None:
        """Raise ValueError if the network cannot be loaded as this class."""
        own = [known.__name__ for known in kind.__mro__ if known is not self.kind]
        if issubclass(kind, self.kind) and (self.subclass is None or self.subclass in own):
            return
        saved = self.subclass or self.network
        raise ValueError(
            f"{self.place} is of the class {saved}, not {kind.__name__}; load it with "
            f"{saved}.from_pretrained."
        )

    def read_for(self, build: Callable[[], nn.Module]) -> dict[str, Tensor]:
        """Return the weights from the file; raise ValueError if they do not fit `build()`."""
        if not self.weights.is_file():
            raise FileNotFoundError(f"{self.weights} does not exist; save the network again.")
        with _errors_naming(self.place):
            weights = read_fitting(self.weights, self.config, build)
        checks.require_range(dtype_of(weights))
        return weights


def is_saved(folder: str | Path) -> bool:
    """Return whether `save_pretrained` wrote this folder; False for a run folder."""
    try:
        values = parse_json((Path(folder) / "config.json").read_bytes())
    except (OSError, ValueError):
        return False
    return isinstance(values, dict) and values.get("format") in FORMATS


def save(net: Any, folder: str | Path, task: Task | None = None) -> None:
    """Write a network to a folder; replace an older network there."""
    folder = Path(folder)
    weights = net.state_dict()
    described = _described(net, task)
    _require_savable(net, weights)
    _require_own(folder)
    folder.mkdir(parents=True, exist_ok=True)
    # Remove config.json first: an interrupted save must not pair an old config with new weights.
    (folder / "config.json").unlink(missing_ok=True)
    write_weights(folder / "model.safetensors", weights)
    text = json.dumps(described, indent=2, allow_nan=False)
    write_atomically(folder / "config.json", text.encode())


def load(
    kind: Any,
    saved: Saved,
    *,
    batch_first: bool | None = None,
    engine: EngineName = "auto",
    device: torch.device | str | None = None,
    dtype: torch.dtype | None = None,
) -> Any:
    """Load a network as an instance of `kind`.

    batch_first: order of the dimensions; None for the saved order (None).
    device, dtype: device and dtype of the parameters; None for the CPU and the saved dtype (None).
    """
    saved.require(kind)
    if dtype is not None:
        checks.require_range(dtype)
    order = saved.batch_first if batch_first is None else batch_first
    sizes, others = (saved.config, saved.initialisation), {"batch_first": order, "engine": engine}
    build = partial(kind.from_config, *sizes, **others)
    net = _filled(kind, build, saved.read_for(partial(kind.from_config, *sizes)))
    if isinstance(net, NTM):
        net.backward_clip = saved.backward_clip
    return net.to(device=device, dtype=dtype)


def _filled(kind: type, build: Callable[[], Any], weights: dict[str, Tensor]) -> Any:
    """Build a network on the CPU, with weights that fit and their dtype."""
    if any(kind is known.network for known in _KINDS.values()):
        net = unfilled(build)
        own = {name: tensor.clone() for name, tensor in weights.items()}  # not the file's memory
        net.load_state_dict(own, assign=True)
        return net
    try:  # a subclass may have values that are not in the file
        with plain_defaults():
            net = build()
    except RuntimeError as error:
        raise ValueError(f"The network cannot be built: {first_line(error)}.") from error
    net.to(dtype_of(weights)).load_state_dict(weights)
    return net


def read(folder: str | Path) -> Saved:
    """Read the config.json of a folder; raise ValueError or FileNotFoundError if it is wrong."""
    folder = Path(folder)
    values = {"network": "NTM", "class": None, "task": None, **_read_json(folder)}
    with _errors_naming(folder / "config.json"):
        check_value("network", values["network"], str, {"choices": lambda: list(_KINDS)})
        check_value("class", values["class"], str | None)
        check_value("batch_first", values["batch_first"], bool)
        check_value("backward_clip", values["backward_clip"], float | None, {"above": 0})
        if not isinstance(values["task"], dict | None):
            raise ValueError(f"task must be settings by name or null, got {values['task']!r}.")
        kind = _KINDS[values["network"]]
        config = _read_fields(kind.config, values["config"])
        initialisation = _read_fields(kind.initialisation, values["initialisation"])
    sizes = (config, initialisation, values["batch_first"], values["backward_clip"])
    known = (values["network"], values["class"], values["task"])
    return Saved(folder, folder / "model.safetensors", *sizes, *known)


def recorded_task(saved: Saved) -> Task | None:
    """Return the recorded task, or None; raise ValueError if the task is not registered."""
    if saved.task is None:
        return None
    values = {k: tuple(v) if isinstance(v, list) else v for k, v in saved.task.items()}
    with _errors_naming(saved.place / "config.json"):
        name = values.pop("name", None)
        if name not in [*TASKS, Examples.name]:  # a name that ends in .py would be imported
            raise ValueError(unknown("task", str(name), TASKS))
        return make_task(name, **values)


def _described(net: Any, task: Task | None) -> dict[str, Any]:
    # The engine is not saved: it depends on the machine.
    base = next(name for name, kind in _KINDS.items() if isinstance(net, kind.network))
    subclass = None if type(net) is _KINDS[base].network else type(net).__name__
    values = {
        "format": FORMATS[0],
        "config": asdict(net.config),
        "initialisation": asdict(net.initialisation),
        "batch_first": bool(net.batch_first),
        "backward_clip": getattr(net, "backward_clip", None),
    }
    if base == "NTM" and subclass is None and task is None:
        return values
    _require_fitting_task(net, task)
    told = None if task is None else {"name": task.name, **asdict(task)}
    return values | {"format": FORMATS[1], "network": base, "class": subclass, "task": told}


def _require_fitting_task(net: Any, task: Task | None) -> None:
    sizes = (net.config.input_size, net.config.output_size)
    if task is not None and (task.input_size, task.output_size) != sizes:
        raise ValueError(
            f"task has {task.input_size} inputs and {task.output_size} outputs, but the network "
            f"has {sizes[0]} and {sizes[1]}; give the task that it performs."
        )


def _require_savable(net: Any, weights: dict[str, Tensor]) -> None:
    try:
        fresh = unfilled(lambda: type(net).from_config(net.config, net.initialisation))
    except RuntimeError as error:
        raise ValueError(
            f"{type(net).__name__} cannot be built on the meta device, where a folder is checked: "
            f"{first_line(error)}. Compute with numbers in its __init__, not with tensors."
        ) from error
    if shapes_of(fresh.state_dict()) != shapes_of(weights):
        raise ValueError(
            "The network's modules were replaced or wrapped, and its config no longer describes "
            "it. Undo this before saving, or store net.state_dict() with your own code."
        )
    if found := difference(net, fresh):
        raise ValueError(
            f"{found}, which a folder cannot restore. Undo this change before saving, move it into "
            f"the __init__ of a subclass, or register the value as a buffer."
        )
    _require_one_dtype(weights)


def _require_one_dtype(weights: dict[str, Tensor]) -> None:
    kinds = {tensor.dtype for tensor in weights.values() if tensor.is_floating_point()}
    if any(tensor.is_meta for tensor in weights.values()) or len(kinds) > 1:
        raise ValueError(
            "The network has no values (device meta) or parameters of several dtypes. Give it "
            "values, and convert it with net.to(dtype)."
        )
    checks.require_range(*kinds)


def _require_own(folder: Path) -> None:
    """Raise ValueError if saving would overwrite a config.json that is not of a saved network."""
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
    if folder.is_file():
        raise FileNotFoundError(f"{folder} is a file; name its folder, {folder.parent}.")
    if not file.is_file():
        what = "has no config.json" if folder.is_dir() else "does not exist"
        raise FileNotFoundError(
            f"{folder} {what}. Name a folder that net.save_pretrained wrote, or a packaged "
            f"network (ntm.pretrained.names())."
        )
    try:
        values = parse_json(file.read_bytes(), strict=True)
    except ValueError as error:
        raise ValueError(f"{file} is damaged: it is {error}.") from error
    if not isinstance(values, dict) or values.get("format") not in FORMATS:
        raise ValueError(
            f"{file} is not in the format {FORMATS[0]!r} or {FORMATS[1]!r} that "
            f"net.save_pretrained writes. A run's network is loaded with "
            f"ntm.runs.Run(folder).load_model()."
        )
    keys = _KEYS if values["format"] == FORMATS[0] else _KEYS | _MORE_KEYS
    if values.keys() != keys:
        raise ValueError(f"{file} must have the keys {_listed(keys)}; got {_listed(values)}.")
    return values


@contextmanager
def _errors_naming(path: Path) -> Iterator[None]:
    """Prefix the messages of ValueErrors raised in this context with the path."""
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


def _listed(names: Any) -> str:
    return ", ".join(sorted(names))

"""Run folders: all data of one training run, readable without this program.

    config.json         the settings; "format": 2
    metrics.jsonl       {"sequences": 1000, "bits": 12.3, "seconds": 4.5, ...} per report
    model.safetensors   the newest weights
    best.safetensors    the weights with the lowest validation cost
    checkpoint/         everything needed to resume bit for bit
    tensorboard/        event files, if tensorboard is installed

Files are replaced atomically.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Literal

from ntm.common.files import parse_json, remove_leftovers, write_atomically
from ntm.common.registry import source_of
from ntm.models.family import Model
from ntm.runs.building import build_here, full_size
from ntm.runs.errors import FolderError, RunError
from ntm.runs.facts import Facts
from ntm.runs.settings import FORMAT, READABLE, SECTIONS, Settings
from ntm.runs.weights import Tensors, read_fitting, read_metadata, read_weights, write_weights

Weights = Literal["best", "latest"]

FILES = (
    *("config.json", "metrics.jsonl", "model.safetensors", "best.safetensors"),
    *("checkpoint", "tensorboard", ".lock"),
)
"""Names of the files and folders that a run writes into its folder."""


class Run:
    """An existing run folder. `Run.create` makes a folder, `Run(path)` opens one."""

    def __init__(self, path: str | Path) -> None:
        self._place(Path(path))
        self.settings = _read_settings(self.path / "config.json")

    def _place(self, path: Path) -> None:
        self.path = path
        self.metrics = self.path / "metrics.jsonl"
        self.checkpoints = self.path / "checkpoint"
        self.tensorboard = self.path / "tensorboard"

    @classmethod
    def create(cls, path: str | Path, settings: Settings) -> "Run":
        """Create a run folder with its config.json; raise FolderError if it already holds a run."""
        path = Path(path)
        if cls.exists(path):
            raise FolderError(
                f"{path} holds a run already; resume it (--resume) or name another folder (--run)."
            )
        path.mkdir(parents=True, exist_ok=True)
        _write_settings(path / "config.json", settings)
        return cls(path)

    @staticmethod
    def exists(path: str | Path) -> bool:
        """Return whether a folder holds a run."""
        return (Path(path) / "config.json").exists()

    def change_settings(self, settings: Settings) -> None:
        """Replace the settings, for example to train for longer."""
        if settings == self.settings:
            return
        _write_settings(self.path / "config.json", settings)
        self.settings = settings

    def weights_file(self, weights: Weights) -> Path:
        """Return the path of the best or the latest weights."""
        return self.path / ("best.safetensors" if weights == "best" else "model.safetensors")

    def facts(self, weights: Weights) -> Facts:
        """Return the metadata of the best or the latest weights; empty if there are none yet."""
        file = self.weights_file(weights)
        if not file.exists():
            return {}
        try:
            return read_metadata(file)
        except ValueError as error:
            raise RunError(f"{file} does not hold the weights of a run: {error}") from error

    def save_weights(self, weights: Weights, model: Model, facts: Mapping[str, Any]) -> None:
        """Write the weights, with a few facts about them in the file's metadata.

        model: the network of the run, with its full memory or the memory used in training.
        """
        whole = full_size(model, self.settings).state_dict()
        write_weights(self.weights_file(weights), whole, dict(facts))

    def load_model(self, weights: Weights | None = None) -> tuple[Model, dict[str, Any]]:
        """Load the trained network and the metadata of its weights.

        The network is on the device of the run, or on the CPU if this machine lacks that device.

        weights: "best", "latest", or None for the best if there are any, else the latest (None).
        """
        chosen = weights or ("best" if self.weights_file("best").exists() else "latest")
        file = self.weights_file(chosen)
        if not file.exists():
            other = ", or ask for other weights" if weights else ""
            raise RunError(f"{file} does not exist yet; train longer{other}.")
        try:
            tensors, facts = _read_own(file, self.settings), read_metadata(file)
            model = build_here(self.settings)
            model.load_state_dict(tensors)
        except (RuntimeError, ValueError) as error:
            reason = str(error).rstrip(".")
            raise RunError(f"{file} does not hold the weights of this run: {reason}.") from error
        return model, {"weights": chosen, **facts}

    def locked(self) -> AbstractContextManager[None]:
        """Lock the folder for this process, if the system has file locks."""
        return locked(self.path)


@contextmanager
def locked(path: str | Path) -> Iterator[None]:
    """Lock the folder of a run for this process; create the folder if necessary."""
    path = Path(path)
    path.mkdir(parents=True, exist_ok=True)
    try:
        import fcntl
    except ImportError:
        yield
        return
    with (path / ".lock").open("wb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise RunError(f"{path} is being trained by another process.") from error
        except OSError:
            pass  # a file system without locks, such as some network drives
        remove_leftovers(path)
        yield


def _read_own(file: Path, settings: Settings) -> Tensors:
    family = settings.family
    if source_of(family) is not None:  # code from outside the package is trusted anyway
        return read_weights(file)
    build = partial(family.build, settings.model, settings.initialisation, "auto")
    return read_fitting(file, settings.model, build)


# Settings that may change on resume: none of them affects the computed numbers.
_MAY_CHANGE = {
    "training.sequences",
    "training.checkpoint_seconds",
    "training.picture_seconds",
    "training.stop_after_seconds",
}


def create_or_resume(path: str | Path, settings: Settings, resume: bool) -> Run:
    """Create the folder of a run or, on resume, open the existing folder.

    A run must resume with its original settings; only its length, time limit and intervals in
    seconds may change.
    """
    if not (resume and Run.exists(path)):
        return Run.create(path, settings)
    run = Run(path)
    before, after = run.settings.flat(), settings.flat()
    for key in before:
        if before[key] != after.get(key) and key not in _MAY_CHANGE:
            raise FolderError(
                f"{key} is {before[key]!r} in {path} and {after.get(key)!r} now; "
                f"resume with the same settings, or choose another folder."
            )
    return run


def run_name(settings: Settings) -> str:
    """Return the default folder name of a run, such as copy-ntm-ff-0."""
    return f"{settings.task.label}-{settings.model_name}-{settings.training.seed}"


def find_runs(folders: Iterable[str | Path]) -> list[Run]:
    """Open all runs in the given folders; each is a run folder or contains run folders."""
    return [Run(path) for folder in folders for path in run_folders(folder)]


def run_folders(folder: str | Path) -> list[Path]:
    """Return the folder itself if it is a run, else the run folders inside it."""
    folder = Path(folder)
    require_folder(folder)
    inside = sorted(file.parent for file in folder.glob("*/config.json"))
    found = [folder] if Run.exists(folder) else inside
    if not found:
        raise FolderError(f"{folder} is not a run folder, and no run is in it.")
    return found


def require_folder(path: Path) -> None:
    """Raise FolderError if a path does not exist or is a file."""
    if not path.is_dir():
        raise FolderError(
            f"{path} is not a folder." if path.exists() else f"There is no folder {path}."
        )


def _read_settings(file: Path) -> Settings:
    try:
        data = parse_json(file.read_bytes())
    except (FileNotFoundError, NotADirectoryError) as error:
        require_folder(file.parent)
        raise FolderError(f"{file.parent} is not a run folder: it has no config.json.") from error
    except ValueError as error:
        raise RunError(f"{file} is {error}.") from error
    if not isinstance(data, dict) or "format" not in data:
        raise RunError(f"{file} is not the config.json of a run.")
    if str(data["format"]).startswith("ntm-network-"):
        raise FolderError(
            f"{file.parent} holds a saved network, not a run; NTM.from_pretrained loads it, and "
            f"ntm eval, trace, analyse, figures, studio and train --from take it."
        )
    if data["format"] not in READABLE:
        known = " and ".join(map(str, READABLE))
        raise RunError(f"{file} has the format {data['format']!r}; this version reads {known}.")
    try:
        sections = {name: data[name] for name in SECTIONS if name in data}
        return Settings.from_json(sections, data["format"])
    except (TypeError, ValueError) as error:
        raise RunError(f"{file} cannot be used: {str(error).rstrip('.')}.") from error


def _write_settings(file: Path, settings: Settings) -> None:
    from ntm import __version__

    data = {"format": FORMAT, "version": __version__, **settings.to_json()}
    write_atomically(file, json.dumps(data, indent=2).encode() + b"\n")

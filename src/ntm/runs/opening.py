"""Run folders, saved networks and packaged networks by name, as in `ntm eval copy-ff`."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from torch import Tensor

from ntm.common.text import unknown
from ntm.layer.rebuilding import plain_defaults
from ntm.models import Family, Model, family_of
from ntm.runs import packaged, saving
from ntm.runs.errors import FolderError, RunError
from ntm.runs.facts import Facts
from ntm.runs.folder import Run, Weights, run_folders
from ntm.runs.settings import Settings
from ntm.tasks import Task


class PackagedRun(Run):
    """A packaged network as a run without a learning curve."""

    def __init__(self, name: str) -> None:
        self._place(Path(packaged.FOLDER, name))
        self._card = packaged.facts(name)
        self.settings = self._card.settings

    def load_model(self, weights: Weights | None = None) -> tuple[Model, Facts]:
        """Return the network with its only weights, the best of the run, and their metadata."""
        name = self.path.name
        if weights == "latest":
            raise FolderError(f"{name} has only its best weights; leave --latest out.")
        known = {"weights": "best", "sequences": self._card.trained_sequences}
        return packaged.load(name), known


class SavedRun(Run):
    """A network of `save_pretrained` as a run without a learning curve.

    task: task of the network; None for the task recorded in the folder (None).
    family: family that builds the network, for a class from outside the package (None).
    """

    def __init__(
        self, path: str | Path, task: Task | None = None, family: Family | None = None
    ) -> None:
        self._place(Path(path))
        self._found = found = find_network(path, family)
        sizes = {"model": found.config, "initialisation": found.initialisation}
        task = task or _recorded_task(path)
        try:
            self.settings = Settings(task, **sizes, model_name=found.family.name)
        except ValueError as error:
            raise FolderError(str(error)) from error

    def load_model(self, weights: Weights | None = None) -> tuple[Model, Facts]:
        """Return the network and metadata; weights are float32, inputs (time, batch, channel)."""
        if weights == "latest":
            raise FolderError(f"{self.path} has one set of weights; leave --latest out.")
        return self._found.load(), {"weights": "saved"}


def _recorded_task(path: str | Path) -> Task:
    with _failing(path):
        task = saving.recorded_task(saving.read(path))
    if task is None:
        raise FolderError(
            f"{path} does not say which task its network performs; name it, such as --task copy."
        )
    return task


@contextmanager
def _failing(folder: str | Path) -> Iterator[None]:
    """Turn errors about the files of a folder into a RunError that names the folder."""
    try:
        yield
    except (TypeError, ValueError, RuntimeError, FileNotFoundError) as error:
        reason = str(error).rstrip(".")
        told = reason if str(folder) in reason else f"{folder} cannot be used: {reason}"
        raise RunError(f"{told}.") from error


def open_run(name: str | Path, task: Task | None = None, family: Family | None = None) -> Run:
    """Open a run folder, a saved network or, if there is no such folder, a packaged network.

    task, family: as in `SavedRun`; only for saved networks (None).
    """
    if saving.is_saved(name):
        return SavedRun(name, task, family)
    if task is not None or family is not None:
        raise FolderError(f"{name} has its task and model; leave --task and --model out.")
    if str(name) in packaged.names() and not Run.exists(name):
        return PackagedRun(str(name))
    if Path(name).name == str(name) and not Path(name).exists():
        raise FolderError(unknown("folder or packaged network", str(name), packaged.names()))
    return Run(name)


def open_runs(
    names: Iterable[str | Path], task: Task | None = None, family: Family | None = None
) -> list[Run]:
    """Open all runs in the given folders, and packaged networks by name.

    names: run folders, folders of run folders, saved networks and packaged networks.
    task, family: as in `SavedRun`, for the saved networks (None).
    """
    folders: list[str | Path] = []
    for name in names:
        folders += run_folders(name) if Path(name).is_dir() else [name]
    return [
        open_run(name, task, family) if saving.is_saved(name) else open_run(name)
        for name in folders
    ]


def fine_tuned(settings: Settings, network: str | Path, family: Family | None = None) -> Settings:
    """Return settings of a run that starts from the weights of a trained network.

        settings = fine_tuned(settings_for("copy").with_(task={"max_length": 40}), "copy-ff")

    network: run folder, folder of `save_pretrained` or packaged network. The new run takes the
        sizes of this network, and has one start.
    family: family that builds a saved network of a class from outside the package (None).
    """
    found = find_network(network, family)
    training = replace(settings.training, start_from=str(network), starts=1, memory_locations=None)
    sizes = {"model": found.config, "initialisation": found.initialisation}
    return replace(settings, training=training, **sizes, model_name=found.family.name)


def start_weights(settings: Settings) -> dict[str, Tensor]:
    """Load the weights from which a run starts; raise FolderError if the sizes differ."""
    name = str(settings.training.start_from)
    found = find_network(name, settings.family)
    for key, value in vars(settings.model).items():
        if getattr(found.config, key, None) != value:
            raise FolderError(
                f"model.{key} is {value!r}, but {name}, which the run starts from, has "
                f"{getattr(found.config, key, None)!r}; leave the model's sizes out."
            )
    return found.load().state_dict()


class FoundNetwork(NamedTuple):
    """A network of a run, a saved network or a packaged network, without its task."""

    family: Family
    config: Any
    initialisation: Any
    load: Callable[[], Model]


def find_network(name: str | Path, family: Family | None = None) -> FoundNetwork:
    """Find a network without loading its weights.

    name: run folder, folder of a saved network, or name of a packaged network.
    family: family that the network must have; needed for families outside the package (None).
    """
    if saving.is_saved(name):
        return _find_saved(name, family)
    run = open_run(name)
    settings = run.settings
    if family is not None and settings.model_name != family.name:
        raise _another_family(name, settings.model_name, family)
    sizes = (settings.model, settings.initialisation)
    return FoundNetwork(settings.family, *sizes, lambda: run.load_model()[0])


def _find_saved(path: str | Path, family: Family | None) -> FoundNetwork:
    with _failing(path):
        saved = saving.read(path)
    if family is None and saved.subclass is not None:
        raise FolderError(
            f"{path} holds a {saved.subclass}, a class of your own; name the family that builds "
            f"it, --model NAME or FILE, or load it with {saved.subclass}.from_pretrained in Python."
        )
    usual = family_of(saved.config)
    family = family or usual
    if not issubclass(family.config, type(saved.config)):
        raise _another_family(path, usual.name, family)
    with _failing(path):
        config = family.config(**asdict(saved.config))
    build = partial(family.build, config, saved.initialisation, "auto")
    return FoundNetwork(family, config, saved.initialisation, partial(_load_saved, saved, build))


def _load_saved(saved: saving.Saved, build: Callable[[], Model]) -> Model:
    """Build a saved network with its weights, in float32 on the CPU."""
    with _failing(saved.place):
        weights = saved.read_for(build)
        with plain_defaults():
            model = build()
        saved.require(type(model))
        model.load_state_dict(weights)
    return model


def _another_family(name: str | Path, found: str, family: Family) -> FolderError:
    return FolderError(f"The model of {name} is {found}, not {family.name}; leave --model out.")

"""Networks that the page can run: packaged, untrained, saved, and from the folder of runs."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from ntm import pretrained
from ntm.evaluation import resized
from ntm.models.family import Model
from ntm.paper import case_name, paper_settings
from ntm.runs import FolderError, Run, RunError, Settings, build_model, packaged
from ntm.runs.weights import read_metadata
from ntm.studio import typed
from ntm.studio.documents import Document, trace_document
from ntm.studio.errors import RefusedError, require_few
from ntm.studio.folder import Cache, RunsFolder
from ntm.studio.problems import MAX_STEPS, Problem, drawable, encode, example, form, sizes_of
from ntm.studio.tracing import traced
from ntm.tasks import Examples, Task

MAX_LOCATIONS = 1024
# Numbers in a document: 32 MB.
MAX_VALUES = 8_000_000
MAX_HEADS = 256
_MAX_LAYERS = 32  # each layer stores its state of every step
# Parameters of the largest network that a config in the folder can make this process build.
_MAX_PARAMETERS = 10_000_000
# Multiplications for a whole problem: about half a second of work.
_MAX_PRODUCTS = 3_000_000_000
_MODELS_KEPT = 3


@dataclass(frozen=True)
class Network:
    """Network that the page lists, with a function that loads it."""

    id: str
    title: str
    settings: Settings
    sequences: int | None
    bits: float | None
    load: Callable[[], Model]

    @property
    def task(self) -> Task:
        """Task that the network was trained on, with its settings."""
        return self.settings.task

    def to_json(self) -> dict[str, Any]:
        """Return the network's entry in the listing."""
        locations = _locations(self.settings)
        most = None if locations is None else max(MAX_LOCATIONS, locations)
        return {
            "id": self.id,
            "title": self.title,
            "task": self.task.name,
            "model": self.settings.model_name,
            "sequences": self.sequences,
            "bits": self.bits,
            "memory_locations": locations,
            "limits": {
                "max_steps": MAX_STEPS,
                "max_locations": most,
                "max_location_steps": None if locations is None else _location_steps(self.settings),
            },
            "problem": form(self.task),
        }


class Networks:
    """All networks; ids are "pretrained:NAME", "run:NAME", "saved:NAME" and "untrained:TASK".

    saved: networks from any folder that the user named when starting the studio.
    """

    def __init__(self, folder: RunsFolder, saved: Sequence[Run] = ()) -> None:
        self._folder = folder
        self._saved = {run.path.resolve().name: _of_saved(run) for run in saved}
        self._facts: Cache[dict[str, Any]] = Cache()
        self._models: Cache[Model] = Cache(_MODELS_KEPT)

    def listing(self) -> list[dict[str, Any]]:
        """Return the entries of all networks; runs without usable weights are left out."""
        published = [self._pretrained(name) for name in pretrained.names()]
        tasks = drawable()
        published.sort(key=lambda network: tasks.index(network.task.name))
        found: list[Network | None] = [*self._saved.values(), *published]
        runs = self._folder.runs()
        found += [self._of_run(name, run) for name, run in runs if isinstance(run, Run)]
        found += [_untrained(task) for task in tasks]
        return [network.to_json() for network in found if network is not None]

    def find(self, network_id: str) -> Network:
        """Return the network with this id; raise RefusedError if there is none."""
        kind, _, name = network_id.partition(":")
        network = None
        if kind == "pretrained" and name in pretrained.names():
            network = self._pretrained(name)
        elif kind == "run":
            network = self._of_run(name, self._folder.run(name))
        elif kind == "saved":
            network = self._saved.get(name)
        elif kind == "untrained" and name in drawable():
            network = _untrained(name)
        if network is None:
            raise RefusedError(404, "There is no network of that id; GET /api/networks lists them.")
        return network

    def example(self, network_id: str, sizes: Mapping[str, int], seed: int) -> Problem:
        """Return a random problem for a network."""
        task = self.find(network_id).task
        if isinstance(task, Examples):
            return typed.example(task, seed)
        return example(task, sizes, seed)

    def trace(self, network_id: str, problem: Problem, locations: int | None) -> Document:
        """Run a network on a drawn problem and return the document of the trace.

        locations: number of memory locations (None: as trained).
        """
        network = self.find(network_id)
        posed = _posed(problem, network.task)
        _require_room(network.settings, posed.steps, locations)
        try:
            model = resized(network.load(), locations)
        except RunError as error:
            sentence = f"The weights of {network.title} are damaged or do not fit its config.json."
            raise RefusedError(422, sentence) from error
        except ValueError as error:
            raise RefusedError(422, str(error)) from error
        document = trace_document(posed.record(model, f"{network.title}, {posed.title}"))
        # The hint tells what a trained network does.
        return document | {"hint": None} if network.sequences == 0 else document

    def _pretrained(self, name: str) -> Network:
        facts, file = pretrained.facts(name), packaged.FOLDER / f"{name}.safetensors"
        return Network(
            id=f"pretrained:{name}",
            title=name,
            settings=facts.settings,
            sequences=facts.trained_sequences,
            bits=facts.mean_bits,
            load=lambda: self._models.get(file, lambda: pretrained.load(name)),
        )

    def _of_run(self, name: str, run: Run) -> Network | None:
        """Return the network of a run; None if the run has no weights that the studio can use."""
        files = (self._folder.file(name, f"{kind}.safetensors") for kind in ("best", "model"))
        file = next((file for file in files if file is not None), None)
        if file is None or not _is_drawable(run.settings):
            return None
        facts = self._facts.get(file, lambda: _facts(file, run.settings))
        if not facts:
            return None
        return Network(
            id=f"run:{name}",
            title=name,
            settings=run.settings,
            sequences=facts["sequences"],
            bits=facts["bits"],
            load=lambda: self._models.get(file, lambda: _loaded(run, file)),
        )


def _posed(problem: Problem, task: Task) -> typed.Posed:
    """Return a drawn or typed problem, ready to run."""
    if isinstance(task, Examples):
        return typed.posed(problem, task)
    batch = encode(problem, task)
    return typed.Posed(
        len(batch.inputs),
        case_name(sizes_of(problem, task)),
        lambda model, title: traced(model, batch, task, title),
    )


def _of_saved(run: Run) -> Network:
    """Return a saved network; raise FolderError if the studio cannot draw or run its problems."""
    name, settings = run.path.resolve().name, run.settings
    if not _is_drawable(settings) or settings.family.footprint(settings.model) is None:
        raise FolderError(
            f"The studio cannot draw problems of {settings.task.name} for {name}; use ntm trace to "
            f"see the network at work."
        )
    model = run.load_model()[0]
    return Network(f"saved:{name}", name, settings, None, None, lambda: model)


@lru_cache
def _untrained(task: str) -> Network:
    """Return the paper's network for a task, before training."""
    return Network(
        id=f"untrained:{task}",
        title=f"{task}, untrained",
        settings=paper_settings(task),
        sequences=0,
        bits=None,
        load=lambda: _build_untrained(task),
    )


@lru_cache(_MODELS_KEPT)
def _build_untrained(task: str) -> Model:
    return build_model(paper_settings(task))


def _facts(file: Path, settings: Settings) -> dict[str, Any]:
    """Return the number of training sequences and the validation cost of a file of weights.

    Return an empty dict if the file is unusable, or if the network is too large or of unknown
    size. The studio shows the learning curve of such a network, but does not run it.
    """
    size = settings.family.footprint(settings.model)
    if size is None or max(size.parameters, file.stat().st_size // 8) > _MAX_PARAMETERS:
        return {}
    try:
        known = read_metadata(file)
        bits = known.get("validation_bits", math.nan)
        return {"sequences": known["sequences"], "bits": bits if math.isfinite(bits) else None}
    except Exception:  # a broken foreign file must not hide the other networks
        return {}


def _loaded(run: Run, file: Path) -> Model:
    """Return the network of a run with the weights of a file, on the CPU."""
    here = Run(run.path)
    here.settings = here.settings.with_text({"training.device": "cpu", "training.engine": "auto"})
    return here.load_model("best" if file.stem == "best" else "latest")[0]


def _is_drawable(settings: Settings) -> bool:
    """Return whether problems of this task can be drawn."""
    return bool(settings.task.parts) and all(
        size["min"] <= size["max"] for size in form(settings.task)["sizes"].values()
    )


def _locations(settings: Settings) -> int | None:
    """Return the number of memory locations; None if the memory cannot grow."""
    grows = settings.family.capabilities.grows
    return settings.family.describe(settings.model).locations if grows else None


def _location_steps(settings: Settings) -> int:
    """Return the product of locations and steps up to which a problem can be shown."""
    footprints = [settings.family.footprint(settings.model, locations) for locations in (1, 2)]
    one, two = (0 if size is None else size.values for size in footprints)
    per_location = max(two - one, 1)
    return (MAX_VALUES - MAX_STEPS * max(one - per_location, 0)) // per_location


def _require_room(settings: Settings, steps: int, locations: int | None) -> None:
    """Raise RefusedError if a problem would take too long or be too large to show."""
    trained = settings.family.describe(settings.model).locations
    if locations and trained and locations > (most := max(MAX_LOCATIONS, trained)):
        raise RefusedError(422, f"memory_locations is {locations}; give at most {most}.")
    size = settings.family.footprint(settings.model, locations)
    assert size is not None  # networks of unknown size are not listed
    require_few(size.layers, _MAX_LAYERS, "layers")
    if steps * (size.parameters + size.products) > _MAX_PRODUCTS:
        raise RefusedError(
            422, f"{steps:,} steps of a network of this size take too long; give a shorter problem."
        )
    require_few(size.heads, MAX_HEADS, "heads")
    if (values := steps * size.values) > MAX_VALUES:
        raise RefusedError(
            422,
            f"{steps:,} steps of a memory of {locations or trained:,} locations are {values:,} "
            f"numbers; the studio shows up to {MAX_VALUES:,}. Give a shorter problem or a smaller "
            f"memory.",
        )

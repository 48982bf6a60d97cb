"""Networks that come with the package: one file each, with weights and, as metadata, a card."""

from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from ntm.common.lazy import later
from ntm.common.text import unknown
from ntm.engine import EngineName
from ntm.layer import NTM
from ntm.runs import hub, saving
from ntm.runs.facts import Facts
from ntm.runs.settings import FORMAT, Settings
from ntm.runs.weights import read_metadata

Net = TypeVar("Net", bound=NTM)
FOLDER = Path(__file__).parents[1] / "pretrained"
SEQUENCES, SEED = 1000, 1_000_003
"""Number and seed of the fresh sequences on which each published cost was measured."""


class Ability(NamedTuple):
    """Measured results of a network on problems of one size."""

    at: dict[str, int]
    """Sizes of the problems, such as {"length": 120}; empty for the trained range."""
    memory_locations: int
    """Number of memory locations, which may be larger than in training."""
    sequences: int
    """Number of problems measured."""
    bits: float
    """Mean cost per sequence; if the optimum is known, the cost above the optimum."""
    perfect: float
    """Share of the problems without a wrong bit."""


class Card(NamedTuple):
    """Settings and measured costs of a packaged network."""

    settings: Settings
    """Settings of the run that trained the network, including the task."""
    trained_sequences: int
    """Number of sequences on which these weights were trained."""
    validation_bits: float
    """Validation cost of these weights in the trained range."""
    mean_bits: float
    """Mean cost of `SEQUENCES` fresh sequences, sampled with the seed `SEED`."""
    abilities: tuple[Ability, ...] = ()
    """Measurements within the trained range and beyond it."""
    made_by: str = ""
    """Commands that train the network; empty if they follow from the settings."""

    @property
    def command(self) -> str:
        """Command that trains the network, or several commands, joined by &&."""
        if self.made_by:
            return self.made_by
        # Imported late: the command's defaults belong to a higher layer.
        command: str = later("ntm.report.groups:command_of")(self.settings)
        return command

    def to_json(self) -> Facts:
        """Return the card as facts for the metadata of a file."""
        abilities = [ability._asdict() for ability in self.abilities]
        settings = {"format": FORMAT, "settings": self.settings.to_json()}
        return self._asdict() | settings | {"abilities": abilities}

    def __repr__(self) -> str:
        """Return one line with task, network, sequences, costs and the number of measurements."""
        shown: dict[str, Any] = {"task": self.settings.task, "model": self.settings.model}
        shown["trained_sequences"] = self.trained_sequences
        for name in ("validation_bits", "mean_bits"):
            shown[name] = float(f"{getattr(self, name):.4g}")
        shown["abilities"] = len(self.abilities)
        return f"Card({', '.join(f'{name}={value!r}' for name, value in shown.items())})"


def names() -> list[str]:
    """Return the names for `load` and `facts`: TASK-ff or TASK-lstm, by controller."""
    return sorted(file.stem for file in FOLDER.glob("*.safetensors"))


def is_packaged(name: str | Path) -> bool:
    """Return whether a name is a packaged network; otherwise the name is a folder.

    A Path, or text with a separator, is always a folder. If a name is a packaged network and also a
    folder, raise ValueError: the current directory must not decide which network is loaded.
    """
    if isinstance(name, Path):
        return False
    if name in names():
        if Path(name, "config.json").exists():
            raise ValueError(
                f"{name!r} is a packaged network and also a folder here. Write './{name}' for the "
                f"folder, or ntm.pretrained.load({name!r}) for the packaged one."
            )
        return True
    if Path(name).exists() or Path(name).name != name:
        return False
    known = unknown("packaged network", name, names())
    raise ValueError(f"{known} Nor is there a folder {name!r} that net.save_pretrained wrote.")


def load(name: str, *, batch_first: bool = False, engine: EngineName = "auto") -> NTM:
    """Load a packaged network, to run or train further; `NTM.from_pretrained` has more options."""
    return load_as(NTM, name, batch_first=batch_first, engine=engine)


def load_as(kind: type[Net], name: str, *, batch_first: bool = False, **chosen: Any) -> Net:
    """Load a packaged network as an NTM, or as a subclass that has no additional parameters.

    chosen: engine, device and dtype, as in `NTM.from_pretrained`.
    """
    file, run = _file(name), settings(name)
    saved = saving.Saved(file, file, run.model, run.initialisation)
    net: Net = saving.load(kind, saved, batch_first=batch_first, **chosen)
    return net


def load_network(
    kind: Any,
    name: str | Path,
    revision: str | None = None,
    *,
    batch_first: bool | None = None,
    **chosen: Any,
) -> Any:
    """Load a packaged network, a folder or a network on the hub as an instance of `kind`.

    kind: class of networks to load as.
    name: name of a packaged network, a folder, or a repository on the Hugging Face hub.
    revision: branch, tag or commit on the hub (None: the main branch).
    batch_first: order of the dimensions; None for the saved order (None).
    chosen: engine, device and dtype, as in `NTM.from_pretrained`.
    """
    if not issubclass(kind, NTM):
        if str(name) in names() and not Path(name).exists():
            raise ValueError(f"{name} is an NTM; load it with NTM.from_pretrained.")
    elif is_packaged(name):
        return load_as(kind, str(name), batch_first=bool(batch_first), **chosen)
    saved = saving.read(hub.folder_of(name, revision))
    return saving.load(kind, saved, batch_first=batch_first, **chosen)


def facts(name: str) -> Card:
    """Return the settings and costs of a packaged network."""
    return read_facts(_file(name))


def read_facts(file: Path) -> Card:
    """Read settings and costs from a file that `publish` wrote."""
    values = read_metadata(file)
    values["settings"] = Settings.from_json(values["settings"], values.get("format", 1))
    values["abilities"] = tuple(Ability(**some) for some in values.get("abilities", ()))
    return Card(**{name: values[name] for name in Card._fields if name in values})


def settings(name: str) -> Settings:
    """Return the settings of a packaged network's run, including its task."""
    return facts(name).settings


def name_of(settings: Settings) -> str:
    """Return the name that a network with these settings has in the package."""
    return f"{settings.task.name}-{settings.model_name.removeprefix('ntm-')}"


def _file(name: str) -> Path:
    if name not in names():
        raise ValueError(unknown("packaged network", name, names()))
    return FOLDER / f"{name}.safetensors"

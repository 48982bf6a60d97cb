"""Trained networks that come with the package.

    net = NTM.from_pretrained("copy-ff")

Each file beside this one holds the weights of one network. Its metadata have the training settings
and the costs on fresh sequences, within and beyond the trained range; `ntm pretrained` shows them.
Of the seeds that were trained, the file has the one with the lowest validation cost, including the
cost beyond the range where the run validates there. The published costs are of other sequences.
"""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import torch
from safetensors import safe_open

from ntm.common.lazy import later, lazily
from ntm.common.text import unknown
from ntm.engine import EngineName
from ntm.layer import NTM
from ntm.pretrained.card import SEED, SEQUENCES, Ability
from ntm.runs import Settings, saving
from ntm.runs.weights import read_weights, require_fitting

if TYPE_CHECKING:
    from ntm.paper.publishing import measure_again, publish, publish_best

__all__ = [
    "FOLDER",
    "SEED",
    "SEQUENCES",
    "Ability",
    "Facts",
    "facts",
    "is_packaged",
    "load",
    "load_as",
    "load_network",
    "measure_again",
    "name_of",
    "names",
    "publish",
    "publish_best",
    "read_facts",
    "settings",
]

Net = TypeVar("Net", bound=NTM)
FOLDER = Path(__file__).parent


class Facts(NamedTuple):
    """What is known about a pretrained network."""

    settings: Settings
    """The task it performs and how it was trained."""
    trained_sequences: int
    """Sequences it had seen when these weights were saved."""
    validation_bits: float
    """The cost by which these weights were chosen."""
    mean_bits: float
    """Mean cost of `SEQUENCES` fresh sequences, sampled with the seed `SEED`."""
    abilities: tuple[Ability, ...]
    """What it can do within the trained range and beyond it."""

    @property
    def command(self) -> str:
        """The command that trains it."""
        # The defaults of a command belong to a layer above.
        command: str = later("ntm.report.groups:command_of")(self.settings)
        return command

    def __repr__(self) -> str:
        """In one line: the task and the network; abilities are only counted."""
        shown: dict[str, Any] = {"task": self.settings.task, "model": self.settings.model}
        shown["trained_sequences"] = self.trained_sequences
        for name in ("validation_bits", "mean_bits"):
            shown[name] = float(f"{getattr(self, name):.4g}")
        shown["abilities"] = len(self.abilities)
        return f"Facts({', '.join(f'{name}={value!r}' for name, value in shown.items())})"


def names() -> list[str]:
    """What `load` and `facts` take: a task, a dash, and ff or lstm for the controller."""
    return sorted(file.stem for file in FOLDER.glob("*.safetensors"))


def is_packaged(name: str | Path) -> bool:
    """Whether this names a network of the package; otherwise it names a folder.

    A Path, or text with a separator, is always a folder. A word that could be both is refused: a
    script must not load another network because of the folder it is started in.
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
    known = unknown("pretrained network", name, names())
    raise ValueError(f"{known} Nor is there a folder {name!r} that net.save_pretrained wrote.")


def load(name: str, *, batch_first: bool = False, engine: EngineName = "auto") -> NTM:
    """A trained network, ready to run or to train on; `NTM.from_pretrained` has more options."""
    return load_as(NTM, name, batch_first=batch_first, engine=engine)


def load_network(
    kind: Any, name: str | Path, *, batch_first: bool | None = None, **chosen: Any
) -> Any:
    """Load a packaged network or a folder of `save_pretrained` as a class of networks.

    chosen: engine, device and dtype, as in `load_as`.
    """
    if not issubclass(kind, NTM):
        if str(name) in names() and not Path(name).exists():
            raise ValueError(f"{name} is an NTM; load it with NTM.from_pretrained.")
    elif is_packaged(name):
        return load_as(kind, str(name), batch_first=bool(batch_first), **chosen)
    return saving.load(kind, name, batch_first=batch_first, **chosen)


def load_as(
    kind: type[Net],
    name: str,
    *,
    batch_first: bool = False,
    engine: EngineName = "auto",
    device: torch.device | str | None = None,
    dtype: torch.dtype | None = None,
) -> Net:
    """The same as a subclass of NTM, which must have no parameters that the file lacks."""
    chosen, weights = facts(name).settings, read_weights(_file(name))
    sizes = (chosen.model, chosen.initialisation)
    require_fitting(weights, chosen.model, lambda: kind.from_config(*sizes), kind.__name__)
    net: Net = saving.filled(kind, *sizes, weights, batch_first, engine)
    return saving.placed(net, device, dtype)


def facts(name: str) -> Facts:
    """Settings and costs of a pretrained network."""
    return read_facts(_file(name))


def read_facts(file: Path) -> Facts:
    """Settings and costs from a file that `publish` wrote."""
    with safe_open(file, framework="pt") as opened:
        values = json.loads(opened.metadata()["ntm"])
    values["settings"] = Settings.from_json(values["settings"], values.get("format", 1))
    values["abilities"] = tuple(Ability(**some) for some in values.get("abilities", ()))
    return Facts(**{name: values[name] for name in Facts._fields})


def settings(name: str) -> Settings:
    """The task a pretrained network performs and how it was trained."""
    return facts(name).settings


def name_of(settings: Settings) -> str:
    """What a network with these settings is called here."""
    return f"{settings.task.name}-{settings.model_name.removeprefix('ntm-')}"


def _file(name: str) -> Path:
    if name not in names():
        raise ValueError(unknown("pretrained network", name, names()))
    return FOLDER / f"{name}.safetensors"


# Publishing measures what a network can do, which is the business of the experiments above.
__getattr__, __dir__ = lazily(
    __name__, {"ntm.paper.publishing": ("measure_again", "publish", "publish_best")}
)

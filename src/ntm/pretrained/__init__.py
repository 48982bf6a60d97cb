"""Trained networks that come with the package.

    net = NTM.from_pretrained("copy-ff")

Each safetensors file in this folder holds the weights of one network. The metadata hold the
training settings and the costs on fresh sequences, within and beyond the trained range;
`ntm pretrained` shows them. Several seeds were trained, and the seed with the lowest validation
cost was published. If the run validates beyond the range, this cost includes the cost there. The
published costs were measured on other sequences.
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
    """Settings and measured costs of a pretrained network."""

    settings: Settings
    """Settings of its run, including the task."""
    trained_sequences: int
    """Number of sequences it was trained on before these weights were saved."""
    validation_bits: float
    """Validation cost that selected these weights."""
    mean_bits: float
    """Mean cost of `SEQUENCES` fresh sequences, sampled with the seed `SEED`."""
    abilities: tuple[Ability, ...]
    """Measurements within the trained range and beyond it."""

    @property
    def command(self) -> str:
        """Command that trains the network."""
        # Imported late: the command's defaults belong to a higher layer.
        command: str = later("ntm.report.groups:command_of")(self.settings)
        return command

    def __repr__(self) -> str:
        """Return one line with the task, the network and the number of abilities."""
        shown: dict[str, Any] = {"task": self.settings.task, "model": self.settings.model}
        shown["trained_sequences"] = self.trained_sequences
        for name in ("validation_bits", "mean_bits"):
            shown[name] = float(f"{getattr(self, name):.4g}")
        shown["abilities"] = len(self.abilities)
        return f"Facts({', '.join(f'{name}={value!r}' for name, value in shown.items())})"


def names() -> list[str]:
    """Return the names for `load` and `facts`: TASK-ff or TASK-lstm, by controller."""
    return sorted(file.stem for file in FOLDER.glob("*.safetensors"))


def is_packaged(name: str | Path) -> bool:
    """Return whether a name is a packaged network; otherwise the name is a folder.

    A Path, or text with a separator, is always a folder. A name that is both is refused: the
    current directory must not decide which network a script loads.
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
    """Load a packaged network, to run or train further; `NTM.from_pretrained` has more options."""
    return load_as(NTM, name, batch_first=batch_first, engine=engine)


def load_network(
    kind: Any, name: str | Path, *, batch_first: bool | None = None, **chosen: Any
) -> Any:
    """Load a packaged network or a folder of `save_pretrained` as an instance of `kind`.

    kind: class of networks to load as.
    name: name of a packaged network, or a folder.
    batch_first: order of the dimensions; None for the saved order (None).
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
    """Load a packaged network as NTM or a subclass without additional parameters."""
    chosen, weights = facts(name).settings, read_weights(_file(name))
    sizes = (chosen.model, chosen.initialisation)
    require_fitting(weights, chosen.model, lambda: kind.from_config(*sizes), kind.__name__)
    net: Net = saving.filled(kind, *sizes, weights, batch_first, engine)
    return saving.placed(net, device, dtype)


def facts(name: str) -> Facts:
    """Return the settings and costs of a pretrained network."""
    return read_facts(_file(name))


def read_facts(file: Path) -> Facts:
    """Read settings and costs from a file that `publish` wrote."""
    with safe_open(file, framework="pt") as opened:
        values = json.loads(opened.metadata()["ntm"])
    values["settings"] = Settings.from_json(values["settings"], values.get("format", 1))
    values["abilities"] = tuple(Ability(**some) for some in values.get("abilities", ()))
    return Facts(**{name: values[name] for name in Facts._fields})


def settings(name: str) -> Settings:
    """Return the settings of a pretrained network's run, including its task."""
    return facts(name).settings


def name_of(settings: Settings) -> str:
    """Return the packaged name of a network with these settings."""
    return f"{settings.task.name}-{settings.model_name.removeprefix('ntm-')}"


def _file(name: str) -> Path:
    if name not in names():
        raise ValueError(unknown("pretrained network", name, names()))
    return FOLDER / f"{name}.safetensors"


# Publishing needs the experiments, which belong to a higher layer.
__getattr__, __dir__ = lazily(
    __name__, {"ntm.paper.publishing": ("measure_again", "publish", "publish_best")}
)

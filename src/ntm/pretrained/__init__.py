"""Trained networks that come with the package.

    net = NTM.from_pretrained("copy-ff")

Each file beside this one holds the weights of one network. Its metadata have the training settings
and the costs on fresh sequences, within and beyond the trained range; `ntm pretrained` shows them.
Of the seeds that were trained, the file has the one with the lowest validation cost, including the
cost beyond the range where the run validates there. The published costs are of other sequences.
"""

import json
import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import torch
from safetensors import safe_open
from safetensors import torch as safetensors

from ntm import saving
from ntm.common.files import write_atomically
from ntm.common.text import unknown
from ntm.engine import EngineName
from ntm.evaluation import evaluate
from ntm.layer import NTM
from ntm.models import Model
from ntm.pretrained.card import SEED, SEQUENCES, Ability, measure
from ntm.runs import Run, RunError, Settings
from ntm.runs.facts import validated
from ntm.runs.formats import FORMAT
from ntm.runs.weights import read_weights, require_fitting

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
        from ntm.report.groups import command_of

        return command_of(self.settings)

    def __repr__(self) -> str:
        """In one line: abilities are only counted, `ntm pretrained` shows them."""
        costs = {
            name: float(f"{getattr(self, name):.4g}") for name in ("validation_bits", "mean_bits")
        }
        shown = {**self._asdict(), **costs, "abilities": len(self.abilities)}
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


def publish(run: Run, folder: Path = FOLDER) -> Path:
    """Write the best weights of a run as a pretrained network; returns the file."""
    net, known = run.load_model("best")
    if not run.settings.family.has_memory:
        raise RunError(f"{run.path} trains a baseline; only an NTM can be published.")
    bits = evaluate(net, run.settings.task, SEQUENCES, SEED).mean_bits
    if not math.isfinite(bits):
        raise RunError(f"{run.path} costs {bits} bits per sequence; publish another run.")
    values: dict[str, Any] = {
        "settings": run.settings.to_json(),
        "trained_sequences": known["sequences"],
        "validation_bits": known["validation_bits"],
        "mean_bits": bits,
    }
    return _write(net, run.settings, values, folder)


def measure_again(name: str, folder: Path = FOLDER) -> Path:
    """Write a new card for a network that comes with the package; its weights stay."""
    known = facts(name)
    values = {**known._asdict(), "settings": known.settings.to_json()}
    return _write(load(name), known.settings, values, folder)


def _write(net: Model, settings: Settings, values: dict[str, Any], folder: Path) -> Path:
    values["format"] = FORMAT
    values["abilities"] = [ability._asdict() for ability in measure(net, settings.task)]
    content = safetensors.save(net.state_dict(), metadata={"ntm": json.dumps(values)})
    file = folder / f"{name_of(settings)}.safetensors"
    write_atomically(file, content)
    return file


def publish_best(runs: Iterable[Run], folder: Path = FOLDER) -> list[Path]:
    """Publish the run of each NTM with the lowest validation cost, beyond the range included."""
    chosen: dict[str, tuple[float, Run]] = {}
    for run in runs:
        if not run.settings.family.has_memory:
            continue
        known = run.load_model("best")[1]
        name, bits = name_of(run.settings), validated(known)
        if bits is not None and (name not in chosen or bits < chosen[name][0]):
            chosen[name] = bits, run
    return [publish(run, folder) for _, run in chosen.values()]


def _file(name: str) -> Path:
    if name not in names():
        raise ValueError(unknown("pretrained network", name, names()))
    return FOLDER / f"{name}.safetensors"

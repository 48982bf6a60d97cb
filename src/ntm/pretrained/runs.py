"""Packaged networks where a command takes a run folder: `ntm eval copy-ff`."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ntm import pretrained
from ntm.common.text import unknown
from ntm.models import Model
from ntm.runs import FolderError, Run, find_runs
from ntm.runs.folder import Weights


class PackagedRun(Run):
    """A packaged network in the place of the run that made it; it has no learning curve."""

    def __init__(self, name: str) -> None:
        self._place(Path(pretrained.FOLDER, name))
        self._facts = pretrained.facts(name)
        self.settings = self._facts.settings

    def load_model(self, weights: Weights | None = None) -> tuple[Model, dict[str, Any]]:
        """The network and what is known about its weights, which are the best of its run."""
        name = self.path.name
        if weights == "latest":
            raise FolderError(f"{name} has only its best weights; leave --latest out.")
        known = {"weights": "best", "sequences": self._facts.trained_sequences}
        return pretrained.load(name), known


def open_run(name: str | Path) -> Run:
    """A run folder or, where there is none, the packaged network of that name."""
    if str(name) in pretrained.names() and not Run.exists(name):
        return PackagedRun(str(name))
    if Path(name).name == str(name) and not Path(name).exists():
        raise FolderError(unknown("folder or pretrained network", str(name), pretrained.names()))
    return Run(name)


def open_runs(names: Iterable[str | Path]) -> list[Run]:
    """The runs in folders, each of which is one or holds some, and packaged networks."""
    runs: list[Run] = []
    for name in names:
        runs += find_runs([name]) if Path(name).is_dir() else [open_run(name)]
    return runs

"""Runs by their folders: what a new one is called, and which there are."""

from collections.abc import Iterable
from pathlib import Path

from ntm.runs.errors import FolderError
from ntm.runs.folder import Run, require_folder
from ntm.runs.settings import Settings


def run_name(settings: Settings) -> str:
    """The name of a run's folder: copy-ntm-ff-0."""
    return f"{settings.task.name}-{settings.model_name}-{settings.training.seed}"


def find_runs(folders: Iterable[str | Path]) -> list[Run]:
    """The runs in folders: each is one, or holds some."""
    runs = []
    for folder in map(Path, folders):
        require_folder(folder)
        inside = sorted(file.parent for file in folder.glob("*/config.json"))
        found = [folder] if Run.exists(folder) else inside
        if not found:
            raise FolderError(f"{folder} is not a run folder, and no run is in it.")
        runs += [Run(path) for path in found]
    return runs

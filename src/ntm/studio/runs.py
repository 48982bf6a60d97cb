"""The runs of a folder while they go on: their states and their curves."""

from pathlib import Path
from typing import Any

from ntm.runs import Run, RunError
from ntm.studio.curves import Curve
from ntm.studio.errors import RefusedError
from ntm.studio.folder import RunsFolder
from ntm.studio.trainings import Order, Training, Trainings


class Runs:
    """The runs of a folder, and those that are about to be in it."""

    def __init__(self, folder: RunsFolder, max_trainings: int) -> None:
        self._folder = folder
        self._trainings = Trainings(max_trainings)
        self._curves: dict[str, Curve] = {}

    def listing(self) -> list[dict[str, Any]]:
        """Every run and its state; one that cannot be read says why instead."""
        known = {name: self._described(name, run) for name, run in self._folder.runs()}
        for name, training in self._trainings.started():
            if name not in known and (training.running or training.failure):
                known[name] = _begun(name, training)
        return [known[name] for name in sorted(known)]

    def curve(self, name: str, after: int) -> dict[str, Any]:
        """The points of a curve beyond a number of sequences, and where the run stands."""
        training = self._trainings.find(name)
        if training is not None and name not in self._folder.names():
            described, curve = _begun(name, training), Curve()
        else:
            described, curve = self._described(name, self._folder.run(name)), self._curve(name)
        kept = ("state", "reason", "sequences", "total", "can_stop")
        return {
            "points": curve.after(after),
            "generation": curve.generation,
            **{key: described[key] for key in kept},
        }

    def start(self, order: Order, name: str | None = None) -> str:
        """Begin a run; returns its name."""
        name = name or f"{order.task}-{order.model}-{order.seed}"
        if self._folder.is_taken(name):
            raise RefusedError(
                409, f"The folder has a run called {name} already; choose another name or seed."
            )
        self._trainings.start(name, order, self._folder.path / name)
        return name

    def stop(self, name: str) -> None:
        """Let a run that was started here end with a checkpoint."""
        training = self._trainings.find(name)
        if training is None:
            self._folder.run(name)
        if training is None or not training.running:
            raise RefusedError(409, "No process goes on that this studio has started for this run.")
        training.stop()

    def close(self) -> None:
        """End what was started here."""
        self._trainings.close()

    def _curve(self, name: str) -> Curve:
        """What a run has reported until now."""
        curve = self._curves.setdefault(name, Curve())
        file = self._folder.file(name, "metrics.jsonl")
        if file is not None:
            curve.update(file)
        return curve

    def _described(self, name: str, run: Run | RunError) -> dict[str, Any]:
        if isinstance(run, RunError):
            return _description(name, state="unreadable", reason=str(run))
        points, training = self._curve(name).points, self._trainings.find(name)
        sequences, bits = points[-1] if points else (0, None)
        settings = run.settings
        total = settings.training.sequences
        running = training is not None and training.running
        failure = training.failure if training else None
        if running or _is_locked(self._folder.file(name, ".lock")):
            state = "running"
        else:
            state = "finished" if sequences >= total else "failed" if failure else "stopped"
        return _description(
            name,
            task=settings.task.name,
            model=settings.model_name,
            seed=settings.training.seed,
            state=state,
            reason=failure,
            sequences=sequences,
            bits=bits,
            total=total,
            can_stop=running,
        )


def _begun(name: str, training: Training) -> dict[str, Any]:
    """A run whose process has not made its folder yet, or never will."""
    order = training.order
    return _description(
        name,
        task=order.task,
        model=order.model,
        seed=order.seed,
        state="running" if training.running else "failed" if training.failure else "stopped",
        reason=training.failure,
        total=order.sequences,
        can_stop=training.running,
    )


def _description(name: str, **known: Any) -> dict[str, Any]:
    unknown = dict.fromkeys(("task", "model", "seed", "reason", "bits", "total"))
    return {"name": name, **unknown, "sequences": 0, "can_stop": False, **known}


def _is_locked(file: Path | None) -> bool:
    """Whether some process trains in the folder of this lock."""
    if file is None:
        return False
    try:
        import fcntl
    except ImportError:  # a system without such locks
        return False
    with file.open("rb") as opened:
        try:
            # Shared, and given back within microseconds: nobody else is kept from training.
            fcntl.flock(opened, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:
            return True
    return False

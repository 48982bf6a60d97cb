"""Training processes that the studio starts and stops."""

import threading
from dataclasses import dataclass
from pathlib import Path

from ntm.common.registry import source_of
from ntm.models import MODELS
from ntm.scale.processes import TrainingProcess
from ntm.studio.errors import RefusedError
from ntm.tasks import TASKS


@dataclass(frozen=True)
class Order:
    """Arguments of `ntm train` for a new or resumed run."""

    task: str
    model: str
    seed: int
    sequences: int
    resume: bool = False

    def command(self, folder: Path) -> list[str]:
        """Return the arguments with which Python runs `ntm train`; no shell interprets them."""
        return [
            *("-m", "ntm", "train"),
            *(["--resume"] if self.resume else self._network),
            *("--sequences", str(self.sequences)),
            *("--run", str(folder)),
        ]

    @property
    def _network(self) -> list[str]:
        """Arguments for a new run: task, model, seed, and files with the user's code (--code)."""
        sources = (source_of(TASKS[self.task]), source_of(MODELS[self.model]))
        files = dict.fromkeys(file for file in sources if file and file.endswith(".py"))
        code = [argument for file in files for argument in ("--code", file)]
        chosen = ["--model", self.model, "--seed", str(self.seed), "--starts", "1"]
        return [self.task, *chosen, *code]


class Training(TrainingProcess):
    """A training process that the studio started."""

    def __init__(self, order: Order, folder: Path) -> None:
        self.order = order
        try:
            super().__init__(*order.command(folder))
        except OSError as error:
            raise RefusedError(429, f"The system starts no more processes: {error}.") from error


class Trainings:
    """All training processes that the studio started, by the names of their runs.

    most: largest number of processes at a time.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._started: dict[str, Training] = {}
        self._lock = threading.Lock()

    def started(self) -> list[tuple[str, Training]]:
        """Return every process with the name of its run."""
        return list(self._started.items())

    def find(self, name: str) -> Training | None:
        """Return the process that was last started for a run; None if there is none."""
        return self._started.get(name)

    def start(self, name: str, order: Order, folder: Path) -> None:
        """Start `ntm train` in a folder; raise RefusedError if too many runs are being trained."""
        with self._lock:
            running = [name for name, training in self.started() if training.running]
            if name in running:
                raise RefusedError(409, f"A run called {name} is being started already.")
            if len(running) >= self._most:
                raise RefusedError(
                    429,
                    f"No more than {self._most} runs may be trained at a time; stop one, or wait.",
                )
            before = self._started.get(name)
            self._started[name] = Training(order, folder)
            if before is not None:
                before.close()

    def forget(self, name: str) -> None:
        """Remove a process that has ended from the list of processes."""
        training = self._started.pop(name, None)
        if training is not None:
            training.close()

    def close(self) -> None:
        """End all processes; a process that takes too long to write its checkpoint is killed."""
        for _, training in self.started():
            if training.running:
                training.stop()
        for _, training in self.started():
            training.end()

"""Training processes that the studio starts and stops."""

import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from ntm.common.registry import source_of
from ntm.models import MODELS
from ntm.studio.errors import RefusedError
from ntm.tasks import TASKS

_SECONDS_TO_STOP = 20


@dataclass(frozen=True)
class Order:
    """A run that was asked for."""

    task: str
    model: str
    seed: int
    sequences: int
    resume: bool = False

    def command(self, folder: Path) -> list[str]:
        """The `ntm train` that makes it, as a list of arguments: no shell ever sees them."""
        return [
            *(sys.executable, "-m", "ntm", "train"),
            *(["--resume"] if self.resume else self._network),
            *("--sequences", str(self.sequences)),
            *("--run", str(folder)),
        ]

    @property
    def _network(self) -> list[str]:
        """What a new run trains. A name that a file brings is known only to who loads the file."""
        sources = (source_of(TASKS[self.task]), source_of(MODELS[self.model]))
        files = dict.fromkeys(file for file in sources if file and file.endswith(".py"))
        code = [argument for file in files for argument in ("--code", file)]
        chosen = ["--model", self.model, "--seed", str(self.seed), "--starts", "1"]
        return [self.task, *chosen, *code]


@dataclass
class Training:
    """A process that was started."""

    order: Order
    process: subprocess.Popen[bytes]
    complaints: IO[bytes]
    stopping: bool = False

    @classmethod
    def begin(cls, order: Order, folder: Path) -> "Training":
        """Start the process."""
        complaints = tempfile.TemporaryFile()  # noqa: SIM115  # read when the process has ended
        try:
            with _interrupts_held_back():
                process = subprocess.Popen(
                    order.command(folder),
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=complaints,
                    # Ctrl-C in the studio's terminal must not reach it as well: it is asked to
                    # stop, and a second signal would end it without a checkpoint.
                    start_new_session=True,
                )
        except OSError as error:
            complaints.close()
            raise RefusedError(429, f"The system starts no more processes: {error}.") from error
        return cls(order, process, complaints)

    @property
    def running(self) -> bool:
        """Whether it is still running."""
        return self.process.poll() is None

    @property
    def failure(self) -> str | None:
        """Why it ended, if it neither finished nor was stopped."""
        if self.running or self.stopping or self.process.returncode in _PEACEFUL:
            return None
        try:
            said = os.pread(self.complaints.fileno(), 100_000, 0).decode(errors="replace")
        except ValueError:  # closed: another request has just deleted the run, or begun it again
            return None
        lines = said.strip().splitlines()
        ending = f"It ended with the exit code {self.process.returncode}."
        return lines[-1].removeprefix("ntm: ") if lines else ending

    def stop(self) -> None:
        """Ask it, once, to end with a checkpoint; a second time would end it without."""
        if not self.stopping:
            self.stopping = True
            self.process.send_signal(signal.SIGINT)

    def end(self) -> None:
        """Wait for its end, and make sure of it."""
        for insist in (self.process.terminate, self.process.kill):
            if not _ends(self.process):
                insist()
        self.process.wait()
        self.complaints.close()


@contextmanager
def _interrupts_held_back() -> Iterator[None]:
    """A process that is started within this has SIGINT wait until it can end with a checkpoint.

    A process inherits what is held back, and `ntm train` lets it in once it has a trainer.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


# Finished or interrupted: the exit codes of `ntm train`, and of one that had only begun.
_PEACEFUL = {0} | {
    code for number in (signal.SIGINT, signal.SIGTERM) for code in (128 + number, -number)
}


class Trainings:
    """All processes that were started, by the names of their runs; `most` may run at a time."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._started: dict[str, Training] = {}
        self._lock = threading.Lock()

    def started(self) -> list[tuple[str, Training]]:
        """Every process with the name of its run."""
        return list(self._started.items())

    def find(self, name: str) -> Training | None:
        """The process that was last started for a run."""
        return self._started.get(name)

    def start(self, name: str, order: Order, folder: Path) -> None:
        """Start `ntm train` in a folder."""
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
            self._started[name] = Training.begin(order, folder)
            if before is not None:
                before.complaints.close()

    def forget(self, name: str) -> None:
        """Forget a process that has ended."""
        training = self._started.pop(name, None)
        if training is not None:
            training.complaints.close()

    def close(self) -> None:
        """End all of them: with a checkpoint or, where that takes too long, without."""
        for _, training in self.started():
            if training.running:
                training.stop()
        for _, training in self.started():
            training.end()


def _ends(process: subprocess.Popen[bytes]) -> bool:
    try:
        process.wait(_SECONDS_TO_STOP)
    except subprocess.TimeoutExpired:
        return False
    return True

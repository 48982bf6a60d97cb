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
    """A request to train a run."""

    task: str
    model: str
    seed: int
    sequences: int
    resume: bool = False

    def command(self, folder: Path) -> list[str]:
        """Return the `ntm train` command as a list of arguments, which no shell interprets."""
        return [
            *(sys.executable, "-m", "ntm", "train"),
            *(["--resume"] if self.resume else self._network),
            *("--sequences", str(self.sequences)),
            *("--run", str(folder)),
        ]

    @property
    def _network(self) -> list[str]:
        """Arguments for a new run: task, model, seed, and the files that define them (--code)."""
        sources = (source_of(TASKS[self.task]), source_of(MODELS[self.model]))
        files = dict.fromkeys(file for file in sources if file and file.endswith(".py"))
        code = [argument for file in files for argument in ("--code", file)]
        chosen = ["--model", self.model, "--seed", str(self.seed), "--starts", "1"]
        return [self.task, *chosen, *code]


@dataclass
class Training:
    """A training process that the studio started."""

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
                    # Ctrl-C in the studio's terminal must not reach this process: the studio
                    # sends it SIGINT, and a second signal would end it without a checkpoint.
                    start_new_session=True,
                )
        except OSError as error:
            complaints.close()
            raise RefusedError(429, f"The system starts no more processes: {error}.") from error
        return cls(order, process, complaints)

    @property
    def running(self) -> bool:
        """Whether the process is still running."""
        return self.process.poll() is None

    @property
    def failure(self) -> str | None:
        """Reason for the end of the process; None if it runs, finished or was stopped."""
        if self.running or self.stopping or self.process.returncode in _PEACEFUL:
            return None
        try:
            said = os.pread(self.complaints.fileno(), 100_000, 0).decode(errors="replace")
        except ValueError:  # closed: another request has just deleted or restarted the run
            return None
        lines = said.strip().splitlines()
        ending = f"It ended with the exit code {self.process.returncode}."
        return lines[-1].removeprefix("ntm: ") if lines else ending

    def stop(self) -> None:
        """Ask the process to end with a checkpoint; only the first call sends a signal.

        A second signal would end the process without a checkpoint.
        """
        if not self.stopping:
            self.stopping = True
            self.process.send_signal(signal.SIGINT)

    def end(self) -> None:
        """Wait for the process to end; terminate it, then kill it, if it takes too long."""
        for insist in (self.process.terminate, self.process.kill):
            if not _ends(self.process):
                insist()
        self.process.wait()
        self.complaints.close()


@contextmanager
def _interrupts_held_back() -> Iterator[None]:
    """Block SIGINT, so that a process started inside this context starts with SIGINT blocked.

    `ntm train` unblocks SIGINT when it can end with a checkpoint.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


# Exit codes after the end or an interruption. Negative: a signal came before `ntm train` was ready.
_PEACEFUL = {0} | {
    code for number in (signal.SIGINT, signal.SIGTERM) for code in (128 + number, -number)
}


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
        """Return the process that was last started for a run."""
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
        """End all processes: with a checkpoint or, if that takes too long, without."""
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

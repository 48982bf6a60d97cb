"""Processes that train: this module starts, watches and stops them, and reports how they ended.

A process has its own session, so Ctrl-C in the terminal reaches only its parent, which then asks
the process to stop. The process starts with SIGTERM blocked, and unblocks SIGTERM when it can end
with a checkpoint. So an early request to stop waits and does not kill the process.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

_SECONDS_TO_STOP = 20

# Exit codes after the end or an interruption. Negative: a signal came before training began.
_PEACEFUL = {0} | {
    code for number in (signal.SIGINT, signal.SIGTERM) for code in (128 + number, -number)
}


class TrainingProcess:
    """A Python process that trains; its errors are kept in a temporary file.

    arguments: arguments of Python, such as "-m", "ntm", "train", "copy".
    talks: open pipes for `tell` and `messages` (False).
    environment: environment variables to add.
    """

    def __init__(self, *arguments: str, talks: bool = False, **environment: str) -> None:
        self.stopping = False
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  # read when the process has ended
        channel = subprocess.PIPE if talks else subprocess.DEVNULL
        try:
            with _requests_to_stop_blocked():
                self._process = subprocess.Popen(
                    [sys.executable, *arguments],
                    stdin=channel,
                    stdout=channel,
                    stderr=self._errors,
                    text=True,
                    env=os.environ | environment,
                    start_new_session=True,
                )
        except OSError:
            self._errors.close()
            raise

    @property
    def running(self) -> bool:
        """Whether the process is still running."""
        return self._process.poll() is None

    @property
    def killed_by(self) -> str | None:
        """Name of the signal that killed the process; None if no signal did."""
        code = self._process.poll()
        return signal.Signals(-code).name if code is not None and code < 0 else None

    @property
    def failure(self) -> str | None:
        """Reason for the end of the process; None if it runs, finished, was stopped or closed."""
        code = self._process.poll()
        if code is None or self.stopping or code in _PEACEFUL or self._errors.closed:
            return None
        if self.killed_by:
            return f"It was killed by {self.killed_by}."
        try:
            said = os.pread(self._errors.fileno(), 100_000, 0).decode(errors="replace")
        except ValueError:  # another thread has just closed it
            return None
        lines = said.strip().splitlines()
        return lines[-1].removeprefix("ntm: ") if lines else f"It ended with the exit code {code}."

    def tell(self, message: dict[str, Any]) -> None:
        """Send a message; raise BrokenPipeError if the process has ended."""
        assert self._process.stdin is not None
        tell(self._process.stdin, message)

    def messages(self) -> Iterator[dict[str, Any]]:
        """Yield the messages of the process until it ends."""
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.endswith("\n"):  # a killed process may leave half a line
                yield json.loads(line)

    def stop(self) -> None:
        """Ask the process to write a checkpoint and end; only the first call sends a signal.

        A second signal would end the process without a checkpoint.
        """
        if not self.stopping:
            self.stopping = True
            self._process.terminate()

    def wait(self) -> None:
        """Close the input and wait for the process to end, however long it takes."""
        self._process.communicate()

    def end(self) -> None:
        """Wait for the process to end; if it takes too long, terminate it, then kill it."""
        for insist in (self._process.terminate, self._process.kill):
            try:
                self._process.wait(_SECONDS_TO_STOP)
            except subprocess.TimeoutExpired:
                insist()
        self._process.wait()
        self.close()

    def close(self) -> None:
        """Close the error file of a process that has ended."""
        self._errors.close()


def tell(stream: IO[str], message: dict[str, Any]) -> None:
    """Write a message as one line of JSON, without buffering."""
    stream.write(json.dumps(message) + "\n")
    stream.flush()


def allow_requests_to_stop() -> None:
    """Unblock SIGTERM in a process that was started here."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})


@contextmanager
def _requests_to_stop_blocked() -> Iterator[None]:
    """Block SIGTERM, so that a process started inside this context starts with SIGTERM blocked."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)

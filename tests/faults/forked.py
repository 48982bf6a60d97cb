"""Commands in processes forked from one that has imported everything: a start takes milliseconds.

The interpreter must have been started by `warm`, which loads shim.c before libc.
"""

import ctypes
import os
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
KILLED = -signal.SIGKILL


class Ended(NamedTuple):
    """How a command ended."""

    code: int
    """The exit code; KILLED if it was killed."""
    output: str
    """All that it printed."""
    seconds: float
    """How long it took."""


def warm(folder: Path, module: str, *arguments: object) -> str:
    """Run a module of this package under the shim; returns what it prints."""
    shim = folder / "shim.so"
    compiler = os.environ.get("CC", "cc")
    build = [compiler, "-shared", "-fPIC", "-O1", "-o", shim, HERE / "shim.c", "-ldl"]
    subprocess.run(build, check=True)
    command = [sys.executable, "-m", f"tests.faults.{module}", folder, *map(str, arguments)]
    environment = os.environ | {"LD_PRELOAD": str(shim), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        command, check=False, capture_output=True, text=True, env=environment, cwd=ROOT
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def shim() -> ctypes.CDLL:
    """The shim's functions in this process."""
    return ctypes.CDLL(None)


def arm(folder: Path, number: int, error: int = 0) -> None:
    """Let the n-th call below a folder fail, or end the process."""
    shim().fault_arm(str(folder).encode(), ctypes.c_long(number), error)


def start(
    output: Path, command: Callable[[], int], environment: Mapping[str, str] | None = None
) -> int:
    """Run a function in a process of its own, which prints to a file; returns its id."""
    process = os.fork()
    if process:
        return process
    code = 70
    try:
        opened = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(opened, 1)
        os.dup2(opened, 2)
        sys.stdout, sys.stderr = os.fdopen(1, "w"), os.fdopen(2, "w")
        os.environ.update(environment or {})
        code = command()
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def run(output: Path, command: Callable[[], int], kill_after: float | None = None) -> Ended:
    """Run a function in a process of its own; kill it without warning after so many seconds."""
    began, ended, status = time.perf_counter(), 0, 0
    process = start(output, command)
    while kill_after is not None and not ended and time.perf_counter() < began + kill_after:
        time.sleep(0.001)
        ended, status = os.waitpid(process, os.WNOHANG)
    if not ended:
        if kill_after is not None:
            os.kill(process, signal.SIGKILL)
        _, status = os.waitpid(process, 0)
    seconds = time.perf_counter() - began
    code = os.waitstatus_to_exitcode(status)
    return Ended(code, output.read_text(errors="replace"), seconds)


def ntm(*arguments: object) -> Callable[[], int]:
    """A command of `ntm`, to be run."""

    def call() -> int:
        from ntm.commands.main import main

        return main([str(argument) for argument in arguments])

    return call


def options(settings: Mapping[str, object]) -> Sequence[str]:
    """Settings as options of `ntm train`."""
    return [text for key, value in settings.items() for text in ("--set", f"{key}={value}")]

"""Odd surroundings, each tried for real in a process of its own.

    python -m tests.faults.conditions FOLDER

Called by `tests.faults.forked.warm`; prints the names of the conditions that were tried.
"""

import errno
import json
import os
import pty
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

from tests.faults.forked import arm, ntm, run, shim, start
from tests.faults.kills import train
from tests.same_run import assert_same_run

from ntm.runs import read_metrics


def blocked(module: str, command: Callable[[], int]) -> Callable[[], int]:
    """A command where a module cannot be imported."""

    def call() -> int:
        sys.modules[module] = None  # type: ignore[assignment]
        return command()

    return call


def assert_stops_in_a_sentence(place: Path, write: int, error: int) -> None:
    """Training whose write of that number fails says why, and which file it was."""

    def call() -> int:
        arm(place, write, error)
        return train(place / "run", "lstm")()

    ended = run(place.parent / "output", call)
    assert ended.code == 1
    assert re.search(rf"^ntm: .*run.*{os.strerror(error)}", ended.output, re.MULTILINE)
    assert "Traceback" not in ended.output


def read_only(place: Path, whole: Path) -> None:
    """Training stops in a sentence that names the file."""
    assert_stops_in_a_sentence(place, 1, errno.EROFS)


def disk_full(place: Path, whole: Path) -> None:
    """The run goes on to the same end when there is room again."""
    assert_stops_in_a_sentence(place, 20, errno.ENOSPC)
    assert run(place.parent / "output", train(place / "run", "lstm")).code == 0
    assert_same_run(place / "run", whole)


def two_processes(place: Path, whole: Path) -> None:
    """One trains, the others are told so; what is in the folder is the one's."""
    outputs = [place / f"output{number}" for number in range(4)]
    processes = [start(output, train(place / "run", "lstm")) for output in outputs]
    codes = [os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) for process in processes]
    for code, output in zip(codes, outputs, strict=True):
        assert code == 0 or "is being trained by another process" in output.read_text()
    assert 0 in codes
    assert_same_run(place / "run", whole)


def clock_going_back(place: Path, whole: Path) -> None:
    """Time spent is measured by a clock that nobody sets."""

    def call() -> int:
        shim().fault_clock(3600)
        return train(place / "run", "lstm")()

    assert run(place.parent / "output", call).code == 0
    assert_same_run(place / "run", whole)
    seconds = [line["seconds"] for line in read_metrics(place / "run" / "metrics.jsonl")]
    assert seconds == sorted(seconds)
    assert 0 < seconds[-1] < 1000


def without_tensorboard(place: Path, whole: Path) -> None:
    ended = run(place.parent / "output", blocked("tensorboard", train(place / "run", "lstm")))
    assert ended.code == 0
    assert not (place / "run" / "tensorboard").exists()
    assert_same_run(place / "run", whole)


def without_matplotlib(place: Path, whole: Path) -> None:
    command = blocked("matplotlib", ntm("figures", whole, "--out", place))
    ended = run(place.parent / "output", command)
    assert ended.code == 1
    assert "pip install 'neural-turing-machines[figures]'" in ended.output
    assert "Traceback" not in ended.output


def forty_columns(place: Path, whole: Path) -> None:
    """On a terminal of forty columns no line of the progress display is longer."""
    process, terminal = pty.fork()
    if process == 0:
        os.environ |= {"COLUMNS": "40", "LINES": "20", "TERM": "xterm"}
        sys.stdout, sys.stderr = open(1, "w"), open(2, "w")  # noqa: SIM115
        code = train(place / "run", "lstm")()
        sys.stdout.flush()
        os._exit(code)
    shown = b""
    while True:
        try:
            shown += os.read(terminal, 10_000)
        except OSError:  # how a terminal ends
            break
    assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 0, shown
    assert_same_run(place / "run", whole)
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.decode())
    bars = [line for line in re.split(r"[\r\n]+", text) if "━" in line or "sequences/s" in line]
    assert all(len(line) <= 40 for line in bars), bars


def without_a_terminal(place: Path, whole: Path) -> None:
    """No standard input, output to a file: plain lines."""

    def call() -> int:
        os.close(0)
        return train(place / "run", "lstm")()

    ended = run(place.parent / "output", call)
    assert ended.code == 0
    assert "\x1b" not in ended.output
    assert "Finished after 400 sequences" in ended.output


def without_a_home(place: Path, whole: Path) -> None:
    """Neither HOME nor a user's folder: training and figures work all the same."""

    def call() -> int:
        for name in (
            "HOME",
            "XDG_CONFIG_HOME",
            "XDG_CACHE_HOME",
            "USER",
            "LOGNAME",
            "MPLCONFIGDIR",
        ):
            os.environ.pop(name, None)
        os.environ["HOME"] = "/nonexistent"
        code = train(place / "run", "ntm-ff")()
        return code or ntm("figures", place / "run", "--out", place / "figures")()

    ended = run(place.parent / "output", call)
    assert ended.code == 0, ended.output
    assert list((place / "figures").glob("*.png"))


CONDITIONS = [
    read_only,
    disk_full,
    two_processes,
    clock_going_back,
    without_tensorboard,
    without_matplotlib,
    forty_columns,
    without_a_terminal,
    without_a_home,
]


if __name__ == "__main__":
    scratch = Path(sys.argv[1])
    assert run(scratch / "output", train(scratch / "whole", "lstm")).code == 0
    for condition in CONDITIONS:
        (scratch / "place").mkdir()
        condition(scratch / "place", scratch / "whole")
        shutil.rmtree(scratch / "place")
    print(json.dumps([condition.__name__ for condition in CONDITIONS]))

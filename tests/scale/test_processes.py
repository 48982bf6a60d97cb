"""Processes that are started, watched, stopped and killed: real ones, without torch."""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from ntm.scale import processes
from ntm.scale.processes import TrainingProcess

SAYS_ITS_NUMBER = "import json, os; print(json.dumps({'pid': os.getpid()}), flush=True); "
UNTIL_THE_INPUT_ENDS = "import sys; sys.stdin.read()"
HANDLES = "import signal; signal.signal(signal.SIGTERM, lambda *_: sys.exit(0)); "
UNBLOCKS = "signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM}); "


@contextmanager
def started(code: str) -> Iterator[TrainingProcess]:
    process = TrainingProcess("-c", code, talks=True)
    try:
        yield process
    finally:
        process.wait()
        process.close()


def test_a_process_has_its_own_session_and_both_sides_talk() -> None:
    echo = "import sys; [print(line, end='', flush=True) for line in sys.stdin]"
    with started(SAYS_ITS_NUMBER + echo) as process:
        messages = process.messages()
        number = next(messages)["pid"]
        assert os.getsid(number) == number != os.getsid(0)
        process.tell({"what": ["a", 1, None]})
        assert next(messages) == {"what": ["a", 1, None]}
        assert process.running
        assert process.failure is process.killed_by is None
    assert not process.running
    assert process.failure is None


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV])
def test_a_killed_process_names_the_signal(number: signal.Signals) -> None:
    half_a_line = "sys.stdout.write('{\"half'); sys.stdout.flush(); "
    with started(f"import sys; {SAYS_ITS_NUMBER}{half_a_line}{UNTIL_THE_INPUT_ENDS}") as process:
        messages = process.messages()
        os.kill(next(messages)["pid"], number)
        assert list(messages) == []  # what it had not finished saying does not count
        process.wait()
        assert process.killed_by == number.name
        assert process.failure == f"It was killed by {number.name}."


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("import sys; sys.exit('ntm: one line.\\nntm: There is no task.')", "There is no task."),
        ("import sys; sys.exit(3)", "It ended with the exit code 3."),
        ("import sys; sys.exit(130)", None),
        ("pass", None),
    ],
)
def test_a_process_that_fails_says_why(code: str, reason: str | None) -> None:
    with started(code) as process:
        process.wait()
        assert (process.failure, process.killed_by) == (reason, None)
    assert process.failure is None  # closed


def test_a_request_to_stop_waits_until_the_process_is_ready() -> None:
    listens = f"import sys; {SAYS_ITS_NUMBER}sys.stdin.readline(); "
    with started(listens + HANDLES + UNBLOCKS + "import time; time.sleep(600)") as process:
        next(process.messages())
        for _ in range(2):
            process.stop()
        assert process.running
        process.tell({})
        process.wait()
        assert process.killed_by is None
        assert process.failure is None


def test_a_process_that_does_not_stop_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "_SECONDS_TO_STOP", 0.1)
    with started(SAYS_ITS_NUMBER + UNTIL_THE_INPUT_ENDS) as process:  # it never unblocks SIGTERM
        next(process.messages())
        process.stop()
        process.end()
        assert process.killed_by == "SIGKILL"
        assert process.failure is None  # somebody asked for it


def test_a_process_that_cannot_be_started_leaves_nothing_open(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with pytest.raises(OSError, match="/nowhere/python"):
        TrainingProcess("-c", "pass")

"""Calls of the command in this process."""

from collections.abc import Callable


def exit_code(call: Callable[[], int]) -> object:
    try:
        return call()
    except SystemExit as stop:
        return stop.code

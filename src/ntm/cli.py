"""The `ntm` command: `ntm.commands` has what each command does."""

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from ntm.commands import COMMANDS
from ntm.commands.base import WrongCallError
from ntm.commands.names import model_names, task_names
from ntm.common.text import unknown

WRONG_CALL, FAILED, INTERRUPTED = 2, 1, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code: 0 done, 1 a failed job, 2 a wrong call."""
    arguments = sys.argv[1:] if arguments is None else arguments
    try:
        if arguments and arguments[0] not in COMMANDS and not arguments[0].startswith("-"):
            raise WrongCallError(unknown("command", arguments[0], COMMANDS))
        options = make_parser().parse_args(arguments)
        return int(options.command(options))
    except KeyboardInterrupt:
        return _complain("Interrupted.", INTERRUPTED)
    except BrokenPipeError:
        # The reader of a pipe, say `head`, has seen enough; nothing may be flushed to it any more.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        code = _exit_code(error)
        if code is None:
            raise
        return _complain(str(error), code)


def make_parser() -> argparse.ArgumentParser:
    """All commands with their options."""
    parser = _Parser(
        prog="ntm",
        description="Neural Turing Machines: train, evaluate and look inside.",
        epilog=f"Tasks: {', '.join(task_names())}. Models: {', '.join(model_names())}.",
    )
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for name in COMMANDS:
        module = importlib.import_module(f"ntm.commands.{name}")
        added = commands.add_parser(name, help=module.HELP, description=f"{module.HELP}.")
        added.set_defaults(command=module.run)
        module.add_arguments(added)
    return parser


class _Parser(argparse.ArgumentParser):
    """argparse, with one sentence for an error."""

    def error(self, message: str) -> NoReturn:
        sentence = message if message.endswith(".") else f"{message}."
        self.exit(_complain(f"{sentence} See {self.prog} --help.", WRONG_CALL))


def _exit_code(error: Exception) -> int | None:
    """The exit code of a failure that its message explains; None for a bug."""
    if isinstance(error, WrongCallError):
        return WRONG_CALL
    from ntm.runs.errors import FolderError, RunError

    if isinstance(error, FolderError):
        return WRONG_CALL
    return FAILED if isinstance(error, RunError | OSError) else None


def _complain(sentence: str, code: int) -> int:
    print(f"ntm: {sentence}", file=sys.stderr)
    return code

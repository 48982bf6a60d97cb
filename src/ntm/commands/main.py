"""Entry point of the `ntm` command."""

import os
import sys
from collections.abc import Sequence

from ntm.commands import COMMANDS
from ntm.commands.base import WrongCallError
from ntm.commands.output import make_writable
from ntm.commands.parser import WRONG_CALL, complain, make_parser
from ntm.common.text import first_line, unknown

FAILED, INTERRUPTED = 1, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return the exit code: 0 done, 1 a failed job, 2 a wrong call."""
    arguments = sys.argv[1:] if arguments is None else arguments
    make_writable(sys.stdout)
    make_writable(sys.stderr)
    try:
        if arguments and arguments[0] not in COMMANDS and not arguments[0].startswith("-"):
            raise WrongCallError(unknown("command", arguments[0], COMMANDS))
        options = make_parser().parse_args(arguments)
        return int(options.command(options))
    except KeyboardInterrupt as stop:
        return complain(str(stop) or "Interrupted.", INTERRUPTED)
    except BrokenPipeError:
        # The reader of a pipe, such as `head`, has exited: do not flush to the pipe again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        code = _exit_code(error)
        if code is None:
            raise
        return complain(_sentence(error), code)


def _exit_code(error: Exception) -> int | None:
    """Return the exit code of an error that its message explains; None for a bug."""
    if isinstance(error, WrongCallError | FileExistsError | NotADirectoryError):
        return WRONG_CALL
    from ntm.runs.errors import FolderError, RunError

    if isinstance(error, FolderError):
        return WRONG_CALL
    explained = isinstance(error, RunError | OSError) or _lacks_memory(error)
    return FAILED if explained else None


def _lacks_memory(error: Exception) -> bool:
    """Return whether the error is about a tensor that is too large."""
    told = ("can't allocate memory", "Storage size calculation overflowed")
    return isinstance(error, MemoryError) or any(text in str(error) for text in told)


def _sentence(error: Exception) -> str:
    """Return the message of an error; for a system error, the file and the reason."""
    if isinstance(error, FileExistsError | NotADirectoryError):
        return f"{error.filename} is not a folder; name another one."
    if isinstance(error, OSError) and error.filename and error.strerror:
        named = error.filename
        return f"{os.fsdecode(named) if isinstance(named, bytes) else named}: {error.strerror}."
    if _lacks_memory(error):
        reason = first_line(error)
        return f"This machine has too little memory for that; choose smaller sizes ({reason})."
    return str(error)

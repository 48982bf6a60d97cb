"""Entry point of the `ntm` command."""

import codecs
import os
import sys
from collections.abc import Sequence
from typing import Any, TextIO

from ntm.commands import COMMANDS
from ntm.commands.base import FAILED, INTERRUPTED, WRONG_CALL, WrongCallError
from ntm.commands.parser import complain, make_parser
from ntm.common.text import first_line, unknown

_PLAIN_ENCODING = "ntm-plain"
_BLOCK = "\N{FULL BLOCK}"
# Characters of pictures: bars from low to high, where the full block means one; a dot for zero.
_PLAIN = {chr(0x2580 + height): str(height) for height in range(1, 8)}
_PLAIN |= {_BLOCK: "#", "\N{MIDDLE DOT}": ".", "\N{SUPERSCRIPT TWO}": "2"}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return the exit code: 0 done, 1 a failed job, 2 a wrong call."""
    make_writable(sys.stdout)
    make_writable(sys.stderr)
    try:
        return _run(sys.argv[1:] if arguments is None else arguments)
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


def _run(arguments: Sequence[str]) -> int:
    if arguments and arguments[0] not in COMMANDS and not arguments[0].startswith("-"):
        raise WrongCallError(unknown("command", arguments[0], COMMANDS))
    options = make_parser().parse_args(arguments)
    return int(options.command(options) or 0)


def _exit_code(error: Exception) -> int | None:
    """Return the exit code of an expected error, whose message is enough; None for a bug."""
    if isinstance(error, WrongCallError | FileExistsError | NotADirectoryError):
        return WRONG_CALL
    from ntm.runs.errors import FolderError, RunError

    if isinstance(error, FolderError):
        return WRONG_CALL
    from ntm.tasks import DataError

    explained = isinstance(error, RunError | OSError | DataError) or _lacks_memory(error)
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


def make_writable(stream: TextIO | None) -> None:
    """Make a stream replace characters that it cannot encode; pictures then use #, . and digits."""
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is None or stream is None:
        return
    try:
        _BLOCK.encode(stream.encoding)
    except UnicodeEncodeError:
        codecs.register_error(_PLAIN_ENCODING, _replaced)
        reconfigure(errors=_PLAIN_ENCODING)


def _replaced(error: Any) -> tuple[str | bytes, int]:
    """Return the replacement for unencodable characters, and the position after them."""
    missing = error.object[error.start : error.end]
    plain = (_PLAIN.get(c) or c.encode("ascii", "backslashreplace").decode() for c in missing)
    return "".join(plain), error.end

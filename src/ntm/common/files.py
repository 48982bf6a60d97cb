"""Atomic writes, and readers for JSON that may be damaged."""

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

# Longest accepted header of a safetensors file, in bytes: enough for ten thousand tensors.
_LONGEST_HEADER = 2_000_000


def parse_json(text: str | bytes, *, strict: bool = False) -> Any:
    """Return the value of a JSON text; raise ValueError if the text is wrong.

    strict: whether NaN and Infinity are errors, too: Python accepts them, JSON does not (False).
    """
    try:
        return json.loads(text, parse_constant=_refuse_constant if strict else None)
    except ValueError as error:
        raise ValueError(f"not JSON: {error}") from error
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def _refuse_constant(word: str) -> None:
    raise ValueError(f"JSON has no number {word}")


def require_short_header(file: str | Path) -> None:
    """Raise an error if the header of a safetensors file is too long to keep in memory."""
    with Path(file).open("rb") as opened:
        header = int.from_bytes(opened.read(8), "little")
    if header > _LONGEST_HEADER:
        raise ValueError(
            f"it is not a safetensors file, or it is damaged: its header has {header:,} bytes."
        )


def write_atomically(path: Path, content: bytes) -> None:
    """Replace a file atomically: even after a power cut, it has its old or its new content."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
        sync_folder(path.parent)
    except OSError as error:  # an error of a full disk does not name the file
        raise OSError(error.errno, error.strerror, str(path)) from error
    finally:
        with suppress(OSError):  # do not hide the error above
            temporary.unlink(missing_ok=True)


def sync_folder(folder: Path) -> None:
    """Flush the entries of a folder to disk, except on Windows."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def remove_leftovers(folder: Path) -> None:
    """Delete the temporary files that killed processes left in a folder."""
    for temporary in folder.glob(".*.tmp"):
        temporary.unlink(missing_ok=True)

"""Atomic writes, and JSON from files that may be damaged."""

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

# Bytes of names and shapes in a safetensors file: enough for ten thousand tensors.
_LONGEST_HEADER = 2_000_000


def parse_json(text: str | bytes, *, strict: bool = False) -> Any:
    """The value of a JSON text; a ValueError says what is wrong with it.

    strict: without NaN and Infinity, which Python reads and JSON does not have.
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
    """Refuse a safetensors file that lists more than any of ours: readers keep all of the list."""
    with Path(file).open("rb") as opened:
        header = int.from_bytes(opened.read(8), "little")
    if header > _LONGEST_HEADER:
        raise ValueError(
            f"it is not a safetensors file, or it is torn: its header has {header:,} bytes."
        )


def write_atomically(path: Path, content: bytes) -> None:
    """Replace a file so that a reader, even after a power cut, finds the old content or the new."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
        sync_folder(path.parent)
    except OSError as error:  # on a full disk the error would not name the file
        raise OSError(error.errno, error.strerror, str(path)) from error
    finally:
        with suppress(OSError):  # it would hide the error above
            temporary.unlink(missing_ok=True)


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable, where the system can."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def remove_leftovers(folder: Path) -> None:
    """Delete the temporary files of writers that were killed."""
    for temporary in folder.glob(".*.tmp"):
        temporary.unlink(missing_ok=True)

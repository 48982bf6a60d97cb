"""Atomic writes, and JSON from files that may be damaged."""

import json
import os
from pathlib import Path
from typing import Any


def parse_json(text: str | bytes) -> Any:
    """The value of a JSON text; a ValueError says what is wrong with it."""
    try:
        return json.loads(text)
    except ValueError as error:
        raise ValueError(f"not JSON: {error}") from error
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


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

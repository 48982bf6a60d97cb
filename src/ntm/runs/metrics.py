"""The learning curve on disk: metrics.jsonl, and TensorBoard events where that is installed."""

import json
import os
from pathlib import Path
from typing import Any

from ntm.runs.errors import RunError
from ntm.runs.files import write_atomically

Line = dict[str, Any]


def read_metrics(path: str | Path) -> list[Line]:
    """The lines of a metrics.jsonl; a last line that is torn, as after a crash, is left out."""
    path = Path(path)
    if not path.exists():
        return []
    *whole, _torn = path.read_bytes().split(b"\n")
    try:
        return [json.loads(text) for text in whole]
    except ValueError as error:
        raise RunError(f"{path} has a line that is not JSON: {error}.") from error


class Metrics:
    """The metrics.jsonl of a run that goes on after `sequences`; later lines are cut off."""

    def __init__(self, path: Path, sequences: int) -> None:
        kept = [line for line in read_metrics(path) if line["sequences"] <= sequences]
        write_atomically(path, b"".join(_encoded(line) for line in kept))
        self._file = path.open("ab", buffering=0)

    def write(self, line: Line) -> None:
        """Append one line."""
        self._file.write(_encoded(line))

    def sync(self) -> None:
        """Make all lines durable: a checkpoint must not be newer than its curve."""
        os.fsync(self._file.fileno())

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def _encoded(line: Line) -> bytes:
    return json.dumps(line).encode() + b"\n"

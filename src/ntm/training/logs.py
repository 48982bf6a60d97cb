"""The learning curve on disk: metrics.jsonl, and TensorBoard events where that is installed."""

import importlib.util
import json
import os
from pathlib import Path
from typing import Any

from ntm.training.files import RunError, write_atomically

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


class TensorBoard:
    """Scalars for TensorBoard; does nothing where it is not installed.

    sequences: where the run goes on; what an earlier process recorded beyond it is to be ignored.
    """

    def __init__(self, folder: Path, sequences: int) -> None:
        self._folder, self._sequences = folder, sequences
        self._installed = importlib.util.find_spec("tensorboard") is not None
        self._writer: Any = None

    def write(self, line: Line) -> None:
        """Record every number of a line of metrics over the sequences seen."""
        if not self._installed:
            return
        if self._writer is None:
            # Imported at the first report, not at the start: it takes a noticeable moment.
            from torch.utils.tensorboard.writer import SummaryWriter

            self._writer = SummaryWriter(str(self._folder), purge_step=self._sequences + 1)
        for name, value in line.items():
            if name != "sequences":
                self._writer.add_scalar(name, value, line["sequences"])

    def sync(self) -> None:
        """Hand all events to the system."""
        if self._writer is not None:
            self._writer.flush()

    def close(self) -> None:
        """Flush and close the event file."""
        if self._writer is not None:
            self._writer.close()


def _encoded(line: Line) -> bytes:
    return json.dumps(line).encode() + b"\n"

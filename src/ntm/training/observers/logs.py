"""The learning curve: metrics.jsonl, and TensorBoard events where that is installed."""

import importlib.util
import json
import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ntm.common.files import write_atomically
from ntm.runs.metrics import Line, read_metrics
from ntm.training.observers.base import Observer

if TYPE_CHECKING:
    from ntm.training.loop import Trainer


class MetricsLog(Observer):
    """A line of metrics.jsonl per report.

    sequences: where the run resumes; later lines of an earlier process are removed.
    """

    def __init__(self, path: Path, sequences: int) -> None:
        kept = [line for line in read_metrics(path) if line["sequences"] <= sequences]
        write_atomically(path, b"".join(map(_encoded, kept)))
        self._file = path.open("ab", buffering=0)

    def reported(self, run: "Trainer", line: Line) -> None:
        """Append the whole line: a disk that is nearly full takes only a part at a time."""
        rest = memoryview(_encoded(line))
        while rest:
            rest = rest[self._file.write(rest) :]

    def saving(self, run: "Trainer") -> None:
        """Make all lines durable: a checkpoint must not be newer than its curve."""
        os.fsync(self._file.fileno())

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def _encoded(line: Line) -> bytes:
    return json.dumps(line).encode() + b"\n"


class TensorBoardLog(Observer):
    """Scalars for TensorBoard; does nothing where it is not installed.

    sequences: where the run resumes; what an earlier process recorded beyond it is ignored.
    """

    def __init__(self, folder: Path, sequences: int) -> None:
        self._folder, self._sequences = folder, sequences
        self._installed = importlib.util.find_spec("tensorboard") is not None
        self._writer: Any = None
        self._print_error = threading.excepthook

    def reported(self, run: "Trainer", line: Line) -> None:
        """Record every number of the line over the sequences seen."""
        if not self._installed:
            return
        if self._writer is None:
            # Imported at the first report, not at the start: it takes a noticeable moment.
            from torch.utils.tensorboard.writer import SummaryWriter

            threading.excepthook = self._not_of_tensorboard
            self._writer = SummaryWriter(str(self._folder), purge_step=self._sequences + 1)
        for name, value in line.items():
            if name != "sequences":
                self._writer.add_scalar(name, value, line["sequences"])

    def saving(self, run: "Trainer") -> None:
        """Hand all events to the system."""
        if self._writer is not None:
            self._writer.flush()

    def close(self) -> None:
        """Flush and close the event file."""
        if self._writer is not None:
            self._writer.close()
            threading.excepthook = self._print_error

    def _not_of_tensorboard(self, error: threading.ExceptHookArgs) -> None:
        """What its thread fails with, a full disk say, it raises again at the next call."""
        if type(error.thread).__name__ != "_AsyncWriterThread":
            self._print_error(error)

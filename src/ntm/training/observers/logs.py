"""Logs of the learning curve: metrics.jsonl and, if installed, TensorBoard events."""

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
    """Observer that appends a line to metrics.jsonl per report.

    sequences: number of sequences at which the run resumes; later lines are removed.
    """

    def __init__(self, path: Path, sequences: int) -> None:
        kept = [line for line in read_metrics(path) if line["sequences"] <= sequences]
        write_atomically(path, b"".join(map(_encoded, kept)))
        self._file = path.open("ab", buffering=0)

    def reported(self, run: "Trainer", line: Line) -> None:
        """Append the line, in several writes if necessary, as on a nearly full disk."""
        rest = memoryview(_encoded(line))
        while rest:
            rest = rest[self._file.write(rest) :]

    def saving(self, run: "Trainer") -> None:
        """Write all lines to disk: a checkpoint must not be newer than its learning curve."""
        os.fsync(self._file.fileno())

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def _encoded(line: Line) -> bytes:
    return json.dumps(line).encode() + b"\n"


class TensorBoardLog(Observer):
    """Observer that writes scalars for TensorBoard, if TensorBoard is installed.

    sequences: number of sequences at which the run resumes; TensorBoard ignores later records.
    """

    def __init__(self, folder: Path, sequences: int) -> None:
        self._folder, self._sequences = folder, sequences
        self._installed = importlib.util.find_spec("tensorboard") is not None
        self._writer: Any = None
        self._print_error = threading.excepthook

    def reported(self, run: "Trainer", line: Line) -> None:
        """Record every number of the line, with the number of sequences as the step."""
        if not self._installed:
            return
        if self._writer is None:
            # Imported at the first report because the import is slow.
            from torch.utils.tensorboard.writer import SummaryWriter

            threading.excepthook = self._not_of_tensorboard
            self._writer = SummaryWriter(str(self._folder), purge_step=self._sequences + 1)
        for name, value in line.items():
            if name != "sequences":
                self._writer.add_scalar(name, value, line["sequences"])

    def saving(self, run: "Trainer") -> None:
        """Flush all events to the file."""
        if self._writer is not None:
            self._writer.flush()

    def close(self) -> None:
        """Flush and close the event file."""
        if self._writer is not None:
            self._writer.close()
            threading.excepthook = self._print_error

    def _not_of_tensorboard(self, error: threading.ExceptHookArgs) -> None:
        """Do not print errors of TensorBoard's thread: its next call raises them again."""
        if type(error.thread).__name__ != "_AsyncWriterThread":
            self._print_error(error)

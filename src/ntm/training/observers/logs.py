"""The learning curve: metrics.jsonl, and TensorBoard events where that is installed."""

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ntm.runs.metrics import Line, Metrics
from ntm.training.observers.base import Observer

if TYPE_CHECKING:
    from ntm.training.loop import Trainer


class MetricsLog(Observer):
    """A line of metrics.jsonl per report; lines after `sequences`, where the run goes on, go."""

    def __init__(self, path: Path, sequences: int) -> None:
        self._metrics = Metrics(path, sequences)

    def reported(self, run: "Trainer", line: Line) -> None:
        """Append the line."""
        self._metrics.write(line)

    def saving(self, run: "Trainer") -> None:
        """A checkpoint must not be newer than its curve."""
        self._metrics.sync()

    def close(self) -> None:
        """Close the file."""
        self._metrics.close()


class TensorBoardLog(Observer):
    """Scalars for TensorBoard; does nothing where it is not installed.

    sequences: where the run goes on; what an earlier process recorded beyond it is to be ignored.
    """

    def __init__(self, folder: Path, sequences: int) -> None:
        self._folder, self._sequences = folder, sequences
        self._installed = importlib.util.find_spec("tensorboard") is not None
        self._writer: Any = None

    def reported(self, run: "Trainer", line: Line) -> None:
        """Record every number of the line over the sequences seen."""
        if not self._installed:
            return
        if self._writer is None:
            # Imported at the first report, not at the start: it takes a noticeable moment.
            from torch.utils.tensorboard.writer import SummaryWriter

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

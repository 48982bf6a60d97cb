"""The learning curve as TensorBoard events, where that is installed."""

import importlib.util
from pathlib import Path
from typing import Any

from ntm.runs.metrics import Line


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

"""Observers that show the progress of a run and pictures of its answers."""

import time
from typing import TYPE_CHECKING

import torch

from ntm.training.observers.base import Observer
from ntm.training.progress import Progress, Status

if TYPE_CHECKING:
    from ntm.tasks import Batch
    from ntm.training.loop import Trainer


class Display(Observer):
    """Observer that shows the progress of a run."""

    def __init__(self, progress: Progress) -> None:
        self.progress = progress
        self.interval, self.first = progress.interval, min(1.0, progress.interval)

    def started(self, run: "Trainer") -> None:
        """Print what is trained."""
        self._shown, self._speed = (time.perf_counter(), run.sequences), 0.0
        self._began = run.sequences
        if run.ending() is not None:  # a finished run was resumed: nothing to show
            return
        self.progress.note(_introduction(run))
        if run.state.starts.deciding:
            self.progress.note(run.state.starts.announcement(run.settings.training.sequences))

    def decided(self, run: "Trainer", verdict: str) -> None:
        """Print which start continues."""
        self.progress.note(verdict)

    def tick(self, run: "Trainer") -> None:
        """Show the progress of the run."""
        now, counters = time.perf_counter(), run.state.counters
        since, sequences = self._shown
        if run.sequences > sequences:
            self._speed = (run.sequences - sequences) / (now - since)
        bits, pending = counters.last_bits, counters.sequences - counters.reported
        if bits is None and pending:
            bits = counters.bits / pending
        starts = run.state.starts
        end = starts.others + run.goal  # of the trial, or of the run with this start
        self.progress.update(Status(run.sequences, end, bits, self._speed, starts.on_trial))
        self._shown = now, run.sequences

    def ended(self, run: "Trainer") -> None:
        """Show the final progress, if there was any."""
        if run.sequences > self._began:
            self.tick(run)


class Pictures(Observer):
    """Observer that shows an answer to the same problem every few seconds."""

    def __init__(self, progress: Progress, seconds: float, example: "Batch") -> None:
        self.progress, self.interval, self.example = progress, seconds, example

    @torch.no_grad()
    def tick(self, run: "Trainer") -> None:
        """Show the current answer."""
        logits, _ = run.model(self.example.inputs, lengths=self.example.lengths)
        picture = run.settings.task.render(self.example.to("cpu"), 0, logits.cpu())
        self.progress.picture(picture)


def _introduction(run: "Trainer") -> str:
    settings, chosen = run.settings, run.settings.training
    parameters = sum(parameter.numel() for parameter in run.model.parameters())
    start = f"from sequence {run.sequences:,}" if run.sequences else "from the start"
    end = f"at most {run.planned:,}" if run.state.starts.deciding else f"{run.planned:,}"
    return (
        f"Training {settings.model_name} on {settings.task.name}: {parameters:,} parameters, "
        f"{settings.family.runs_on(run.model)}, batch size {chosen.batch_size}, "
        f"seed {chosen.seed}, {start} to {end}"
        + (f", in {run.folder.path}." if run.folder else ".")
    )

"""Observers that show the progress of a run and pictures of its answers."""

import sys
import time
from typing import TYPE_CHECKING, NamedTuple, TextIO

import torch

from ntm.common.text import duration
from ntm.terminal.progress import ProgressDisplay
from ntm.training.observing import Observer
from ntm.training.parallel import leads

if TYPE_CHECKING:
    from ntm.tasks import Batch
    from ntm.training.loop import Trainer


class Status(NamedTuple):
    """Progress of a run at one moment."""

    sequences: int
    total: int
    bits: float | None
    """Recent mean cost per sequence; None at the start."""
    speed: float
    """Number of sequences per second, measured recently."""
    start: int = 0
    """Number of the start on trial, from 1; `total` is then the end of the trial (0: no trial)."""


class Progress:
    """Display for the progress of a run; this base class shows nothing."""

    interval = 3600.0
    """Seconds between two updates."""
    pictures = False
    """Whether `picture` shows anything."""

    def note(self, text: str) -> None:
        """Print a permanent line."""

    def update(self, status: Status) -> None:
        """Show the progress of the run."""

    def picture(self, text: str) -> None:
        """Show an example."""

    def close(self) -> None:
        """Restore the terminal."""


class Shown(ProgressDisplay, Progress):
    """Progress as a bar at the bottom of a terminal, or as lines every few seconds in a log."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__(stream)
        self.pictures = self.is_terminal
        self.interval = 0.2 if self.is_terminal else 5.0

    picture = ProgressDisplay.note

    def update(self, status: Status) -> None:
        """Move the bar, or print a line."""
        words, start = _in_words(status), f"start {status.start}:" if status.start else ""
        line = f"{start} {status.sequences:,} of {status.total:,} sequences, {words}".lstrip()
        self.show(line, [(start, status.sequences / status.total, words)])


def make_progress(stream: TextIO | None = None) -> Progress:
    """Return a bar for a terminal, or lines for a log; only one process of a run shows them."""
    return Shown(stream or sys.stdout) if leads() else Progress()


def _in_words(status: Status) -> str:
    cost = "no cost yet" if status.bits is None else f"{status.bits:.3f} bits per sequence"
    return f"{cost}, {status.speed:,.0f} sequences/s, {duration(_seconds_left(status))} left"


def _seconds_left(status: Status) -> float:
    left = max(status.total - status.sequences, 0)
    if left == 0:
        return 0.0
    return left / status.speed if status.speed > 0 else float("inf")


class Display(Observer):
    """Observer that shows the progress of a run."""

    def __init__(self, progress: Progress) -> None:
        self.progress = progress
        self.interval, self.first = progress.interval, min(1.0, progress.interval)

    def started(self, run: "Trainer") -> None:
        """Print a description of the run."""
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
        bits = counters.last_bits
        if bits is None and counters.sequences:
            bits = counters.mean_bits
        starts = run.state.starts
        end = starts.others + run.goal  # of the trial, or of the run with this start
        self.progress.update(Status(run.sequences, end, bits, self._speed, starts.on_trial))
        self._shown = now, run.sequences

    def ended(self, run: "Trainer") -> None:
        """Show the final progress, unless nothing was trained."""
        if run.sequences > self._began:
            self.tick(run)


class Pictures(Observer):
    """Observer that shows the answer to one fixed problem every few seconds."""

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

"""Progress of a job in stages: current stage, completed share, and state of every run."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from math import isfinite
from typing import Any, TypeVar

from ntm.common.text import duration
from ntm.scale.forecast import Forecast, measured_seconds
from ntm.scale.jobs import Standing
from ntm.scale.table import table_of_runs
from ntm.terminal.progress import ProgressDisplay

PartType = TypeVar("PartType")

# Rough share of each stage in a whole reproduction, in percent.
_SHARES = {"train": 85, "evaluate": 6, "analyse": 4, "draw": 4, "report": 1}


class Stages:
    """Progress of a sequence of stages; display: where the progress is shown (None: nowhere)."""

    def __init__(self, names: Iterable[str], display: ProgressDisplay | None = None) -> None:
        self.names, self._display = list(names), display
        self._standings: Sequence[Standing] = ()
        self._forecast = Forecast(measured_seconds if display else None)
        self._started = time.monotonic()
        self.begin(self.names[0], 1)

    def begin(self, name: str, parts: int) -> None:
        """Start a stage with this many parts."""
        self._number = self.names.index(name)
        self._parts, self._finished, self._part = parts, 0.0, ""
        self._standings = ()

    def each(
        self, name: str, parts: Sequence[PartType], title: Callable[[PartType], str]
    ) -> Iterator[PartType]:
        """Start a stage and yield its parts. A part is done when the next one is requested."""
        self.begin(name, len(parts))
        for part in parts:
            self.doing(title(part))
            yield part
            self.doing(title(part))  # the work may have replaced the title by a detail
            self.done()

    def doing(self, part: str) -> None:
        """Show the name of the current part."""
        self._part = part
        if self._display and self._display.is_terminal:
            self._show()

    def done(self) -> None:
        """Count one part of the stage as done."""
        self._finished += 1
        self._show(now=True)

    def training(self, standings: Sequence[Standing]) -> None:
        """Update the state of the training runs."""
        self._forecast.observe(standings)
        self._finished = self._forecast.share_done(standings) * self._parts
        self._standings = tuple(standings)
        self._show(now=all(standing.ended for standing in standings))

    def note(self, text: str) -> None:
        """Print a line above the progress bars, which stays on the terminal."""
        if self._display:
            self._display.note(text)

    @property
    def title(self) -> str:
        """Number and name of the stage, such as "[2/5] evaluate"."""
        return f"[{self._number + 1}/{len(self.names)}] {self.names[self._number]}"

    @property
    def of_stage(self) -> float:
        """Share of the stage that is done."""
        return min(self._finished / self._parts, 1.0) if self._parts else 1.0

    @property
    def of_all(self) -> float:
        """Approximate share of all stages that is done."""
        sizes = [_SHARES[name] for name in self.names]
        return (sum(sizes[: self._number]) + sizes[self._number] * self.of_stage) / sum(sizes)

    def _show(self, now: bool = False) -> None:
        if self._display is None:
            return
        left = self._training_left()
        elapsed = duration(time.monotonic() - self._started)
        bars = [("all", self.of_all, f"{elapsed}{left}"), (self.title, self.of_stage, "")]
        self._display.show(self._line(left), bars, self._below, now)

    def _line(self, left: str) -> str:
        if not self._standings:
            parts = f"{self._finished:.0f} of {self._parts}"
            return f"{self.title} {parts}: {self._part} ({self.of_all:.0%} of all)"
        finished = sum(standing.state == "finished" for standing in self._standings)
        running = [_in_words(s) for s in self._standings if s.state == "running"]
        counted = f"{self.title} {finished} of {len(self._standings)} runs finished"
        return "; ".join([f"{counted} ({self.of_all:.0%} of all{left})", *running])

    def _training_left(self) -> str:
        if not any(standing.state == "running" for standing in self._standings):
            return ""
        left = self._forecast.seconds_left(self._standings)
        return f", {duration(left)} of training left" if isfinite(left) else ""

    def _below(self) -> list[Any]:
        # The runs come last because there may be more runs than lines on the terminal.
        return [self._part, *([table_of_runs(self._standings)] if self._standings else [])]


def _in_words(standing: Standing) -> str:
    bits = "" if standing.bits is None else f", {standing.bits:.3f} bits"
    return f"{standing.job.name} {standing.sequences:,} of {standing.job.sequences:,}{bits}"

"""Progress of the whole and of the part: which stage, how far, and where every run stands."""

import time
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Protocol, TextIO

from ntm.common.text import duration

if TYPE_CHECKING:
    from ntm.scale import Standing

# About how much of a whole reproduction each stage takes.
_SHARES = {"train": 85, "evaluate": 6, "analyse": 4, "draw": 4, "report": 1}


class Progress(Protocol):
    """Somewhere to show progress."""

    def stage(self, name: str, parts: int) -> None:
        """A stage of so many parts begins."""

    def doing(self, part: str) -> None:
        """This is being done now."""

    def done(self) -> None:
        """A part of the stage is done."""

    def training(self, standings: Sequence["Standing"]) -> None:
        """This is where the runs stand."""

    def note(self, text: str) -> None:
        """Say one thing."""


class Silent:
    """Shows nothing."""

    def stage(self, name: str, parts: int) -> None:
        """Nothing."""

    def doing(self, part: str) -> None:
        """Nothing."""

    def done(self) -> None:
        """Nothing."""

    def training(self, standings: Sequence["Standing"]) -> None:
        """Nothing."""

    def note(self, text: str) -> None:
        """Nothing."""


class Position:
    """How far a sequence of stages has come."""

    def __init__(self, stages: Iterable[str]) -> None:
        self.stages = list(stages)
        self.number = 0
        self.parts, self.finished = 1, 0.0
        self.part = ""

    def begin(self, name: str, parts: int) -> None:
        """A stage begins."""
        self.number = self.stages.index(name)
        self.parts, self.finished, self.part = parts, 0.0, ""

    @property
    def title(self) -> str:
        """Which stage of how many: [2/5] evaluate."""
        return f"[{self.number + 1}/{len(self.stages)}] {self.stages[self.number]}"

    @property
    def of_stage(self) -> float:
        """The share of the stage that is done."""
        return min(self.finished / self.parts, 1.0) if self.parts else 1.0

    @property
    def of_all(self) -> float:
        """About the share of everything that is done."""
        sizes = [_SHARES[name] for name in self.stages]
        return (sum(sizes[: self.number]) + sizes[self.number] * self.of_stage) / sum(sizes)


class Lines(AbstractContextManager["Lines"]):
    """A line for every part, and while runs are trained one every few seconds: for logs."""

    interval = 15.0

    def __init__(self, stages: Iterable[str], stream: TextIO) -> None:
        self._position, self._stream = Position(stages), stream
        self._due = 0.0

    def __exit__(self, *error: object) -> None:
        """Nothing to leave behind."""

    def stage(self, name: str, parts: int) -> None:
        """A stage begins."""
        self._position.begin(name, parts)

    def doing(self, part: str) -> None:
        """Remember it: it is said when it is done."""
        self._position.part = part

    def done(self) -> None:
        """A part is done."""
        at = self._position
        at.finished += 1
        self.note(f"{at.title} {at.finished:.0f} of {at.parts}: {at.part} ({at.of_all:.0%} of all)")

    def training(self, standings: Sequence["Standing"]) -> None:
        """Where the runs stand."""
        self._position.finished = sum(map(_share_done, standings))
        over = all(standing.state not in {"waiting", "running"} for standing in standings)
        if time.monotonic() < self._due and not over:
            return
        self._due = time.monotonic() + self.interval
        finished = sum(standing.state == "finished" for standing in standings)
        running = "; ".join(_in_words(s) for s in standings if s.state == "running")
        self.note(
            f"{self._position.title} {finished} of {len(standings)} runs finished "
            f"({self._position.of_all:.0%} of all){f'; {running}' if running else ''}"
        )

    def note(self, text: str) -> None:
        """Print one line."""
        print(text, file=self._stream, flush=True)


class Live(AbstractContextManager["Live"]):
    """Bars for everything and for the stage, then a table of the runs, at a terminal's foot."""

    def __init__(self, stages: Iterable[str], stream: TextIO) -> None:
        from rich.console import Console
        from rich.live import Live as RichLive

        self._position = Position(stages)
        self._standings: Sequence[Standing] = ()
        self._started = time.monotonic()
        console = Console(file=stream, highlight=False, markup=False)
        self._live = RichLive(console=console, get_renderable=self._picture, refresh_per_second=4)

    def __enter__(self) -> "Live":
        self._live.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._live.stop()

    def stage(self, name: str, parts: int) -> None:
        """A stage begins."""
        self._position.begin(name, parts)
        self._standings = ()

    def doing(self, part: str) -> None:
        """What is being done now."""
        self._position.part = part

    def done(self) -> None:
        """A part is done."""
        self._position.finished += 1

    def training(self, standings: Sequence["Standing"]) -> None:
        """Where the runs stand."""
        self._position.finished = sum(map(_share_done, standings))
        self._standings = tuple(standings)

    def note(self, text: str) -> None:
        """Print one line above the bars."""
        self._live.console.print(text)

    def _picture(self) -> Any:
        from rich.console import Group
        from rich.progress_bar import ProgressBar
        from rich.table import Table

        at, bars = self._position, Table.grid(padding=(0, 1))
        elapsed = duration(time.monotonic() - self._started)
        for name, share, text in (("all", at.of_all, elapsed), (at.title, at.of_stage, "")):
            bar = ProgressBar(total=1, completed=share, width=30)
            bars.add_row(name, bar, f"{share:.0%}", text)
        # The runs come last: they may be more than the terminal has lines.
        return Group(bars, at.part, *([self._runs()] if self._standings else []))

    def _runs(self) -> Any:
        from rich.box import SIMPLE_HEAD
        from rich.table import Table

        table = Table(box=SIMPLE_HEAD, padding=(0, 1))
        for number, name in enumerate(("run", "state", "sequences", "bits", "per second")):
            table.add_column(name, justify="left" if number < 2 else "right")
        for standing in self._standings:
            table.add_row(*_cells(standing))
        return table


def make_progress(stages: Iterable[str], stream: TextIO) -> Lines | Live:
    """Bars where there is a terminal, plain lines where there is none."""
    return Live(stages, stream) if stream.isatty() else Lines(stages, stream)


def _share_done(standing: "Standing") -> float:
    over = standing.state not in {"waiting", "running"}
    return 1.0 if over else standing.sequences / standing.job.sequences


def _in_words(standing: "Standing") -> str:
    bits = "" if standing.bits is None else f", {standing.bits:.3f} bits"
    return f"{standing.job.name} {standing.sequences:,} of {standing.job.sequences:,}{bits}"


def _cells(standing: "Standing") -> tuple[str, ...]:
    return (
        standing.job.name,
        standing.state,
        f"{standing.sequences:,} of {standing.job.sequences:,}",
        "" if standing.bits is None else f"{standing.bits:.3f}",
        f"{standing.speed:,.0f}" if standing.state == "running" else "",
    )

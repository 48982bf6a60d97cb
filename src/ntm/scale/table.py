"""Display of many runs: a live table on a terminal, lines elsewhere."""

from collections import Counter
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any, TextIO

from ntm.common.text import duration
from ntm.scale.forecast import Forecast
from ntm.scale.jobs import JobState, Standing
from ntm.terminal.progress import ProgressDisplay

_ORDER: tuple[JobState, ...] = ("running", "failed", "interrupted", "waiting", "finished")
_COLOURS = {"running": "cyan", "failed": "red", "interrupted": "yellow", "finished": "green"}
_LINE_SECONDS = 10.0


class RunsView(AbstractContextManager["RunsView"]):
    """View of all jobs: a table on a terminal; in a log, a line whenever a run starts or ends.

    The table never grows beyond the screen; running and failed jobs come first.
    """

    def __init__(self, stream: TextIO) -> None:
        self._display = ProgressDisplay(stream, _LINE_SECONDS, delay=_LINE_SECONDS, keep=False)
        self._forecast = Forecast()
        self._known: dict[str, tuple[JobState, str | None]] = {}

    def __exit__(self, *error: object) -> None:
        self._display.close()

    def show(self, standings: Sequence[Standing]) -> None:
        """Redraw the table on a terminal; in a log, print a line for each change."""
        self._forecast.observe(standings)
        line = counts(standings, self._forecast.seconds_left(standings))
        if not self._display.is_terminal:
            self._tell_changes(standings)
        self._display.show(line, below=lambda: [self._table(standings), line])

    def _table(self, standings: Sequence[Standing]) -> Any:
        rows = max(3, self._display.height - 6)
        return table_of_runs(sorted(standings, key=lambda s: _ORDER.index(s.state))[:rows])

    def _tell_changes(self, standings: Sequence[Standing]) -> None:
        for standing in standings:
            name, news = str(standing.job.folder), (standing.state, standing.reason)
            if self._known.get(name, ("waiting", None)) != news:
                self._display.note(_news(standing))
            self._known[name] = news


def table_of_runs(standings: Sequence[Standing]) -> Any:
    """Return a table of the runs for a terminal."""
    from rich.progress_bar import ProgressBar
    from rich.table import Table as RichTable
    from rich.text import Text

    table = RichTable(box=None, pad_edge=False, header_style="bold")
    for heading in ("run", "state", "", "sequences", "bits", "sequences/s"):
        right = heading in {"sequences", "bits", "sequences/s"}
        table.add_column(heading, justify="right" if right else "left", no_wrap=heading != "run")
    for standing in standings:
        table.add_row(
            Text(standing.job.name, overflow="fold"),
            Text(standing.state, style=_COLOURS.get(standing.state, "dim")),
            ProgressBar(standing.job.sequences, standing.sequences, width=16),
            f"{standing.sequences:,} of {standing.job.sequences:,}",
            _bits(standing),
            f"{standing.speed:,.0f}" if standing.speed else "",
        )
    return table


def _news(standing: Standing) -> str:
    line = f"{standing.job.name}: {standing.state}"
    if standing.sequences:
        line += f" at {standing.sequences:,} of {standing.job.sequences:,} sequences"
    if standing.bits is not None:
        line += f", {_bits(standing)} bits per sequence"
    return line if standing.reason is None else f"{line}. {standing.reason}"


def _bits(standing: Standing) -> str:
    return "" if standing.bits is None else f"{standing.bits:.3f}"


def counts(standings: Sequence[Standing], seconds_left: float) -> str:
    """Return one line for all jobs: 3 of 8 runs finished, 2 running, 3 waiting; 40 s left."""
    states = Counter(standing.state for standing in standings)
    finished = f"{states['finished']} of {len(standings)} runs finished"
    others = [f"{states[state]} {state}" for state in _ORDER[:-1] if states[state]]
    line = ", ".join([finished, *others])
    return f"{line}; {duration(seconds_left)} left" if states["running"] else line

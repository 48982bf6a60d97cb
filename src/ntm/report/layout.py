"""Layout of a folder of results, written by `ntm results` and `ntm reproduce`.

The folder contains the records of the runs (data/), figures, the tables (README.md) and everything
on one page (report.html).
"""

from pathlib import Path
from typing import Any

from ntm.paper.experiment import FigureSpec
from ntm.report.records import Record, read_json, read_records, store_json


class Results:
    """Folder of results."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.data, self.figures = path / "data", path / "figures"
        self.readme, self.report = path / "README.md", path / "report.html"
        self._machine = self.data / "machine.json"

    def records(self) -> list[Record]:
        """Return the records of all runs, ordered by name."""
        return read_records(self.data)

    def figure(self, figure: FigureSpec) -> Path:
        """Return the path of a figure, whether or not it exists."""
        return self.figures / f"{figure.stem}.svg"

    def write_machine(self, facts: dict[str, Any]) -> None:
        """Store facts about the machine that measured the results."""
        store_json(self._machine, facts)

    def machine(self) -> dict[str, Any]:
        """Return facts about the machine that measured the results; empty if none were stored."""
        if not self._machine.exists():
            return {}
        facts = read_json(self._machine)
        return {name: value for name, value in facts.items() if name != "format"}

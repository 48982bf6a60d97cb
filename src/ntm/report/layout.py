"""Where results are: the folder that `ntm results` fills and `ntm reproduce` reports on.

It has the records of the runs (data/), figures, the tables (README.md) and all on one page
(report.html).
"""

from pathlib import Path
from typing import Any

from ntm.paper.experiment import FigureSpec
from ntm.report.records import Record, read_json, read_records, store_json


class Results:
    """A folder of results."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.data, self.figures = path / "data", path / "figures"
        self.readme, self.report = path / "README.md", path / "report.html"
        self._machine = self.data / "machine.json"

    def records(self) -> list[Record]:
        """What is known of the runs, by name."""
        return read_records(self.data)

    def figure(self, figure: FigureSpec) -> Path:
        """Where a figure is, or would be."""
        return self.figures / f"{figure.stem}.svg"

    def write_machine(self, facts: dict[str, Any]) -> None:
        """Remember what the results were measured on."""
        store_json(self._machine, facts)

    def machine(self) -> dict[str, Any]:
        """What the results were measured on; empty if nothing was."""
        if not self._machine.exists():
            return {}
        facts = read_json(self._machine)
        return {name: value for name, value in facts.items() if name != "format"}

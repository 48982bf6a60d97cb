"""Where results are: the folder that `ntm results` fills and `ntm reproduce` reports on."""

import json
from pathlib import Path
from typing import Any, NamedTuple

from ntm.paper.experiment import FigureSpec
from ntm.report.records import FORMAT, Record, read_records
from ntm.runs.files import write_atomically


class Results(NamedTuple):
    """A folder of results."""

    path: Path

    @property
    def data(self) -> Path:
        """The records of the runs."""
        return self.path / "data"

    @property
    def figures(self) -> Path:
        """The paper's figures."""
        return self.path / "figures"

    @property
    def readme(self) -> Path:
        """The tables."""
        return self.path / "README.md"

    @property
    def report(self) -> Path:
        """Everything in one page."""
        return self.path / "report.html"

    def records(self) -> list[Record]:
        """What is known of the runs, by name."""
        return read_records(self.data)

    def figure(self, figure: FigureSpec) -> Path:
        """Where a figure is, or would be."""
        return self.figures / f"{figure.stem}.svg"

    def write_machine(self, facts: dict[str, Any]) -> None:
        """Remember what the results were measured on."""
        data = {"format": FORMAT, **facts}
        write_atomically(self._machine, json.dumps(data, indent=1).encode() + b"\n")

    def machine(self) -> dict[str, Any]:
        """What the results were measured on; empty if nothing was."""
        if not self._machine.exists():
            return {}
        facts: dict[str, Any] = json.loads(self._machine.read_bytes())
        return {name: value for name, value in facts.items() if name != "format"}

    @property
    def _machine(self) -> Path:
        return self.data / "machine.json"


def figure_title(figure: FigureSpec) -> str:
    """What a figure shows, with its number in the paper: Figure 3: copy learning curves."""
    return figure.name if figure.number is None else f"Figure {figure.number}: {figure.name}"

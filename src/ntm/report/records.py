"""A folder of results. A record is a folder of small files about one run, for all tables.

README.md               the tables
report.html             everything on one page
figures/                the figures
data/copy-ntm-ff-0/     the record of one run
  config.json           the settings
  curve.csv             the learning curve with fewer points: sequences,bits,seconds
  chosen.csv            the learning curve of the chosen start alone (runs that try several starts)
  evaluation.json       costs within and beyond the trained range, best and latest weights
  analysis.json         analysis of the heads (NTMs)
"""

import csv
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ntm.common.files import write_atomically
from ntm.paper.experiment import FigureSpec
from ntm.report.measure import WEIGHTS, Json
from ntm.runs import Run, RunError, Settings, read_metrics
from ntm.runs.facts import chosen_start, merged, validated
from ntm.tasks.cases import Case
from ntm.trace import Array

FORMAT = 1
FINENESS = 100
"""Resolution of a reduced curve: after n sequences, points are at least n / FINENESS apart."""


class LearningCurve(NamedTuple):
    """Learning curve: one value per point in each array."""

    sequences: Array
    bits: Array  # mean cost per sequence since the previous point
    seconds: Array  # time spent on training so far


@dataclass(frozen=True)
class RunRecord:
    """Settings, learning curve and measurements of one run."""

    name: str
    settings: Settings
    curve: LearningCurve
    evaluation: Json
    analysis: Json | None
    chosen: LearningCurve | None = None
    """Learning curve of the chosen start (None: a single start, or not stored)."""

    @property
    def own_curve(self) -> LearningCurve | None:
        """Learning curve without the sequences of other starts; None if it was not stored."""
        return self.chosen if self.settings.training.has_trials else self.curve

    @property
    def task(self) -> str:
        """Name of the task."""
        return self.settings.task.name

    @property
    def model(self) -> str:
        """Name of the model, as on the command line."""
        return self.settings.model_name

    @property
    def seed(self) -> int:
        """Seed of the run."""
        return self.settings.training.seed

    @property
    def sequences(self) -> int:
        """Number of sequences trained when the latest weights were saved."""
        return int(self._weights("latest")["sequences"])

    @property
    def best_at(self) -> int:
        """Number of sequences trained when the best weights were saved."""
        return int(self._weights("best")["sequences"])

    @property
    def seconds(self) -> float:
        """Training time in seconds."""
        return float(self.curve.seconds[-1]) if len(self.curve.seconds) else 0.0

    @property
    def validation_bits(self) -> float:
        """Validation cost of the best weights; infinite if there was no validation."""
        return float(self._weights("best").get("validation_bits", np.inf))

    @property
    def deciding_bits(self) -> float:
        """Validation cost for choosing the best weights: in the trained range plus beyond it.

        Infinite if there was no validation.
        """
        bits = validated(self._weights("best"))
        return np.inf if bits is None else bits

    def at(self, axes: Case, weights: str = "best") -> Json:
        """Return the evaluation at some sizes of the task, such as {"length": 120}."""
        for case in self._weights(weights)["cases"]:
            if case["at"] == axes:
                return dict(case)
        raise RunError(f"{self.name} was not evaluated at {axes}; run `ntm results` again.")

    def _weights(self, weights: str) -> Json:
        """Return the evaluation of these weights, or of the other ones if these are missing."""
        some = self.evaluation.get(weights) or next(
            self.evaluation[other] for other in WEIGHTS if other in self.evaluation
        )
        return dict(some)


class Results:
    """Folder of results, written by `ntm results` and `ntm reproduce`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.data, self.figures = path / "data", path / "figures"
        self.readme, self.report = path / "README.md", path / "report.html"
        self._machine = self.data / "machine.json"

    def records(self) -> list[RunRecord]:
        """Return the records of all runs, ordered by name; omit runs without an evaluation."""
        return [_read_record(file.parent) for file in sorted(self.data.glob("*/evaluation.json"))]

    def figure(self, figure: FigureSpec) -> Path:
        """Return the path of a figure, whether or not it exists."""
        return self.figures / f"{figure.stem}.svg"

    def write_machine(self, facts: Json) -> None:
        """Store facts about the machine that measured the results."""
        store_json(self._machine, facts)

    def machine(self) -> Json:
        """Return facts about the machine that measured the results; empty if none were stored."""
        facts = read_json(self._machine) if self._machine.exists() else {}
        return {name: value for name, value in facts.items() if name != "format"}


def thinned(metrics: list[dict[str, Any]]) -> LearningCurve:
    """Reduce the lines of a metrics.jsonl to a curve of at most a few hundred points."""
    ends, last = [], 0
    for number, line in enumerate(metrics):
        if line["sequences"] - last >= line["sequences"] / FINENESS or line is metrics[-1]:
            ends.append(number)
            last = line["sequences"]
    points = merged([(line["sequences"], line["bits"]) for line in metrics], ends)
    rows = [(*point, metrics[end]["seconds"]) for point, end in zip(points, ends, strict=True)]
    return LearningCurve(*np.array(rows, dtype=float).reshape(-1, 3).T)


def store_run(run: Run, folder: Path) -> None:
    """Copy the settings and the learning curve of a run to the folder of its record."""
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically(folder / "config.json", (run.path / "config.json").read_bytes())
    lines, training = read_metrics(run.metrics), run.settings.training
    write_atomically(folder / "curve.csv", _csv(thinned(lines)))
    if training.has_trials:
        own = chosen_start(lines, training.trial_length)
        write_atomically(folder / "chosen.csv", _csv(thinned(own)))


def store_json(file: Path, facts: Json) -> None:
    """Write facts to a JSON file. Measurements have a "key", which `is_up_to_date` compares."""
    data = {"format": FORMAT, **facts}
    write_atomically(file, json.dumps(data, indent=1).encode() + b"\n")


def is_up_to_date(file: Path, key: Json) -> bool:
    """Return whether a file exists and was made from the inputs that this key identifies."""
    return file.exists() and read_json(file).get("key") == key


def _read_record(folder: Path) -> RunRecord:
    analysis, chosen = folder / "analysis.json", folder / "chosen.csv"
    return RunRecord(
        folder.name,
        Run(folder).settings,
        _read_curve(folder / "curve.csv"),
        read_json(folder / "evaluation.json"),
        read_json(analysis) if analysis.exists() else None,
        _read_curve(chosen) if chosen.exists() else None,
    )


def read_json(file: Path) -> Json:
    """Read a file that `store_json` wrote; raise RunError if the file cannot be used."""
    try:
        data: Json = json.loads(file.read_bytes())
    except ValueError as error:
        raise RunError(f"{file} is not JSON: {error}; delete it and call again.") from error
    if data.get("format") != FORMAT:
        raise RunError(
            f"{file} has the format {data.get('format')!r}; this version reads {FORMAT}."
        )
    return data


def _csv(curve: LearningCurve) -> bytes:
    rows = zip(curve.sequences, curve.bits, curve.seconds, strict=True)
    lines = [f"{int(sequences)},{bits:.6g},{seconds:.2f}" for sequences, bits, seconds in rows]
    return "\n".join([",".join(curve._fields), *lines, ""]).encode()


def _read_curve(file: Path) -> LearningCurve:
    rows = list(csv.reader(file.read_text().splitlines()))[1:]
    return LearningCurve(*np.array(rows, dtype=float).reshape(-1, 3).T)

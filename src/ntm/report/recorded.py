"""Data of the figures in a folder of results."""

from collections.abc import Iterable, Sequence

import numpy as np

from ntm import pretrained
from ntm.evaluation.curves import CostCurve
from ntm.figures.runs import MissingError, RunFolders
from ntm.report.records import LearningCurve, Record
from ntm.runs import Run
from ntm.tasks import Task


class RecordedRuns(RunFolders):
    """Runs of a folder of results.

    Learning curves and costs come from the records, so a figure shows every run of the folder.
    Networks come from the given runs, or from the package if no run of that network is given.
    """

    def __init__(self, records: Sequence[Record], runs: Sequence[Run]) -> None:
        at_hand = {run.settings.network for run in runs}
        recorded = {record.settings.network for record in records}
        packaged = [
            name
            for name in pretrained.names()
            if pretrained.settings(name).network in recorded - at_hand
        ]
        super().__init__([*(run.path for run in runs), *packaged])
        self._records = records

    @property
    def tasks(self) -> list[str]:
        """Names of the tasks that have a record."""
        return list(dict.fromkeys(record.task for record in self._records))

    def task(self, name: str) -> Task:
        """Return a task with the settings of its first record."""
        return next(iter(self._of_task(name))).settings.task

    def learning_curves(self, task: str) -> dict[str, list[CostCurve]]:
        """Return the learning curves by model, over thousands of sequences."""
        curves: dict[str, list[CostCurve]] = {}
        for record in self._of_task(task):
            curve = record.own_curve
            if curve is None:
                self.lacking.append(f"the curve of the chosen start of {record.name}")
            elif len(curve.bits):
                curves.setdefault(record.model, []).append(_in_thousands(curve))
        if not curves:
            raise MissingError(f"learning curves of {task}")
        return curves

    def costs(self, task: str, axis: str, values: Sequence[int]) -> dict[str, list[CostCurve]]:
        """Return the mean costs along an axis of the task, by model: one curve per run."""
        costs: dict[str, list[CostCurve]] = {}
        for record in self._of_task(task):
            bits = [float(record.at({axis: value})["mean_bits"]) for value in values]
            curve = CostCurve(np.array(values, dtype=float), np.array(bits))
            costs.setdefault(record.model, []).append(curve)
        return costs

    def _of_task(self, task: str) -> Iterable[Record]:
        found = [record for record in self._records if record.task == task]
        if not found:
            raise MissingError(f"a run of {task}: ntm train {task}")
        return found


def _in_thousands(curve: LearningCurve) -> CostCurve:
    return CostCurve(curve.sequences / 1000, curve.bits)

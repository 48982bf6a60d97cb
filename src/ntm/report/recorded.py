"""What the figures of a folder of results are drawn from."""

from collections.abc import Iterable, Sequence

import numpy as np

from ntm import pretrained
from ntm.evaluation.curves import CostCurve
from ntm.figures.runs import MissingError, RunFolders
from ntm.report.records import LearningCurve, Record
from ntm.runs import Run
from ntm.tasks import Task


class RecordedRuns(RunFolders):
    """The runs of a folder of results.

    Learning curves and costs are those of the records, so a figure has every run of the folder.
    Networks are those of the runs at hand or, where a network has none, of the package.
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
        """The names of the tasks that have a record."""
        return list(dict.fromkeys(record.task for record in self._records))

    def task(self, name: str) -> Task:
        """A task with the settings of its first record."""
        return next(iter(self._of_task(name))).settings.task

    def learning_curves(self, task: str) -> dict[str, list[CostCurve]]:
        """For each model, the curves of its runs over thousands of sequences."""
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
        """For each model, the mean costs of its runs along an axis of the task."""
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

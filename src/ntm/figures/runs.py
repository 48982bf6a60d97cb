"""Data of the figures: learning curves, answers and recordings from run folders."""

from collections.abc import Callable, Iterable, Sequence
from math import inf
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from ntm.evaluation import evaluate
from ntm.evaluation.curves import CostCurve
from ntm.evaluation.findings import Analysis
from ntm.evaluation.recording import Recording, record
from ntm.figures.answers import Answer
from ntm.models import MODELS, Family, Model
from ntm.models import family as family_named
from ntm.runs import Run, RunError, block_generator, read_metrics
from ntm.runs.facts import chosen_start, validated
from ntm.runs.opening import open_runs
from ntm.tasks import Task, cost_in_bits
from ntm.tasks.cases import TRAINED_RANGE, Case

ANSWERS = 101
"""Number of problems of which figures show the answer of median cost."""


class MissingError(Exception):
    """Error for a figure whose data is missing in the runs; the message names the data."""


class TrainedNetwork(NamedTuple):
    """A trained network and its task."""

    title: str
    task: Task
    model: Model

    @torch.no_grad()
    def logits(self, inputs: Tensor) -> Tensor:
        """Return the outputs for inputs (time, batch, input_size), on the CPU."""
        there = inputs.to(next(self.model.parameters()).device)
        lengths = torch.full((inputs.shape[1],), len(inputs), device=there.device)
        logits: Tensor = self.model(there, lengths=lengths)[0]
        return logits.cpu()

    def answer(self, title: str, case: Case) -> Answer:
        """Return the answer with the median cost of `ANSWERS` problems, equal for all networks."""
        batch = self.task.at(**case).sample(ANSWERS, block_generator("figures", 1))
        logits = self.logits(batch.inputs)
        middle = int(cost_in_bits(logits, batch).argsort()[ANSWERS // 2])
        problem = batch.narrow(middle, middle + 1)
        return Answer.of(title, problem, logits[: len(problem.inputs), middle : middle + 1])

    def example(
        self, analyse: Callable[[Recording], Analysis], case: Case = TRAINED_RANGE
    ) -> tuple[Recording, int, int]:
        """Record one problem; return the recording, the write head and the read head to show.

        analyse: analysis that chooses the heads, as in `ntm analyse`.
        """
        analysis = analyse(record(self.model, self.task))
        recording = record(self.model, self.task.at(**case), sequences=1, seed=2)
        return recording, analysis.write_head, analysis.read_head


class RunFolders:
    """Run folders, by task and model.

    folders: runs, saved networks, or names of packaged networks. For any other
        folder, the runs directly inside it are used.
    task, family: task and family of saved networks that do not record them.
    """

    def __init__(
        self,
        folders: Iterable[str | Path],
        task: Task | None = None,
        family: Family | None = None,
    ) -> None:
        self.lacking: list[str] = []
        """Missing runs: figures were drawn without these runs."""
        self._runs: dict[tuple[str, str], list[Run]] = {}
        for run in open_runs(folders, task, family):
            self._runs.setdefault(run.settings.network, []).append(run)

    @property
    def tasks(self) -> list[str]:
        """Names of the tasks that have a run."""
        return list(dict.fromkeys(task for task, _ in self._runs))

    def task(self, name: str) -> Task:
        """Return a task with the settings of its first run."""
        return next(iter(self._of(name).values()))[0].settings.task

    def learning_curves(self, task: str) -> dict[str, list[CostCurve]]:
        """Return the learning curves by model; x is in thousands of sequences."""
        by_model = self._of(task)
        curves = {model: [_learning_curve(run) for run in runs] for model, runs in by_model.items()}
        curves = {model: [c for c in some if len(c.x)] for model, some in curves.items()}
        if not any(curves.values()):
            raise MissingError(f"the runs of {task} have no learning curve: ntm train {task}")
        return {model: some for model, some in curves.items() if some}

    def costs(self, task: str, axis: str, values: Sequence[int]) -> dict[str, list[CostCurve]]:
        """Return the mean costs along an axis of the task, by model: one curve per run."""
        return {
            model: [_costs(run, axis, values) for run in runs]
            for model, runs in self._of(task).items()
        }

    def best(self, task: str, *models: str) -> TrainedNetwork:
        """Return the network with the lowest cost, among the runs of the first model with runs."""
        for model in models:
            if runs := self._runs.get((task, model)):
                run = min(runs, key=_lowest_cost)
                return TrainedNetwork(family_named(model).title, run.settings.task, _loaded(run))
        raise MissingError(_advice(task, *(models or tuple(MODELS)[:1])))

    def with_heads(self, task: str) -> list[str]:
        """Return the models with a run whose traces record heads."""
        found = [runs[0].settings for (name, _), runs in self._runs.items() if name == task]
        return [s.model_name for s in found if s.family.describe(s.model).heads]

    def wanted(self, task: str, *models: str) -> list[TrainedNetwork]:
        """Return a list with the network of `best`; if none, return [] and add it to `lacking`."""
        try:
            return [self.best(task, *models)]
        except MissingError as error:
            self.lacking.append(str(error))
            return []

    def _of(self, task: str) -> dict[str, list[Run]]:
        found = {model: runs for (name, model), runs in self._runs.items() if name == task}
        if not found:
            raise MissingError(_advice(task, next(iter(MODELS))))
        return found


def _advice(task: str, *models: str) -> str:
    return f"a run of {task} with {' or '.join(models)}: ntm train {task} --model {models[0]}"


def _loaded(run: Run) -> Model:
    try:
        return run.load_model()[0].eval()
    except RunError as error:
        raise MissingError(str(error)) from error


def _learning_curve(run: Run) -> CostCurve:
    """Return the learning curve of the chosen start; x counts the sequences of this start."""
    lines = chosen_start(read_metrics(run.metrics), run.settings.training.trial_length)
    sequences = np.array([line["sequences"] for line in lines], dtype=float)
    return CostCurve(sequences / 1000, np.array([line["bits"] for line in lines], dtype=float))


def _lowest_cost(run: Run) -> float:
    lowest = validated(run.facts("best"))
    lines = read_metrics(run.metrics) if lowest is None else []
    return min((line["bits"] for line in lines), default=inf) if lowest is None else lowest


def _costs(run: Run, axis: str, values: Sequence[int]) -> CostCurve:
    model, task = _loaded(run), run.settings.task
    costs = [evaluate(model, task.at(**{axis: value}), sequences=200) for value in values]
    return CostCurve(np.array(values, dtype=float), np.array([cost.mean_bits for cost in costs]))

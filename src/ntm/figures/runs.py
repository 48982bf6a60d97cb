"""What figures are drawn from: learning curves, answers and recordings of the runs in folders."""

from collections.abc import Iterable, Sequence
from math import inf
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from ntm.evaluation import evaluate
from ntm.evaluation.heads import analyse
from ntm.evaluation.recording import Recording, record
from ntm.figures.answers import Answer
from ntm.models import MODELS, Family, Model
from ntm.models import family as family_named
from ntm.paper.experiment import TRAINED_RANGE, Case
from ntm.paper.published import CostCurve
from ntm.pretrained.runs import open_runs
from ntm.runs import Run, RunError, block_generator, read_metrics
from ntm.runs.facts import validated
from ntm.runs.metrics import chosen_start
from ntm.tasks import Task


class MissingError(Exception):
    """A figure needs what the runs do not have; the message says what."""


class TrainedNetwork(NamedTuple):
    """A trained network and its task."""

    title: str
    task: Task
    model: Model

    @torch.no_grad()
    def logits(self, inputs: Tensor) -> Tensor:
        """Its outputs for inputs (time, batch, input_size), on the CPU."""
        there = inputs.to(next(self.model.parameters()).device)
        lengths = torch.full((inputs.shape[1],), len(inputs), device=there.device)
        logits: Tensor = self.model(there, lengths=lengths)[0]
        return logits.cpu()

    def answer(self, title: str, case: Case) -> Answer:
        """Its answer to a problem that is the same for all networks of the task."""
        batch = self.task.at(**case).sample(1, block_generator("figures", 1))
        return Answer.of(title, batch, self.logits(batch.inputs))

    def example(self, case: Case = TRAINED_RANGE) -> tuple[Recording, int, int]:
        """One recorded problem, and the write head and the read head to watch in it.

        The heads are those of `ntm analyse`.
        """
        analysis = analyse(self.model, self.task)
        recording = record(self.model, self.task.at(**case), sequences=1, seed=2)
        return recording, analysis.write_head, analysis.read_head


class RunFolders:
    """Run folders, by task and model.

    folders: runs, saved networks, or names of packaged ones; a folder that is no run itself stands
        for the runs directly in it.
    task, family: of saved networks that do not say it themselves.
    """

    def __init__(
        self,
        folders: Iterable[str | Path],
        task: Task | None = None,
        family: Family | None = None,
    ) -> None:
        self.lacking: list[str] = []
        """What figures had to be drawn without."""
        self._runs: dict[tuple[str, str], list[Run]] = {}
        for run in open_runs(folders, task, family):
            self._runs.setdefault(run.settings.network, []).append(run)

    @property
    def tasks(self) -> list[str]:
        """The names of the tasks that have a run."""
        return list(dict.fromkeys(task for task, _ in self._runs))

    def task(self, name: str) -> Task:
        """A task with the settings of its first run."""
        return next(iter(self._of(name).values()))[0].settings.task

    def learning_curves(self, task: str) -> dict[str, list[CostCurve]]:
        """For each model, the curves of its runs over thousands of sequences."""
        by_model = self._of(task)
        curves = {model: [_learning_curve(run) for run in runs] for model, runs in by_model.items()}
        curves = {model: [c for c in some if len(c.x)] for model, some in curves.items()}
        if not any(curves.values()):
            raise MissingError(f"the runs of {task} have no learning curve: ntm train {task}")
        return {model: some for model, some in curves.items() if some}

    def costs(self, task: str, axis: str, values: Sequence[int]) -> dict[str, list[CostCurve]]:
        """For each model, the mean costs of its runs along an axis of the task."""
        return {
            model: [_costs(run, axis, values) for run in runs]
            for model, runs in self._of(task).items()
        }

    def best(self, task: str, *models: str) -> TrainedNetwork:
        """The network of lowest cost of the first of these models that has a run."""
        for model in models:
            if runs := self._runs.get((task, model)):
                run = min(runs, key=_lowest_cost)
                return TrainedNetwork(family_named(model).title, run.settings.task, _loaded(run))
        raise MissingError(_advice(task, *models))

    def wanted(self, task: str, *models: str) -> list[TrainedNetwork]:
        """As `best`, but optional: if there is no such run, it is noted as lacking."""
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
    """The learning curve of the chosen start, over its own sequences."""
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

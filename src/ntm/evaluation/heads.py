"""What the heads of a trained network do, measured over many sequences, beside the paper's claims.

    analysis = analyse(model, task, sequences=200)
    for finding in analysis.findings:
        print(finding.verdict, finding.value, finding.name)

A network may solve a task by another program than the paper's: then the claims do not hold, and the
numbers behind them say what it does instead. Of several heads, the pair is taken that comes closest
to the claim on half of the sequences, and everything is measured on the other half.
"""

from collections.abc import Callable

import torch

from ntm.evaluation.findings import Analysis, Finding
from ntm.evaluation.recording import Recording, record
from ntm.paper.heads.copying import analyse_copying
from ntm.paper.heads.counting import analyse_counting
from ntm.paper.heads.recalling import analyse_recalling
from ntm.paper.heads.sorting import analyse_sorting
from ntm.tasks import Task

__all__ = ["Analysis", "Finding", "Recording", "analyse", "analyser", "record"]

ANALYSERS = {
    "copy": analyse_copying,
    "repeat-copy": analyse_copying,
    "associative-recall": analyse_recalling,
    "ngrams": analyse_counting,
    "priority-sort": analyse_sorting,
}


def analyse(model: torch.nn.Module, task: Task, sequences: int = 200, seed: int = 1) -> Analysis:
    """Watch the heads of an NTM while it solves fresh problems of one of the paper's tasks.

    seed: decides the problems.
    """
    return analyser(task)(record(model, task, sequences, seed))


def analyser(task: Task) -> Callable[[Recording], Analysis]:
    """The function that analyses recordings of a task, which must be one of the paper's."""
    if task.name not in ANALYSERS:
        raise ValueError(
            f"The paper says nothing of the heads on the task {task.name!r}; "
            f"it does on {', '.join(ANALYSERS)}."
        )
    return ANALYSERS[task.name]

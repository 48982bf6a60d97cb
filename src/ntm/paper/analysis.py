"""What the heads of a trained network do, measured over many sequences, beside the paper's claims.

    analysis = analyse(model, task, sequences=200)
    for finding in analysis.findings:
        print(finding.verdict, finding.value, finding.name)

A network may solve a task with another program than the paper's: then the claims do not hold, and
the numbers behind them say what it does instead. Of several heads, the pair that comes closest to
the claim on half of the sequences is chosen, and everything is measured on the other half.
"""

import torch

from ntm.evaluation.findings import Analysis
from ntm.evaluation.recording import Recording, record
from ntm.paper.registry import experiment_of
from ntm.tasks import Task


def analyse(model: torch.nn.Module, task: Task, sequences: int = 200, seed: int = 1) -> Analysis:
    """Watch the heads of an NTM while it solves fresh problems of a task.

    seed: decides the problems.
    """
    return analysis_of(record(model, task, sequences, seed))


def analysis_of(recording: Recording) -> Analysis:
    """Analyse the heads in a recording as the experiment of its task measures them."""
    return experiment_of(recording.task.name).analysis(recording)

"""Analysis of a trained network's heads over many sequences, compared with the paper's claims.

    analysis = analyse(model, task, sequences=200)
    for finding in analysis.findings:
        print(finding.verdict, finding.value, finding.name)

A network may solve a task differently from the paper's network. Then the claims do not hold, and
the numbers show what the network does instead. If there are several heads, the pair that comes
closest to the claims is chosen on half of the sequences and measured on the other half.
"""

import torch

from ntm.evaluation.findings import Analysis
from ntm.evaluation.recording import Recording, record
from ntm.paper.registry import experiment_of
from ntm.tasks import Task


def analyse(model: torch.nn.Module, task: Task, sequences: int = 200, seed: int = 1) -> Analysis:
    """Analyse the heads of an NTM on fresh problems of a task.

    seed: selects the problems.
    """
    return analysis_of(record(model, task, sequences, seed))


def analysis_of(recording: Recording) -> Analysis:
    """Analyse the heads in a recording with the analysis of its task's experiment."""
    return experiment_of(recording.task.name).analyse(recording)

"""What the heads of a trained network do, measured over many sequences, beside the paper's claims.

    analysis = analyse(model, task, sequences=200)
    for finding in analysis.findings:
        print(finding.verdict, finding.value, finding.name)

A network may solve a task with another program than the paper's: then the claims do not hold, and
the numbers behind them say what it does instead. Of several heads, the pair that comes closest to
the claim on half of the sequences is chosen, and everything is measured on the other half.
"""

import numpy as np
import torch

from ntm.evaluation.findings import Analysis, Finding, choose, head_pairs, summarised
from ntm.evaluation.recording import Recording, record
from ntm.evaluation.weightings import mean, tracks
from ntm.paper.registry import experiment_of
from ntm.tasks import Task

__all__ = ["Analysis", "Finding", "Recording", "analyse", "analyse_any", "record"]


def analyse(model: torch.nn.Module, task: Task, sequences: int = 200, seed: int = 1) -> Analysis:
    """Watch the heads of an NTM while it solves fresh problems of a task.

    seed: decides the problems.
    """
    return analysis_of(record(model, task, sequences, seed))


def analysis_of(recording: Recording) -> Analysis:
    """What the heads do in a recording, as the experiment of its task measures it."""
    return experiment_of(recording.task.name).analysis(recording)


def analyse_any(recording: Recording) -> Analysis:
    """What can be measured of the heads on any task."""
    pair, recording = choose(recording, head_pairs(recording.trace), _focus)
    findings = [
        Finding(
            "looks at one location",
            "the sharp focus of all the weightings on a single location in memory",
            _focus(recording, pair),
            "mean largest weight, of the write head before the answer and the read head during it",
        ),
        Finding(
            "reads where it wrote",
            "",
            _read_after_write(recording, pair),
            "answers read at a location to which something was written before",
        ),
    ]
    scored = recording.scored
    phases = {"before the answer": recording.inside & ~scored, "answer": scored}
    return summarised(recording, pair, "the pair that focuses most sharply", findings, phases)


def _focus(recording: Recording, pair: tuple[int, int]) -> float:
    writer, reader = tracks(recording.trace, pair)
    listening = recording.inside & ~recording.scored
    # A task that is scored at every step listens while it answers.
    writing = writer.focus[listening if listening.any() else recording.scored]
    return (mean(writing) + mean(reader.focus[recording.scored])) / 2


def _read_after_write(recording: Recording, pair: tuple[int, int]) -> float:
    """The share of scored steps that read a location written at an earlier step."""
    writer, reader = tracks(recording.trace, pair)
    met = reader.place[:, None] == writer.place[None]
    earlier = np.tri(len(reader.place), k=-1, dtype=bool)[:, :, None]
    return float((met & earlier).any(axis=1)[recording.scored].mean())

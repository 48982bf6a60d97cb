"""Measurements of a trained network's heads that fit any task."""

import numpy as np

from ntm.evaluation.findings import Analysis, Finding, choose, head_pairs, summarised
from ntm.evaluation.recording import Recording
from ntm.evaluation.weightings import mean, tracks


def analyse_any(recording: Recording) -> Analysis:
    """Analyse the heads without knowing the task."""
    pair, recording = choose(recording, head_pairs(recording.trace), _focus)
    findings = [
        Finding(
            "looks at one location",
            "the sharp focus of all the weightings on a single location in memory",
            _focus(recording, pair),
            "mean largest weight of the write head before the answer and the read head during it",
        ),
        Finding(
            "reads where it wrote",
            "",
            _read_after_write(recording, pair),
            "share of answers read at a location that was written before",
        ),
    ]
    scored = recording.scored
    phases = {"before the answer": recording.inside & ~scored, "answer": scored}
    return summarised(recording, pair, "the pair that focuses most sharply", findings, phases)


def _focus(recording: Recording, pair: tuple[int, int]) -> float:
    writer, reader = tracks(recording.trace, pair)
    listening = recording.inside & ~recording.scored
    # In a task that is scored at every step, the network writes while it answers.
    writing = writer.focus[listening if listening.any() else recording.scored]
    return (mean(writing) + mean(reader.focus[recording.scored])) / 2


def _read_after_write(recording: Recording, pair: tuple[int, int]) -> float:
    """Return the share of scored steps that read a location written at an earlier step."""
    writer, reader = tracks(recording.trace, pair)
    met = reader.place[:, None] == writer.place[None]
    earlier = np.tri(len(reader.place), k=-1, dtype=bool)[:, :, None]
    return float((met & earlier).any(axis=1)[recording.scored].mean())

"""Comparison of measurements with the paper's claims, and the choice of heads to measure."""

import itertools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, TypeVar

import numpy as np

from ntm.evaluation.recording import Recording
from ntm.evaluation.weightings import MODES, Flags, Kind, modes
from ntm.trace import Trace

Verdict = Literal["holds", "partly", "does not hold"]
Candidate = TypeVar("Candidate")

HOLDS, PARTLY = 0.9, 0.5


def verdict(value: float) -> Verdict:
    """Judge a claim by a share, a correlation or an R^2: it holds from 0.9, partly from 0.5."""
    return "holds" if value >= HOLDS else "partly" if value >= PARTLY else "does not hold"


@dataclass(frozen=True)
class Finding:
    """One claim of the paper about the heads, and the measurement that checks it."""

    name: str
    claim: str
    """Words of the paper (empty: the paper makes no such claim)."""
    value: float
    """Degree to which the claim is true: 1 if it has no exception. See `verdict`."""
    measures: str
    """Meaning of the value."""
    numbers: dict[str, Any] = field(default_factory=dict)
    """Numbers behind the value."""

    @property
    def verdict(self) -> Verdict:
        """Verdict on the claim."""
        return verdict(self.value)

    def to_json(self) -> dict[str, Any]:
        """Return all fields and the verdict as plain data."""
        return {**asdict(self), "verdict": self.verdict}


@dataclass(frozen=True)
class Analysis:
    """Behaviour of a network's heads on one task."""

    task: str
    sequences: int
    """Number of sequences measured."""
    write_head: int
    read_head: int
    chosen: str
    """Rule that chose the two heads."""
    findings: tuple[Finding, ...]
    modes: dict[str, dict[Kind, dict[str, float]]]
    """Share of the steps, by phase of the sequence, kind of head and mode of addressing."""

    def to_json(self) -> dict[str, Any]:
        """Return all fields as plain data; heads count from one."""
        heads = {"write_head": self.write_head + 1, "read_head": self.read_head + 1}
        findings = [finding.to_json() for finding in self.findings]
        return {**asdict(self), **heads, "findings": findings}


def choose(
    recording: Recording,
    candidates: Iterable[Candidate],
    score: Callable[[Recording, Candidate], float],
) -> tuple[Candidate, Recording]:
    """Choose the best candidate on half of the sequences; return it and the other half.

    Measure on the other half: selecting and measuring on the same data is optimistic. With a
    single candidate or a single sequence, the whole recording is returned.
    """
    options, half = list(candidates), recording.sequences // 2
    if len(options) == 1 or half == 0:
        return max(options, key=lambda candidate: score(recording, candidate)), recording
    seen, unseen = recording.part(0, half), recording.part(half, recording.sequences)
    return max(options, key=lambda candidate: score(seen, candidate)), unseen


def head_pairs(trace: Trace) -> list[tuple[int, int]]:
    """Return every pair of a write head and a read head."""
    return list(itertools.product(range(trace.adds.shape[2]), range(trace.reads.shape[2])))


def summarised(
    recording: Recording,
    pair: tuple[int, int],
    chosen_for: str,
    findings: Iterable[Finding],
    phases: Mapping[str, Flags],
) -> Analysis:
    """Return the analysis of a write head and a read head.

    phases: steps (time, batch) in which to count modes of addressing, by name of the phase.
    """
    alone = len(head_pairs(recording.trace)) == 1
    used: dict[Kind, Any] = {
        "write": modes(recording.trace, "write")[:, :, pair[0]],
        "read": modes(recording.trace, "read")[:, :, pair[1]],
    }
    return Analysis(
        task=recording.task.name,
        sequences=recording.sequences,
        write_head=pair[0],
        read_head=pair[1],
        chosen="the only ones" if alone else f"{chosen_for}, on as many sequences again",
        findings=tuple(findings),
        modes={
            phase: {kind: _shares(mode[steps]) for kind, mode in used.items()}
            for phase, steps in phases.items()
        },
    )


def _shares(used: Any) -> dict[str, float]:
    count = max(used.size, 1)
    return {name: float(np.sum(used == mode)) / count for mode, name in enumerate(MODES)}

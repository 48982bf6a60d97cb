"""Measurements beside the paper's claims, and the choice of the heads to measure."""

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
    """What a share, a correlation or an R^2 says of a claim: from 0.9 it holds, from 0.5 partly."""
    return "holds" if value >= HOLDS else "partly" if value >= PARTLY else "does not hold"


@dataclass(frozen=True)
class Finding:
    """One thing that the paper says of the heads, and what was measured of it."""

    name: str
    claim: str
    """The paper's words; empty if it says nothing."""
    value: float
    """One if the claim is true without exception; `verdict` reads it."""
    measures: str
    """What the value is."""
    numbers: dict[str, Any] = field(default_factory=dict)
    """The numbers behind it."""

    @property
    def verdict(self) -> Verdict:
        """Whether the claim holds."""
        return verdict(self.value)

    def to_json(self) -> dict[str, Any]:
        """All of it as plain data."""
        return {**asdict(self), "verdict": self.verdict}


@dataclass(frozen=True)
class Analysis:
    """What the heads of a network do on one task."""

    task: str
    sequences: int
    """How many sequences the numbers are from."""
    write_head: int
    read_head: int
    chosen: str
    """How the two heads were chosen."""
    findings: tuple[Finding, ...]
    modes: dict[str, dict[Kind, dict[str, float]]]
    """Phase of a sequence, kind of head, mode of addressing: the share of the steps."""

    def to_json(self) -> dict[str, Any]:
        """All of it as plain data; heads count from one."""
        heads = {"write_head": self.write_head + 1, "read_head": self.read_head + 1}
        findings = [finding.to_json() for finding in self.findings]
        return {**asdict(self), **heads, "findings": findings}


def choose(
    recording: Recording,
    candidates: Iterable[Candidate],
    score: Callable[[Recording, Candidate], float],
) -> tuple[Candidate, Recording]:
    """The candidate that scores best on half of the sequences, and the other half to measure on.

    Selecting and measuring on the same data is optimistic. With a single candidate, or a single
    sequence, nothing is held back.
    """
    options, half = list(candidates), recording.sequences // 2
    if len(options) == 1 or half == 0:
        return max(options, key=lambda candidate: score(recording, candidate)), recording
    seen, unseen = recording.part(0, half), recording.part(half, recording.sequences)
    return max(options, key=lambda candidate: score(seen, candidate)), unseen


def head_pairs(trace: Trace) -> list[tuple[int, int]]:
    """Every write head with every read head."""
    return list(itertools.product(range(trace.adds.shape[2]), range(trace.reads.shape[2])))


def summarised(
    recording: Recording,
    pair: tuple[int, int],
    chosen_for: str,
    findings: Iterable[Finding],
    phases: Mapping[str, Flags],
) -> Analysis:
    """The analysis of a write head and a read head.

    phases: the steps (time, batch) over which modes of addressing are counted, by name.
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

"""Measurements of the heads beside the paper's claims, and the choice of heads to measure."""

import itertools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, TypeVar

import numpy as np

from ntm.description import HeadKind
from ntm.evaluation.recording import Recording
from ntm.evaluation.weightings import MODES, Booleans, mean, modes, tells_modes, tracks
from ntm.terminal.table import Table
from ntm.trace import Trace

Judgement = Literal["holds", "partly", "does not hold"]
Candidate = TypeVar("Candidate")
Modes = dict[str, dict[HeadKind, dict[str, float]]]

HOLDS, PARTLY = 0.9, 0.5


def verdict(value: float) -> Judgement:
    """Judge a claim by a share, a correlation or an R^2: it holds from 0.9, partly from 0.5."""
    return "holds" if value >= HOLDS else "partly" if value >= PARTLY else "does not hold"


@dataclass(frozen=True)
class Finding:
    """One claim of the paper about the heads, and the measurement that checks it."""

    name: str
    claim: str
    """Words of the paper (empty: the paper makes no such claim)."""
    value: float
    """Degree to which the claim is true: 1 if there is no exception. See `verdict`."""
    measures: str
    """Meaning of the value."""
    numbers: dict[str, Any] = field(default_factory=dict)
    """Numbers behind the value."""

    @property
    def verdict(self) -> Judgement:
        """Verdict on the claim."""
        return verdict(self.value)

    def to_json(self) -> dict[str, Any]:
        """Return all fields and the verdict as plain data."""
        return {**asdict(self), "verdict": self.verdict}

    def as_text(self) -> str:
        """Return the finding as lines for a terminal."""
        margin, numbers = " " * 22, self.numbers.items()
        lines = [f"{self.verdict:<14}{self.value:6.3f}  {self.name}"]
        if self.claim:
            lines.append(f'{margin}the paper: "{self.claim}"')
        lines.append(f"{margin}measured: {self.measures}")
        if numbers:
            shown = (f"{name.replace('_', ' ')} {_plain(value)}" for name, value in numbers)
            lines.append(f"{margin}{'; '.join(shown)}")
        return "\n".join(lines)


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
    modes: Modes
    """Share of the steps, by phase of the sequence, kind of head and mode of addressing.

    Empty for a machine whose addressing differs from an NTM.
    """

    def to_json(self) -> dict[str, Any]:
        """Return all fields as plain data; heads count from one."""
        heads = {"write_head": self.write_head + 1, "read_head": self.read_head + 1}
        findings = [finding.to_json() for finding in self.findings]
        return {**asdict(self), **heads, "findings": findings}

    def as_text(self) -> str:
        """Return the findings with the paper's claims, then the modes of addressing, as text."""
        heads = (
            f"Write head {self.write_head + 1} and read head {self.read_head + 1} "
            f"({self.chosen}), over {self.sequences} sequences:"
        )
        table = [_table_of_modes(self.modes).as_text()] if self.modes else []
        return "\n\n".join([heads, *(finding.as_text() for finding in self.findings), *table])


def choose(
    recording: Recording,
    candidates: Iterable[Candidate],
    score: Callable[[Recording, Candidate], float],
) -> tuple[Candidate, Recording]:
    """Choose the best candidate on half of the sequences; return it and the other half.

    Measure on the other half: a measurement on the data of the choice would be too good. With a
    single candidate or a single sequence, the whole recording is returned.
    """
    options, half = list(candidates), recording.sequences // 2
    if len(options) == 1 or half == 0:
        return max(options, key=lambda candidate: score(recording, candidate)), recording
    seen, unseen = recording.part(0, half), recording.part(half, recording.sequences)
    return max(options, key=lambda candidate: score(seen, candidate)), unseen


def head_pairs(trace: Trace) -> list[tuple[int, int]]:
    """Return every pair of a write head and a read head."""
    writing, reading = trace.weightings("write"), trace.weightings("read")
    return list(itertools.product(range(writing.shape[2]), range(reading.shape[2])))


def summarised(
    recording: Recording,
    pair: tuple[int, int],
    chosen_for: str,
    findings: Iterable[Finding],
    phases: Mapping[str, Booleans],
) -> Analysis:
    """Return the analysis of a write head and a read head.

    phases: steps (time, batch) in which to count modes of addressing, by name of the phase.
    """
    alone = len(head_pairs(recording.trace)) == 1
    used: dict[HeadKind, Any] = {}
    if tells_modes(recording.trace):
        used["write"] = modes(recording.trace, "write")[:, :, pair[0]]
        used["read"] = modes(recording.trace, "read")[:, :, pair[1]]
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
            if used
        },
    )


def _shares(used: Any) -> dict[str, float]:
    count = max(used.size, 1)
    return {name: float(np.sum(used == mode)) / count for mode, name in enumerate(MODES)}


def _plain(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(_plain, value))
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def _table_of_modes(modes: Modes) -> Table:
    rows = [
        (phase, kind, *(f"{share:.0%}" for share in shares.values()))
        for phase, kinds in modes.items()
        for kind, shares in kinds.items()
    ]
    return Table("", ("How it finds its locations", "head", *MODES), rows, texts=2)


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

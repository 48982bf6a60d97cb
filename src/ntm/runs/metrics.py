"""Readers for metrics.jsonl, the learning curve of a run."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from ntm.runs.errors import RunError
from ntm.runs.facts import Facts, parse_facts

Line = Facts


def read_metrics(path: str | Path) -> list[Line]:
    """Read the lines of a metrics.jsonl; skip an incomplete last line, as after a crash."""
    path = Path(path)
    if not path.exists():
        return []
    *whole, _incomplete = path.read_bytes().split(b"\n")
    return [_line(path, number, text) for number, text in enumerate(whole, 1)]


def _line(path: Path, number: int, text: bytes) -> Line:
    try:
        return parse_facts(text, ("sequences", "bits"))
    except ValueError as error:
        reason = str(error).rstrip(".")
        raise RunError(f"{path} cannot be used; line {number}: {reason}.") from error


def chosen_start(lines: Sequence[Line], trial: int) -> list[Line]:
    """Select the lines of the chosen start, and count only its own sequences.

    trial: number of sequences per trial.
    """
    if not lines or "start" not in lines[-1]:
        return list(lines)
    start, tried = lines[-1]["start"], max(line["start"] for line in lines)

    def others(line: Line) -> int:
        on_trial = line["sequences"] <= start * trial
        return int(trial * (start - 1 if on_trial else tried - 1))

    own = (line for line in lines if line["start"] == start)
    return [{**line, "sequences": line["sequences"] - others(line)} for line in own]


def merged(
    points: Sequence[tuple[int, float]], ends: Iterable[int], start: int = 0
) -> list[tuple[int, float]]:
    """Thin out a learning curve: keep the points at `ends`, with the mean cost since the last one.

    points: pairs of sequences and mean cost per sequence since the previous point.
    ends: indices of the points to keep.
    start: sequences before the first point (0).
    """
    fewer, first = [], 0
    for end in ends:
        part = points[first : end + 1]
        before = [start, *(sequences for sequences, _ in part)]
        spent = sum(bits * (now - then) for (now, bits), then in zip(part, before, strict=False))
        fewer.append((part[-1][0], spent / (part[-1][0] - start)))
        start, first = part[-1][0], end + 1
    return fewer

"""Facts about a run by name: a line of metrics.jsonl, or the metadata of a file of weights."""

from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Any

from ntm.common.fields import check_value
from ntm.common.files import parse_json
from ntm.runs.errors import RunError

Facts = dict[str, Any]

# Types of the facts that readers rely on; observers may add others.
_KINDS: dict[str, type] = dict.fromkeys(("sequences", "of_this_start", "start"), int) | (
    dict.fromkeys(
        ("bits", "seconds", "sequences_per_second", "validation_bits", "beyond_bits"), float
    )
)


def parse_facts(text: str | bytes, needed: Collection[str] = ()) -> Facts:
    """Return facts by name from JSON; raise ValueError if the text is wrong or lacks `needed`."""
    facts = parse_json(text)
    if not isinstance(facts, dict) or not set(needed) <= facts.keys():
        wanted = f"at least {', '.join(needed)}" if needed else "facts"
        raise ValueError(f"it must have {wanted} by name")
    for name in facts.keys() & _KINDS.keys():
        check_value(name, facts[name], _KINDS[name])
    return facts


def validated(facts: Facts) -> float | None:
    """Return the cost for choosing the best weights: `validation_bits` plus any `beyond_bits`.

    The result is None for weights that were not validated.
    """
    if "validation_bits" not in facts:
        return None
    return float(facts["validation_bits"] + facts.get("beyond_bits", 0.0))


def read_metrics(path: str | Path) -> list[Facts]:
    """Read the lines of a metrics.jsonl; skip an incomplete last line, as after a crash."""
    path = Path(path)
    if not path.exists():
        return []
    *whole, _incomplete = path.read_bytes().split(b"\n")
    return [_line(path, number, text) for number, text in enumerate(whole, 1)]


def _line(path: Path, number: int, text: bytes) -> Facts:
    try:
        return parse_facts(text, ("sequences", "bits"))
    except ValueError as error:
        reason = str(error).rstrip(".")
        raise RunError(f"{path} cannot be used; line {number}: {reason}.") from error


def chosen_start(lines: Sequence[Facts], trial: int) -> list[Facts]:
    """Return the lines of the chosen start; `sequences` leaves out the other starts.

    trial: number of sequences per trial.
    """
    if not lines or "start" not in lines[-1]:
        return list(lines)
    start, tried = lines[-1]["start"], max(line["start"] for line in lines)

    def others(line: Facts) -> int:
        on_trial = line["sequences"] <= start * trial
        return int(trial * (start - 1 if on_trial else tried - 1))

    own = (line for line in lines if line["start"] == start)
    return [{**line, "sequences": line["sequences"] - others(line)} for line in own]


def merged(
    points: Sequence[tuple[int, float]], ends: Iterable[int], start: int = 0
) -> list[tuple[int, float]]:
    """Return only the points of a curve at `ends`, each with the mean cost since the last one.

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

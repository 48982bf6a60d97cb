"""Cases: sizes of problems along some axes of a task."""

from collections.abc import Mapping

Case = Mapping[str, int]
"""Sizes along some axes of a task. Along the other axes, sizes are as in training."""
TRAINED_RANGE: Case = {}


def case_name(case: Case) -> str:
    """Return a case in words: "trained range" or, for example, "length 120"."""
    return ", ".join(f"{axis} {value}" for axis, value in case.items()) or "trained range"

"""Sizes of problems: a case fixes some axes of a task, and leaves the others as in training."""

from collections.abc import Mapping

Case = Mapping[str, int]
"""A size along some axes of a task; along the others, sizes are as in training."""
TRAINED_RANGE: Case = {}


def case_name(case: Case) -> str:
    """A case in words: trained range, length 120."""
    return ", ".join(f"{axis} {value}" for axis, value in case.items()) or "trained range"

"""Facts about a run as one JSON object: a line of metrics, or the metadata of weights."""

from collections.abc import Collection
from typing import Any

from ntm.common.fields import check_value
from ntm.common.files import parse_json

Facts = dict[str, Any]

# Types of the facts that readers rely on; observers may add others.
_KINDS: dict[str, type] = dict.fromkeys(("sequences", "of_this_start", "start"), int) | (
    dict.fromkeys(
        ("bits", "seconds", "sequences_per_second", "validation_bits", "beyond_bits"), float
    )
)


def parse_facts(text: str | bytes, needed: Collection[str] = ()) -> Facts:
    """Parse facts by name; a ValueError says what is wrong with the text."""
    facts = parse_json(text)
    if not isinstance(facts, dict) or not set(needed) <= facts.keys():
        wanted = f"at least {', '.join(needed)}" if needed else "facts"
        raise ValueError(f"it must have {wanted} by name")
    for name in facts.keys() & _KINDS.keys():
        check_value(name, facts[name], _KINDS[name])
    return facts


def validated(facts: Facts) -> float | None:
    """Return the cost that selects the best weights: `validation_bits` plus `beyond_bits`, if any.

    The result is None for weights that were not validated.
    """
    if "validation_bits" not in facts:
        return None
    return float(facts["validation_bits"] + facts.get("beyond_bits", 0.0))

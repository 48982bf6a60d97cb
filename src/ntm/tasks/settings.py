"""Validation of a task's settings from what its fields declare.

A setting is a dataclass field. Its annotation says what it is; its metadata say the rest:

    field(default=8, metadata={"help": "bits of one vector", "at_least": 1})

`help` is the text a command line shows, `at_least` and `at_most` bound a number, and `choices`
lists the words a string may be.
"""

from collections.abc import Mapping
from types import UnionType
from typing import Any, get_args

_KINDS = {int: "a whole number", float: "a number", bool: "true or false", str: "a word"}


def check_setting(name: str, value: object, kind: object, rules: Mapping[str, Any]) -> None:
    """Refuse a value that is not of its kind, or breaks its bounds, with a sentence."""
    accepted = get_args(kind) if isinstance(kind, UnionType) else (kind,)
    if type(None) in accepted and value is None:
        return
    _check_kind(name, value, accepted)
    _check_bounds(name, value, rules)


def check_order(low_name: str, low: int, high_name: str, high: int) -> None:
    """Refuse a range that ends before it starts."""
    if low > high:
        raise ValueError(
            f"{low_name} is {low} and {high_name} is {high}, an empty range; "
            f"give a {high_name} of at least {low}."
        )


def _check_kind(name: str, value: object, accepted: tuple[object, ...]) -> None:
    known = [kind for kind in accepted if kind in _KINDS]
    # bool is a subclass of int, and an int serves as a float: compare the types themselves.
    fits = type(value) in known or (float in known and type(value) is int)
    if known and not fits:
        wanted = " or ".join(_KINDS[kind] for kind in known)
        raise TypeError(f"{name} is {value!r}, which is not {wanted}; give {wanted}.")


def _check_bounds(name: str, value: Any, rules: Mapping[str, Any]) -> None:
    if "at_least" in rules and value < rules["at_least"]:
        raise ValueError(f"{name} is {value}; give at least {rules['at_least']}.")
    if "at_most" in rules and value > rules["at_most"]:
        raise ValueError(f"{name} is {value}; give at most {rules['at_most']}.")
    if "choices" in rules and value not in rules["choices"]:
        raise ValueError(f"{name} is {value!r}; choose one of {', '.join(rules['choices'])}.")

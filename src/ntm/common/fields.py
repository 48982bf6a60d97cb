"""Settings as dataclass fields that declare which values they allow.

    bits: int = setting(8, "bits of one vector", at_least=1)

The annotation is the type of the value: int, float, bool, str, a Literal, a tuple of one of these,
or one of these or None. `check_fields` raises ValueError for other values. `parsed` converts text
from the command line to a value, `as_text` does the reverse. The command line shows the help text.
"""

import math
import numbers
import sys
import types
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from functools import cache
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from ntm.common.text import unknown

Rules = Mapping[str, Any]
_NOTHING: Rules = {}
_LARGEST = 2**63 - 1  # largest integer in a tensor
_WORDS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
_KINDS = {int: "an integer", float: "a finite number", bool: "true or false", str: "a word"}


def setting(default: Any = MISSING, help: str = "", **rules: Any) -> Any:  # noqa: A002
    """Declare a field with its help text and rules: `at_least`, `above`, `at_most`, `choices`.

    choices: allowed values of a string, or a function that lists them.
    """
    return field(default=default, metadata={"help": help, **rules})


def documentation(owner: type) -> dict[str, str]:
    """Return the help text of every setting of a dataclass, by name."""
    return {f.name: _as_heading(f.metadata.get("help", "")) for f in fields(owner)}


def named_field(owner: type, section: str, name: str) -> Field[Any]:
    """Return the field with this name; an error suggests the closest names."""
    known = _fields_of(owner)
    if name not in known:
        raise ValueError(unknown(f"setting of {section}", name, known))
    return known[name]


def check_fields(settings: Any) -> None:
    """Raise ValueError if a value of a dataclass breaks the rules of its field.

    Numbers of numpy are converted to Python's own, which JSON can store.
    """
    owner: Any = type(settings)
    kinds = kinds_of(owner)
    for f in fields(settings):
        given = getattr(settings, f.name)
        value = as_python(given)
        check_value(f.name, value, kinds[f.name], f.metadata)
        if value is not given:
            object.__setattr__(settings, f.name, value)


@dataclass(frozen=True)
class Checked:
    """Base class for settings whose values are checked on construction."""

    def __post_init__(self) -> None:
        check_fields(self)


def as_python(value: Any) -> Any:
    """Convert a number of another library, or a tuple of numbers, to Python's own type."""
    if type(value) in _KINDS:
        return value
    if type(value) is tuple:
        return value if all(type(part) in _KINDS for part in value) else (*map(as_python, value),)
    if isinstance(value, numbers.Integral):
        return int(value)
    return float(value) if isinstance(value, numbers.Real) else value


def check_value(name: str, value: object, kind: Any, rules: Rules = _NOTHING) -> None:
    """Raise ValueError if a value has the wrong type or is out of bounds."""
    if not any(_fits(value, option, rules) for option in _options(kind)):
        small = " that fits into 64 bits" if type(value) is int and abs(value) > _LARGEST else ""
        raise ValueError(f"{name} must be {described(kind, rules)}{small}, got {value!r}.")


def check_order(low_name: str, low: int, high_name: str, high: int) -> None:
    """Raise ValueError if a range ends before it starts."""
    if low > high:
        raise ValueError(
            f"{low_name} is {low} and {high_name} is {high}, an empty range; "
            f"give a {high_name} of at least {low}."
        )


def parsed(owner: type, section: str, name: str, text: str) -> Any:
    """Convert the text that a user typed to the value of a setting."""
    rules = named_field(owner, section, name).metadata
    kind = kinds_of(owner)[name]
    try:
        value = _parsed(text.strip(), kind)
    except ValueError as error:
        wanted = described(kind, rules)
        raise ValueError(f"{section}.{name} must be {wanted}, got {text!r}.") from error
    check_value(f"{section}.{name}", value, kind, rules)
    return value


def as_text(value: Any) -> str:
    """Format a value as a user would type it: 1,2,3 for a tuple, true, none."""
    if isinstance(value, list | tuple):
        return ",".join(map(as_text, value))
    return str(value).lower() if isinstance(value, bool) or value is None else str(value)


def described(kind: Any, rules: Rules = _NOTHING) -> str:
    """Describe the allowed values of a setting: "an integer of at least 1, or none"."""
    words = [_described(option, rules) for option in _options(kind)]
    return ", or ".join(word for word in words if word)


@cache
def _fields_of(owner: Any) -> dict[str, Field[Any]]:
    return {f.name: f for f in fields(owner)}


@cache
def kinds_of(owner: Any) -> dict[str, Any]:
    """Return the annotation of every setting of a dataclass."""
    return get_type_hints(owner)


@cache  # called for every value of every run in a folder
def _options(kind: Any) -> tuple[Any, ...]:
    return get_args(kind) if get_origin(kind) in {Union, types.UnionType} else (kind,)


def _fits(value: Any, kind: Any, rules: Rules) -> bool:
    if get_origin(kind) is Literal:
        return isinstance(value, str) and value in get_args(kind)
    if get_origin(kind) is tuple:
        member = get_args(kind)[0]
        return isinstance(value, tuple) and all(_fits(part, member, _NOTHING) for part in value)
    if kind is float:
        # bool is a subclass of int, and an int may stand for a float: compare the exact types.
        return type(value) in {int, float} and _within(value, rules)
    if kind is int:
        return type(value) is int and abs(value) <= _LARGEST and _within(value, rules)
    if kind is types.NoneType:
        return value is None
    return kind not in _KINDS or (type(value) is kind and value in _choices(rules, value))


def _within(value: float, rules: Rules) -> bool:
    return bool(
        abs(value) <= sys.float_info.max  # refuses NaN and integers of a thousand digits
        and value >= rules.get("at_least", -math.inf)
        and value > rules.get("above", -math.inf)
        and value <= rules.get("at_most", math.inf)
    )


def _choices(rules: Rules, *otherwise: Any) -> tuple[Any, ...]:
    choices = rules.get("choices", otherwise)
    return tuple(choices() if callable(choices) else choices)


def _described(kind: Any, rules: Rules) -> str:
    choices = get_args(kind) if get_origin(kind) is Literal else _choices(rules)
    if choices:
        return " or ".join(map(repr, choices))
    if get_origin(kind) is tuple:
        return f"{_KINDS[get_args(kind)[0]]} or several, separated by commas"
    if kind is types.NoneType:
        return "none"
    return f"{_KINDS.get(kind, str(kind))}{_bounds(rules) if kind in {int, float} else ''}"


def _bounds(rules: Rules) -> str:
    if "at_least" in rules and "at_most" in rules:
        return f" from {rules['at_least']} to {rules['at_most']}"
    words = {"at_least": "of at least", "above": "above", "at_most": "of at most"}
    return "".join(f" {word} {rules[name]}" for name, word in words.items() if name in rules)


def _parsed(text: str, kind: Any) -> Any:
    options = [option for option in _options(kind) if option is not types.NoneType]
    if len(options) < len(_options(kind)) and text.lower() == "none":
        return None
    if get_origin(options[0]) is tuple:
        values = text.strip("()[] ").rstrip(", ").split(",")
        return tuple(_parsed(value.strip(), get_args(options[0])[0]) for value in values)
    parsers: dict[Any, Callable[[str], Any]] = {bool: _truth, int: _whole_number, float: float}
    return parsers.get(options[0], str)(text)


def _truth(text: str) -> bool:
    if text.lower() not in _WORDS:
        raise ValueError
    return _WORDS[text.lower()]


def _whole_number(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        number = float(text)  # people write 1e6 for a million
        if not number.is_integer():
            raise
        return int(number)


def _as_heading(text: str) -> str:
    heading = text[:1].upper() + text[1:]
    return heading if heading.endswith("...") else heading.removesuffix(".")

"""Dataclass fields as settings: their documentation, their values from text and from JSON.

A setting is documented by the `help` of its field's metadata, or by the string that follows the
field in its class; either becomes the command line's help.
"""

import ast
import inspect
import json
import textwrap
import types
from collections.abc import Callable
from dataclasses import Field, field, fields
from itertools import pairwise
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from ntm.common.text import unknown

_WORDS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}


def setting(default: Any, help: str, **rules: Any) -> Any:  # noqa: A002  # as the metadata calls it
    """A field with its documentation and its bounds (`at_least`, `at_most`, `choices`)."""
    return field(default=default, metadata={"help": help, **rules})


def documentation(owner: type) -> dict[str, str]:
    """What every field of a dataclass means, by name."""
    texts: dict[str, str] = {}
    for base in reversed(owner.__mro__):
        texts |= _strings_after_fields(base)
    texts |= {f.name: f.metadata["help"] for f in fields(owner) if "help" in f.metadata}
    return {f.name: _as_heading(texts.get(f.name, "")) for f in fields(owner)}


def named_field(owner: type, section: str, name: str) -> Field[Any]:
    """The field of that name, or an error with the names that come close."""
    known = {f.name: f for f in fields(owner)}
    if name not in known:
        raise ValueError(unknown(f"setting of {section}", name, known))
    return known[name]


def from_text(owner: type, section: str, name: str, text: str) -> Any:
    """The value of a setting that somebody typed."""
    named_field(owner, section, name)
    kind = get_type_hints(owner)[name]
    try:
        return _parsed(text.strip(), kind)
    except ValueError as error:
        raise ValueError(
            f"{section}.{name} is {text!r}, but it takes {_described(kind)}."
        ) from error


def from_json(owner: type, section: str, name: str, value: Any) -> Any:
    """The value of a setting as JSON holds it: tuples are lists there."""
    named_field(owner, section, name)
    return tuple(value) if isinstance(value, list) else value


def _parsed(text: str, kind: Any) -> Any:
    choices = _alternatives(kind)
    if type(None) in choices:
        others = [choice for choice in choices if choice is not type(None)]
        return None if text.lower() == "none" else _parsed(text, others[0])
    if get_origin(kind) is tuple:
        values = text.strip("()[] ").rstrip(", ").split(",")
        return tuple(_parsed(value.strip(), get_args(kind)[0]) for value in values)
    if get_origin(kind) is Literal:
        return text
    parsers: dict[Any, Callable[[str], Any]] = {
        bool: _truth,
        int: _whole_number,
        float: float,
        str: str,
    }
    return parsers.get(kind, json.loads)(text)


def _truth(text: str) -> bool:
    if text.lower() not in _WORDS:
        raise ValueError
    return _WORDS[text.lower()]


def _whole_number(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        number = float(text)  # 1e6 is a usual way to write a million
        if not number.is_integer():
            raise
        return int(number)


def _alternatives(kind: Any) -> tuple[Any, ...]:
    return get_args(kind) if get_origin(kind) in {Union, types.UnionType} else (kind,)


def _described(kind: Any) -> str:
    names = {int: "a whole number", float: "a number", bool: "true or false", type(None): "none"}
    if get_origin(kind) is tuple:
        return f"{_described(get_args(kind)[0])} or several, separated by commas"
    return " or ".join(names.get(choice, str(choice)) for choice in _alternatives(kind))


def _as_heading(text: str) -> str:
    return text[:1].upper() + text[1:].removesuffix(".")


def _strings_after_fields(owner: type) -> dict[str, str]:
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(owner)))
    except (OSError, TypeError):  # no source: a builtin, or a class typed at a prompt
        return {}
    body = tree.body[0].body if isinstance(tree.body[0], ast.ClassDef) else []
    return {
        statement.target.id: " ".join(after.value.value.split())
        for statement, after in pairwise(body)
        if isinstance(statement, ast.AnnAssign)
        and isinstance(statement.target, ast.Name)
        and isinstance(after, ast.Expr)
        and isinstance(after.value, ast.Constant)
        and isinstance(after.value.value, str)
    }

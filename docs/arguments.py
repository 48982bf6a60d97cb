"""Arguments in the reference pages: lines `name: meaning (default)` become a list, as in torch's.

mkdocstrings loads this file; see mkdocs.yml. A paragraph of such lines becomes a section of
arguments if all names are arguments, and a plain list otherwise. Types and defaults come from the
signature. The meaning of settings comes from their help texts.
"""

import pydoc
import re
from dataclasses import MISSING, fields, is_dataclass
from typing import Any

from griffe import Attribute, Class, Extension, Function

from ntm.common.fields import documentation
from ntm.config import Initialisation, NTMConfig

# One entry: one or several names, a colon, the meaning, and continuation lines with an indent.
ENTRY = re.compile(r"^(\*{0,2}\w+(?:, \*{0,2}\w+)*): +(.*(?:\n {4,}.*)*)$", re.MULTILINE)
# Arguments of a class that are the settings of other classes.
SETTINGS = {"ntm.layer.network.NTM": (NTMConfig, Initialisation)}
Entries = dict[str, str]


class Arguments(Extension):
    """Rewrites the docstrings of functions and classes before they are parsed."""

    def on_function_instance(self, *, func: Function, **_: Any) -> None:
        """Rewrite the docstring of a function or a method."""
        if func.docstring is not None:
            names = [parameter.name for parameter in func.parameters]
            func.docstring.value = rewritten(func.docstring.value, names, {})

    def on_attribute_instance(self, *, attr: Attribute, **_: Any) -> None:
        """Replace `setting(default, help)` with the default."""
        if str(attr.value).startswith("setting("):
            owner: Any = pydoc.locate(attr.parent.path) if attr.parent else None
            (default,) = [field.default for field in fields(owner) if field.name == attr.name]
            attr.value = None if default is MISSING else repr(default)

    def on_class_members(self, *, cls: Class, **_: Any) -> None:
        """Rewrite the docstring of a class, whose arguments are the arguments of `__init__`."""
        if cls.docstring is not None:
            settings = settings_of(cls.path)
            names = [parameter.name for parameter in cls.parameters] or list(settings)
            cls.docstring.value = rewritten(cls.docstring.value, names, settings)


def settings_of(path: str) -> Entries:
    """Return the help texts of the settings that a class has as arguments."""
    owner = pydoc.locate(path)
    owners = SETTINGS.get(path, (owner,) if is_dataclass(owner) else ())
    texts = {name: text for each in owners for name, text in documentation(each).items()}
    return {name: text for name, text in texts.items() if text}


def rewritten(docstring: str, arguments: list[str], settings: Entries) -> str:
    """Return a docstring whose lists of arguments are sections that mkdocstrings knows.

    docstring: text of a function or class.
    arguments: names in the signature, in order.
    settings: meaning of arguments that the docstring does not list.
    """
    paragraphs, known = [], {name: text for name, text in settings.items() if name in arguments}
    for paragraph in docstring.split("\n\n"):
        entries = entries_of(paragraph)
        if entries and {name.lstrip("*") for name in entries} <= set(arguments):
            known |= entries
        elif entries:
            paragraphs.append("\n".join(f"- `{name}`: {text}" for name, text in entries.items()))
        else:
            paragraphs.append(as_returns(paragraph))
    order = sorted(known, key=lambda name: arguments.index(name.lstrip("*")))
    section = "\n".join(["Args:", *(f"    {name}: {known[name]}" for name in order)])
    told = [text for text in paragraphs if text.startswith("**Returns:**")]
    others = [text for text in paragraphs if text not in told]
    return "\n\n".join([*others, *([section] if known else []), *told])


def entries_of(paragraph: str) -> Entries:
    """Return the meaning of each name, if a paragraph is a list of names; otherwise nothing."""
    if not re.fullmatch(rf"(?:{ENTRY.pattern}\n?)+", paragraph, re.MULTILINE):
        return {}
    return {
        name: re.sub(r"\s*\n\s*", " ", text)
        for names, text in ENTRY.findall(paragraph)
        for name in names.split(", ")
    }


def as_returns(paragraph: str) -> str:
    """Return a paragraph with its first word in bold type, if this is "Returns"."""
    return re.sub(r"^Returns ", "**Returns:** ", paragraph)

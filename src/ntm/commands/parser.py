"""Parser of the command line, with one-sentence errors and hints for misspelt names."""

import argparse
import importlib
import re
import sys
from typing import Any, NoReturn

from ntm import __version__
from ntm.commands import COMMANDS, base
from ntm.common.text import nearest

_REQUIRED = "the following arguments are required: "
_NO_NUMBER = re.compile(r"^argument (\S+): invalid int value: (.*)$")


def make_parser() -> "Parser":
    """Build the parser of all commands and their options."""
    parser = Parser(
        prog="ntm",
        description="Neural Turing Machines: train, evaluate and look inside.",
        epilog=f"Tasks: {', '.join(base.task_names())}. Models: {', '.join(base.model_names())}.",
    )
    parser.add_argument("--version", action="version", version=f"ntm {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND")
    parser.set_defaults(command=parser.show)
    for name in COMMANDS:
        module = importlib.import_module(f"ntm.commands.{name}")
        sentence = (module.__doc__ or "").strip()
        added = commands.add_parser(name, help=sentence.rstrip("."), description=sentence)
        added.set_defaults(command=module.run)
        module.add_arguments(added)
        parser.commands[name] = added
    return parser


class Parser(argparse.ArgumentParser):
    """Parser of the options of `ntm`, or of one of its commands."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.commands: dict[str, Parser] = {}
        """Parsers of the commands, by name."""

    def show(self, _: argparse.Namespace) -> int:
        """Print the help; return the exit code."""
        self.print_help()
        return 0

    def error(self, message: str) -> NoReturn:
        """Print the error as one sentence, and end the program."""
        if message.startswith(_REQUIRED):
            missing = message.removeprefix(_REQUIRED).split(", ")
            message = f"{self.prog} needs {' and '.join(map(self._explained, missing))}"
        message = _NO_NUMBER.sub(r"\1 takes a whole number; got \2", message)
        sentence = message if message.endswith((".", "?")) else f"{message}."
        self.exit(complain(f"{sentence} See {self.prog} --help.", base.WRONG_CALL))

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse like argparse; the error for an unknown option names a similar option."""
        known, rest = super().parse_known_args(args, namespace)
        if rest:
            given = rest[0].partition("=")[0]
            self.error(f"There is no {_kind(given)} {given!r} of {self.prog}{self._hint(given)}")
        return known, rest

    def _explained(self, name: str) -> str:
        """Return the name of an argument with its help text."""
        for action in self._actions:
            if name in (*action.option_strings, action.metavar):
                return f"{name} ({action.help})"
        return name

    def _hint(self, given: str) -> str:
        if not given.startswith("-"):
            return ""
        known = list(self._option_string_actions)
        known += setting_names() if "--set" in known else []
        likely = nearest(given, known)
        if likely is None:
            return ""
        return f"; did you mean {likely if likely.startswith('-') else f'--set {likely}=VALUE'}?"


def complain(sentence: str, code: int) -> int:
    """Print a message to standard error; return the exit code."""
    print(f"ntm: {sentence}", file=sys.stderr)
    return code


def _kind(given: str) -> str:
    return "option" if given.startswith("-") else "argument"


def setting_names() -> list[str]:
    """Return the names that --set accepts for the first task and model, for hints in errors."""
    from ntm.paper import settings_for

    return list(settings_for(base.task_names()[0], base.model_names()[0]).flat())

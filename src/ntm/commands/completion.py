"""Print a script for command completion in bash, zsh or fish."""

import argparse
import shlex
from collections.abc import Iterator
from string import Template
from typing import NamedTuple

from ntm.commands import base

_BASH = Template("""\
_ntm() {
  local word=$${COMP_WORDS[COMP_CWORD]} before=$${COMP_WORDS[COMP_CWORD-1]} words=
  case "$$COMP_CWORD $${COMP_WORDS[1]} $$before" in
    1\\ *) words=$commands;;
$cases
  esac
  COMPREPLY=($$(compgen -W "$$words" -- "$$word"))
}
complete -o default -F _ntm ntm
""")
_ZSH = "autoload -U +X compinit bashcompinit && compinit && bashcompinit\n"
_FISH = "complete -c ntm -n '__fish_seen_subcommand_from {}' "


class Argument(NamedTuple):
    """An option or argument of a command."""

    options: list[str]
    """Names of the option, such as --model; empty for a positional argument."""
    takes_value: bool
    words: list[str]
    """Allowed values; empty for a number or a file."""
    help: str


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `ntm completion`."""
    shells = ("bash", "zsh", "fish")
    parser.add_argument("shell", metavar="SHELL", choices=shells, help="bash, zsh or fish")
    parser.epilog = (
        'bash: add eval "$(ntm completion bash)" to ~/.bashrc. zsh: add '
        'eval "$(ntm completion zsh)" to ~/.zshrc. fish: add ntm completion fish | source to '
        "~/.config/fish/config.fish."
    )


def run(options: argparse.Namespace) -> None:
    """Print the script."""
    from ntm.commands.parser import make_parser

    parsers = make_parser().commands
    if options.shell == "fish":
        print("\n".join(line for name in parsers for line in _fish(name, parsers[name])))
        return
    cases = [case for name in parsers for case in _bash_cases(name, parsers[name])]
    script = _BASH.substitute(commands=shlex.quote(" ".join(parsers)), cases="\n".join(cases))
    print((_ZSH if options.shell == "zsh" else "") + script, end="")


def _arguments(parser: argparse.ArgumentParser) -> Iterator[Argument]:
    from ntm import engine, pretrained

    known = {
        "TASK": base.task_names(),
        "MODEL": base.model_names(),
        "ENGINE": engine.names(),
        "NET": pretrained.names(),
    }
    for action in parser._actions:
        words = action.choices or known.get(str(action.metavar or action.dest.upper()), [])
        help_text = (action.help or "").replace("%", "")
        yield Argument([*action.option_strings], action.nargs != 0, [*words], help_text)


def _bash_cases(command: str, parser: argparse.ArgumentParser) -> Iterator[str]:
    """Yield bash code: a case for each option with a value, then one for all other positions."""
    anywhere = []
    for argument in _arguments(parser):
        anywhere += argument.options or argument.words
        for option in argument.options if argument.takes_value else ():
            yield f"    *\\ {command}\\ {option}) words={shlex.quote(' '.join(argument.words))};;"
    yield f"    *\\ {command}\\ *) words={shlex.quote(' '.join(anywhere))};;"


def _fish(command: str, parser: argparse.ArgumentParser) -> Iterator[str]:
    about = shlex.quote(parser.description or "")
    yield f"complete -c ntm -n __fish_use_subcommand -f -a {command} -d {about}"
    for argument in _arguments(parser):
        words, about = shlex.quote(" ".join(argument.words)), shlex.quote(argument.help)
        value = f" -r -a {words}" if argument.takes_value else ""
        for option in argument.options:
            name = f"-l {option[2:]}" if option.startswith("--") else f"-s {option[1:]}"
            yield f"{_FISH.format(command)}{name}{value} -d {about}"
        if not argument.options:
            yield f"{_FISH.format(command)}-a {words}"

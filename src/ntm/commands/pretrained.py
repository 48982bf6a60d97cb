"""ntm pretrained: list the packaged networks and their measured costs."""

import argparse
import json
from typing import TYPE_CHECKING, Any

from ntm.commands.base import add_json, reading_arguments
from ntm.common.text import bits_text, percent

if TYPE_CHECKING:
    from ntm.pretrained import Facts
    from ntm.pretrained.card import Ability

HELP = "List the packaged networks and their measured costs"
_NOTE = """\
Costs are the mean bits per sequence. Unless a number of locations is shown, the memory
is as large as in training: net.resized(256) enlarges it."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `ntm pretrained`."""
    parser.add_argument("nets", metavar="NET", nargs="*", help="names (default: all)")
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Print the costs and the command of every network."""
    from ntm import pretrained

    with reading_arguments():
        cards = {name: pretrained.facts(name) for name in options.nets or pretrained.names()}
    if options.json:
        print(json.dumps({name: _json(facts) for name, facts in cards.items()}, indent=2))
        return 0
    for name, facts in cards.items():
        print(f'{name}   NTM.from_pretrained("{name}")')
        for ability in facts.abilities:
            print(f"    {_place(ability, facts):44}{_quality(ability, facts)}")
        print(f"    made by: {facts.command}\n")
    print(_NOTE)
    return 0


def _place(ability: "Ability", facts: "Facts") -> str:
    from ntm.paper import case_name

    locations = ability.memory_locations
    same = locations == facts.settings.model.memory_locations
    return case_name(ability.at) + ("" if same else f", {locations:,} locations")


def _quality(ability: "Ability", facts: "Facts") -> str:
    bits = f"{bits_text(ability.bits):>8} bits"
    if facts.settings.task.optimum is not None:
        return f"{bits} above the optimum"  # the bits are random: no network predicts all of them
    share = f"{percent(ability.perfect)} of {ability.sequences:,}"
    return f"{bits}, {share} without a wrong bit"


def _json(facts: "Facts") -> dict[str, Any]:
    return {
        "abilities": [ability._asdict() for ability in facts.abilities],
        "command": facts.command,
        "trained_sequences": facts.trained_sequences,
        "validation_bits": facts.validation_bits,
    }

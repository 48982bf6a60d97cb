"""ntm pretrained: the networks that come with the package, and what each can do."""

import argparse
import json
from typing import TYPE_CHECKING, Any

from ntm.commands.base import add_json

if TYPE_CHECKING:
    from ntm.pretrained import Facts
    from ntm.pretrained.card import Ability

HELP = "The packaged networks and what each can do"
_NOTE = """\
Bits per sequence, above the optimum where that is known. The memory is as large as in training
where nothing else is said: net.resized(256) enlarges it."""

add_arguments = add_json


def run(options: argparse.Namespace) -> int:
    """Print the card of every network."""
    from ntm import pretrained

    cards = {name: pretrained.facts(name) for name in pretrained.names()}
    if options.json:
        print(json.dumps({name: _json(facts) for name, facts in cards.items()}, indent=2))
        return 0
    for name, facts in cards.items():
        print(f'{name}   NTM.from_pretrained("{name}")')
        for ability in facts.abilities:
            print(f"    {_place(ability, facts):44}{_quality(ability)}")
        print(f"    made by: {facts.command}\n")
    print(_NOTE)
    return 0


def _place(ability: "Ability", facts: "Facts") -> str:
    from ntm.paper import case_name

    locations = ability.memory_locations
    same = locations == facts.settings.model.memory_locations
    return case_name(ability.at) + ("" if same else f", {locations:,} locations")


def _quality(ability: "Ability") -> str:
    return f"{ability.bits:>10.4g} bits, {ability.perfect:.1%} without a wrong bit"


def _json(facts: "Facts") -> dict[str, Any]:
    return {
        "abilities": [ability._asdict() for ability in facts.abilities],
        "command": facts.command,
        "trained_sequences": facts.trained_sequences,
        "validation_bits": facts.validation_bits,
    }

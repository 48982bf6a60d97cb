"""The command `ntm pretrained`: the networks that come with the package, and what each can do."""

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ntm.pretrained import Facts
    from ntm.pretrained.card import Ability


def show(as_json: bool) -> int:
    """Print the card of every network."""
    from ntm import pretrained

    facts = {name: pretrained.facts(name) for name in pretrained.names()}
    if as_json:
        print(json.dumps({name: _json(some) for name, some in facts.items()}, indent=2))
        return 0
    for name, some in facts.items():
        print(f'{name}   NTM.from_pretrained("{name}")')
        for ability in some.abilities:
            print(f"    {_place(ability):44}{_quality(ability)}")
        print(f"    made by: {some.command}\n")
    print("Bits per sequence; for n-grams, above the optimum. The memory has 128 locations")
    print("where nothing else is said: net.resized(256) enlarges it.")
    return 0


def _place(ability: "Ability") -> str:
    axes = ", ".join(f"{axis} {value}" for axis, value in ability.at.items())
    larger = "" if ability.memory_locations == 128 else f", {ability.memory_locations} locations"
    return (axes or "trained range") + larger


def _quality(ability: "Ability") -> str:
    return f"{ability.bits:>10.4g} bits, {ability.perfect:.1%} without a wrong bit"


def _json(facts: "Facts") -> dict[str, Any]:
    return {
        "abilities": [ability._asdict() for ability in facts.abilities],
        "command": facts.command,
        "trained_sequences": facts.trained_sequences,
        "validation_bits": facts.validation_bits,
    }

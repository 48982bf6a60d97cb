"""List the packaged networks and their measured costs."""

import argparse
from typing import TYPE_CHECKING, Any

from ntm.commands import base
from ntm.common.text import bits_text, percent

if TYPE_CHECKING:
    from ntm.paper.verdicts import Verdict
    from ntm.pretrained import Ability, Card

_NOTE = """\
Costs are the mean bits per sequence. Unless a number of locations is shown, the memory
has the network's own size: net.resized(256) enlarges it."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `ntm pretrained`."""
    parser.add_argument(
        "nets", metavar="NET", nargs="*", help="name of a packaged network (default: all)"
    )
    base.add_json(parser)


def run(options: argparse.Namespace) -> None:
    """Print the costs and the command of every network."""
    from ntm import pretrained

    with base.reading_arguments():
        cards = {name: pretrained.facts(name) for name in options.nets or pretrained.names()}
    if options.json:
        base.print_json({name: _json(facts) for name, facts in cards.items()})
        return
    for name, facts in cards.items():
        print(f'{name}   NTM.from_pretrained("{name}")')
        for row in facts.abilities:
            print(f"    {_place(row, facts):44}{_quality(row, facts)}{_goal(row, facts)}")
        print(f"    made by: {facts.command}\n")
    print(_NOTE)


def _place(ability: "Ability", facts: "Card") -> str:
    from ntm.paper import case_name

    locations = ability.memory_locations
    same = locations == facts.settings.model.memory_locations
    return case_name(ability.at) + ("" if same else f", {locations:,} locations")


def _quality(ability: "Ability", facts: "Card") -> str:
    bits = f"{bits_text(ability.bits):>8} bits"
    if facts.settings.task.optimum is not None:
        return f"{bits} above the optimum"  # the bits are random: no network predicts all of them
    share = f"{percent(ability.perfect)} of {ability.sequences:,}"
    return f"{bits}, {share} without a wrong bit"


def _goal(ability: "Ability", facts: "Card") -> str:
    """Return a remark on whether the goal at these sizes is reached; empty without a goal."""
    verdict = _verdict(ability, facts)
    if verdict is None:
        return ""
    return "; goal reached" if verdict.reached else "; goal NOT reached"


def _verdict(ability: "Ability", facts: "Card") -> "Verdict | None":
    from ntm.paper.verdicts import Verdict, goals_of

    if ability.memory_locations != facts.settings.model.memory_locations:
        return None
    goals = (goal for goal in goals_of(facts.settings) if dict(goal.at) == ability.at)
    goal = next(goals, None)
    return None if goal is None else Verdict(goal, ability.bits, ability.perfect, "")


def _json(facts: "Card") -> dict[str, Any]:
    return {
        "abilities": [
            ability._asdict()
            | ({} if (verdict := _verdict(ability, facts)) is None else {"goal": verdict.reached})
            for ability in facts.abilities
        ],
        "command": facts.command,
        "trained_sequences": facts.trained_sequences,
        "validation_bits": facts.validation_bits,
    }

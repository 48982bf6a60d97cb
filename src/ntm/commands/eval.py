"""Measure a trained network on fresh sequences."""

import argparse
from typing import TYPE_CHECKING, Any

from ntm.commands import base

if TYPE_CHECKING:
    from ntm.runs import Run
    from ntm.runs.facts import Facts


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `ntm eval`."""
    base.add_sequences(parser, 1000)
    text = "sequences to run at a time (default: 100)"
    parser.add_argument("--batch-size", type=int, default=100, help=text)
    text = "measure on the examples in this .jsonl, .csv or .tsv file"
    parser.add_argument("--data", metavar="FILE", help=text)
    base.add_axes(parser)
    base.add_saved(parser)
    weights = parser.add_mutually_exclusive_group()
    for name, text in (
        ("best", "weights of the lowest validation cost (default)"),
        ("latest", "newest weights"),
    ):
        weights.add_argument(
            f"--{name}", dest="weights", action="store_const", const=name, help=text
        )
    base.add_json(parser)


def run(options: argparse.Namespace) -> None:
    """Print the cost of the network."""
    from ntm.evaluation import evaluate
    from ntm.paper.verdicts import advice, verdict_on

    run = base.opened(options.run, options)
    axes = base.axes_given(options)
    base.require_at_least_one(sequences=options.sequences, batch_size=options.batch_size)
    model, facts = run.load_model(options.weights)
    with base.reading_arguments():
        task = run.settings.task.at(**axes)
        if options.data is not None:
            task = base.examples_of(run).with_file(options.data)
        model = base.resized_for(run.settings.task, model, options)
    evaluation = evaluate(model, task, options.sequences, options.seed, options.batch_size)
    resized = options.memory_locations is not None
    verdict = None if resized else verdict_on(evaluation, run.settings, axes)
    answer = {"task": task.name, **_asked(options, run, facts), **evaluation.to_json()}
    if verdict is not None:
        answer["goal_reached"] = verdict.reached
    base.print_facts(answer, options.json)
    if verdict is not None and not options.json:
        print(verdict.sentence if verdict.reached else f"{verdict.sentence} {advice(run.settings)}")


def _asked(options: argparse.Namespace, run: "Run", facts: "Facts") -> dict[str, Any]:
    """Return the network, the sizes and the seed of an evaluation, by name."""
    locations = options.memory_locations
    return {
        "model": run.settings.model_name,
        **base.axes_given(options),
        **({} if locations is None else {"memory_locations": locations}),
        "weights": facts["weights"],
        "trained_sequences": facts.get("sequences"),
        "seed": options.seed,
    }

"""ntm eval: measure a trained network on fresh sequences."""

import argparse

from ntm.commands.base import (
    add_axes,
    add_json,
    add_saved,
    add_sequences,
    axes_given,
    enlarged_for,
    opened,
    print_facts,
    reading_arguments,
    require_at_least_one,
)

HELP = "Measure a trained network on fresh sequences"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `ntm eval`."""
    add_sequences(parser, 1000)
    text = "sequences to run at a time (default: 100)"
    parser.add_argument("--batch-size", type=int, default=100, help=text)
    add_axes(parser)
    add_saved(parser)
    weights = parser.add_mutually_exclusive_group()
    for name, text in (("best", "best weights (default)"), ("latest", "newest weights")):
        weights.add_argument(
            f"--{name}", dest="weights", action="store_const", const=name, help=text
        )
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Print the cost of the network."""
    from ntm.evaluation import evaluate

    run = opened(options.run, options)
    axes = axes_given(options)
    require_at_least_one(sequences=options.sequences, batch_size=options.batch_size)
    model, facts = run.load_model(options.weights)
    with reading_arguments():
        task = run.settings.task.at(**axes)
        model = enlarged_for(run.settings.task, model, options)
    evaluation = evaluate(model, task, options.sequences, options.seed, options.batch_size)
    answer = {"task": task.name, "model": run.settings.model_name, **axes}
    if options.memory_locations is not None:
        answer["memory_locations"] = options.memory_locations
    answer |= {"weights": facts["weights"], "trained_sequences": facts.get("sequences")}
    print_facts(answer | {"seed": options.seed} | evaluation.to_json(), options.json)
    return 0

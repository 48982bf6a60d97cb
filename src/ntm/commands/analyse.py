"""ntm analyse: describe how the heads of a trained network work."""

import argparse
import json
from typing import TYPE_CHECKING

from ntm.commands.base import add_json, add_saved, add_sequences, opened, reading_arguments

if TYPE_CHECKING:
    from ntm.evaluation import Evaluation

HELP = "Describe how the heads of a trained network work"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `ntm analyse`."""
    add_sequences(parser, 200)
    add_saved(parser)
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Print the analysis of the heads."""
    from ntm.evaluation import evaluate, record
    from ntm.evaluation.report import as_text
    from ntm.paper.analysis import analysis_of

    run = opened(options.run, options)
    task, (model, facts) = run.settings.task, run.load_model()
    with reading_arguments():
        recording = record(model, task, options.sequences, options.seed)
    analysis = analysis_of(recording)
    cost = evaluate(model, task, options.sequences, options.seed)
    name = run.settings.model_name
    if options.json:
        known = {"model": name, "trained_sequences": facts.get("sequences")}
        costs = {"mean_bits": cost.mean_bits, "perfect": cost.perfect}
        print(json.dumps(known | costs | analysis.to_json(), indent=2))
        return 0
    print(f"{task.name}, {name}: {cost.mean_bits:.4f} bits per sequence, {_quality(cost)}.\n")
    print(as_text(analysis))
    return 0


def _quality(cost: "Evaluation") -> str:
    above = cost.bits_above_optimal
    if above is None:
        return f"{cost.perfect:.0%} of the sequences without a wrong bit"
    return f"{above:.1f} above the optimum"

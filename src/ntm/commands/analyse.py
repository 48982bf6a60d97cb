"""Describe how the heads of a trained network work."""

import argparse
from typing import TYPE_CHECKING

from ntm.commands import base

if TYPE_CHECKING:
    from ntm.evaluation import Evaluation


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `ntm analyse`."""
    base.add_sequences(parser, 200)
    base.add_saved(parser)
    base.add_json(parser)


def run(options: argparse.Namespace) -> None:
    """Print the analysis of the heads."""
    from ntm.evaluation import evaluate, record
    from ntm.paper.analysis import analysis_of

    run = base.opened(options.run, options)
    task, (model, facts) = run.settings.task, run.load_model()
    with base.reading_arguments():
        recording = record(model, task, options.sequences, options.seed)
    analysis = analysis_of(recording)
    cost = evaluate(model, task, options.sequences, options.seed)
    name = run.settings.model_name
    if options.json:
        known = {"model": name, "trained_sequences": facts.get("sequences")}
        costs = {"mean_bits": cost.mean_bits, "perfect": cost.perfect}
        base.print_json(known | costs | analysis.to_json())
        return
    print(f"{task.name}, {name}: {cost.mean_bits:.4f} bits per sequence, {_quality(cost)}.\n")
    print(analysis.as_text())


def _quality(cost: "Evaluation") -> str:
    above = cost.bits_above_optimal
    if above is None:
        return f"{cost.perfect:.0%} of the sequences without a wrong bit"
    return f"{above:.1f} above the optimum"

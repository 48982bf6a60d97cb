"""The tables: the paper's numbers, ours over all seeds, and what it took. From records alone."""

import statistics
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from ntm.baseline import LSTMConfig
from ntm.figures.style import MODEL_NAMES
from ntm.reproduction import paper
from ntm.reproduction.groups import Group, paper_departures
from ntm.reproduction.measure import CASES, TRAINED_RANGE, Axes, case_name
from ntm.reproduction.paper import bits_text
from ntm.reproduction.records import Record
from ntm.reproduction.table import COMMAND, Table
from ntm.training import paper_network
from ntm.training.progress import duration

TITLES = {
    "copy": "Copy",
    "repeat-copy": "Repeat copy",
    "associative-recall": "Associative recall",
    "ngrams": "Dynamic n-grams",
    "priority-sort": "Priority sort",
}
NGRAM_OPTIMUM = 131.89
"""Bits per n-gram sequence that the optimal estimator pays, +- 0.11: the mean of 100,000."""


HOW_TO_READ = """\
Numbers are the median over all seeds, none left out, with the lowest and the highest in brackets.
The best weights of a run are those of its lowest validation cost, the latest those at the end of
training; where nothing is said, numbers are of the best.

The paper's numbers are read off its published figures. Its cost is the mean of the last tenth of a
learning curve. "The paper there" is its curve at the number of sequences that our runs saw.

The settings of `ntm train` were chosen on seeds 0 to 19 and, for copy, also after two rounds on
seeds 100 to 119: runs with these may look better than others would. None of the seeds from 100 on
that are listed had a part in choosing the settings they are listed with. Where a run tries several
starts, all of them count in its sequences, its time and its learning curve."""


def how_measured(records: Iterable[Record]) -> str:
    """Over how many sequences the costs are, as a sentence."""
    counts = sorted({int(record.at(TRAINED_RANGE)["sequences"]) for record in records})
    some = " to ".join(f"{count:,}" for count in dict.fromkeys((counts[0], counts[-1])))
    return f"Each cost is the mean over {some} fresh sequences, the same ones for every run."


class Threshold(NamedTuple):
    """A cost that a learning curve has to fall below."""

    bits: float
    window: int = 1000
    """Sequences over which the cost is averaged."""


THRESHOLDS = {
    "copy": Threshold(0.01),
    "repeat-copy": Threshold(0.1),
    "associative-recall": Threshold(0.01),
    # So many, because what n-gram sequences cost varies by 36 bits from one to the next.
    "ngrams": Threshold(1.0, 20_000),
    "priority-sort": Threshold(15.0),
}


def cost(record: Record, at: Axes = TRAINED_RANGE, weights: str = "best") -> float:
    """Mean bits per sequence; for n-grams, above the optimum on the same sequences."""
    case = record.at(at, weights)
    return float(case["bits_above_optimal" if record.task == "ngrams" else "mean_bits"])


def needed(record: Record, threshold: Threshold) -> int | None:
    """Sequences until the learning curve first is below a threshold; None if it never is."""
    optimum = NGRAM_OPTIMUM if record.task == "ngrams" else 0.0
    curve = record.curve
    return paper.first_below(
        curve.sequences, curve.bits - optimum, threshold.bits, threshold.window
    )


def trained_range_table(task: str, groups: Sequence[Group]) -> Table:
    """The cost on the range that the networks are trained on, and what it took."""
    threshold = THRESHOLDS[task]
    above = " above the optimum" if task == "ngrams" else ""
    header = (
        "network", "seeds", "the paper", "best weights", "latest weights",
        f"sequences to below {threshold.bits:g}", "in the paper",
        "sequences seen", "the paper there", "time per run", COMMAND,
    )  # fmt: skip
    note = (
        f"Bits per sequence{above}. Below {threshold.bits:g}: where the mean cost of "
        f"{threshold.window:,} training sequences first is lower; a later rise does not count."
    )
    rows = [_trained_range_row(group, threshold) for group in groups]
    return Table("", header, rows, texts=2, note=note)


def beyond_table(task: str, groups: Sequence[Group]) -> Table | None:
    """The costs beyond the trained range, beside the paper's; None if there is none."""
    beyond = [at for at in CASES[task] if at != TRAINED_RANGE]
    if not beyond:
        return None
    rows = []
    for group in groups:
        if published := _published(task, group.model, beyond):
            rows.append((group.name, "bits, the paper", *published))
        bits = (spread([cost(r, at) for r in group.records], bits_text) for at in beyond)
        right = (spread([share(r, at) for r in group.records], percent) for at in beyond)
        rows.append((group.name, "bits, here", *bits))
        rows.append((group.name, "without a wrong bit, here", *right))
    return Table("", ("network", "", *map(case_name, beyond)), rows, texts=2)


def runs_table(task: str, groups: Sequence[Group]) -> Table:
    """Every run, the failed ones too."""
    beyond = [at for at in CASES[task] if at != TRAINED_RANGE]
    header = (
        "run", "sequences", "time", "validation", "best weights at", "best weights",
        "latest weights", *map(case_name, beyond),
    )  # fmt: skip
    rows = [
        (
            f"`{record.name}`",
            f"{record.sequences:,}",
            duration(record.seconds),
            bits_text(record.validation_bits) if record.validation_bits < float("inf") else "",
            f"{record.best_at:,}",
            bits_text(cost(record)),
            bits_text(cost(record, weights="latest")),
            *(f"{bits_text(cost(record, at))} ({percent(share(record, at))})" for at in beyond),
        )
        for group in groups
        for record in group.records
    ]
    note = "Validation: the cost that chose the best weights, in bits per sequence." + (
        " Beyond the trained range: bits (share without a wrong bit), best weights."
        if beyond
        else ""
    )
    return Table("", header, rows, note=note)


def heads_table(group: Group) -> Table | None:
    """What the heads do beside the paper's claims, over all seeds; None for an LSTM."""
    analyses = [record.analysis for record in group.records if record.analysis is not None]
    if not analyses:
        return None
    rows = []
    for number, first in enumerate(analyses[0]["findings"]):
        findings = [analysis["findings"][number] for analysis in analyses]
        verdicts = [finding["verdict"] for finding in findings]
        rows.append(
            (
                first["name"],
                f'"{first["claim"]}"',
                first["measures"],
                spread([finding["value"] for finding in findings], "{:.3f}".format),
                _verdict(verdicts),
            )
        )
    header = ("finding", "the paper's words", "measured", "value", "verdict")
    note = "A claim holds from 0.9 and holds partly from 0.5."
    return Table(group.name, header, rows, texts=3, note=note)


def settings_table(groups: Iterable[Group]) -> Table:
    """The sizes and settings of every network."""
    rows = []
    for group in groups:
        settings, printed = group.settings, paper_network(group.task, group.model)
        changes = paper_departures(settings)
        rows.append(
            (
                TITLES[group.task],
                MODEL_NAMES[group.model],
                _sizes(group),
                ", ".join(f"`{key}={value}`" for key, value in changes.items()) or "none",
                f"{settings.optimiser.learning_rate:g}",
                str(settings.training.batch_size),
                f"{settings.training.sequences:,}",
                f"{printed.parameters:,}",
                group.seeds,
            )
        )
    header = (
        "task", "network", "sizes", "departures from the paper's settings", "learning rate",
        "batch size", "sequences", "parameters, the paper", "seeds",
    )  # fmt: skip
    return Table("", header, rows, texts=4)


def spread(values: Sequence[float], text: Callable[[float], str]) -> str:
    """The median and the range of some values; if they look the same, just that."""
    middle, low, high = map(text, (statistics.median(values), min(values), max(values)))
    return middle if low == high else f"{middle} ({low} to {high})"


def _trained_range_row(group: Group, threshold: Threshold) -> tuple[str, ...]:
    task, model, records = group.task, group.model, group.records
    there = paper.paper_needed(task, model, threshold.bits, threshold.window)
    seen = [record.sequences for record in records]
    return (
        group.name,
        group.seeds,
        str(paper.final_cost(task, model)),
        spread([cost(record) for record in records], bits_text),
        spread([cost(record, weights="latest") for record in records], bits_text),
        _needed(records, threshold),
        "not" if there is None else f"{there:,}",
        spread(seen, lambda count: f"{int(count):,}"),
        str(paper.cost_at(task, model, round(statistics.median(seen)))),
        spread([record.seconds for record in records], duration),
        f"`{group.command}`",
    )


def _needed(records: Sequence[Record], threshold: Threshold) -> str:
    counts = [needed(record, threshold) for record in records]
    reached = [count for count in counts if count is not None]
    if not reached:
        return "not"
    text = spread(reached, lambda count: f"{int(count):,}")
    return text if len(reached) == len(counts) else f"{text}, {len(reached)} of {len(counts)} seeds"


def _published(task: str, model: str, beyond: Sequence[Axes]) -> list[str]:
    if task != "associative-recall":
        return []
    readings = [paper.recall_cost(model, at["items"]) for at in beyond]
    return ["" if reading is None else str(reading) for reading in readings]


def share(record: Record, at: Axes) -> float:
    """The share of the sequences without a wrong bit."""
    return float(record.at(at)["perfect"])


def percent(share: float) -> str:
    """A share as a percentage, never rounded up to all: 99.97 % is not 100 %."""
    return f"{int(1000 * share + 1e-9) / 10:g} %"


def _verdict(verdicts: Sequence[str]) -> str:
    if len(verdicts) == 1:
        return verdicts[0]
    return f"holds in {verdicts.count('holds')} of {len(verdicts)}"


def _sizes(group: Group) -> str:
    model = group.settings.model
    if isinstance(model, LSTMConfig):
        return f"{model.layers} layers of {model.hidden_size}"
    layers = f"{model.controller_layers} x " if model.controller_layers > 1 else ""
    return (
        f"controller {layers}{model.controller_size}, memory {model.memory_locations} x "
        f"{model.memory_width}, {model.read_heads} + {model.write_heads} heads"
    )

"""Tables made from records: the paper's numbers, and our costs and times over all seeds."""

import statistics
from collections.abc import Iterable, Sequence
from importlib import resources

from ntm.common.text import bits_text, duration, percent, spread
from ntm.evaluation.curves import first_below
from ntm.paper import experiment_of, paper_network, published
from ntm.paper.experiment import Experiment
from ntm.report.groups import SeedGroup, paper_departures
from ntm.report.records import Record
from ntm.tasks.cases import TRAINED_RANGE, Case, case_name
from ntm.terminal.table import COMMAND, Table

HOW_TO_READ = (resources.files("ntm.report") / "templates/how-to-read.md").read_text().rstrip()


def how_measured(records: Iterable[Record]) -> str:
    """Return a sentence with the number of sequences behind each cost."""
    counts = sorted({int(record.at(TRAINED_RANGE)["sequences"]) for record in records})
    some = " to ".join(f"{count:,}" for count in dict.fromkeys((counts[0], counts[-1])))
    return f"Each cost is the mean over {some} fresh sequences, the same ones for every run."


def cost(record: Record, at: Case = TRAINED_RANGE, weights: str = "best") -> float:
    """Return the mean bits per sequence, above the optimum on the same sequences if known."""
    case = record.at(at, weights)
    return float(case["bits_above_optimal" if "bits_above_optimal" in case else "mean_bits"])


def share(record: Record, at: Case) -> float:
    """Return the share of sequences without a wrong bit."""
    return float(record.at(at)["perfect"])


def above_optimum(groups: Sequence[SeedGroup]) -> str:
    """Return the words to add after "bits" if the optimum of the task is known."""
    return " above the optimum" if groups[0].settings.task.optimum is not None else ""


def needed(record: Record, bits: float, window: int = 1000) -> int | None:
    """Return the sequences until the learning curve is first below a cost, or None.

    window: number of sequences over which the cost is averaged.
    """
    curve, optimum = record.curve, record.settings.task.optimum or 0.0
    return first_below(curve.sequences, curve.bits - optimum, bits, window)


def trained_range_table(experiment: Experiment, groups: Sequence[SeedGroup]) -> Table:
    """Return costs on the trained range, with the sequences and the time of training."""
    bits = f"{experiment.threshold:g}"
    header = (
        "network", "seeds", "the paper", "best weights", "latest weights",
        f"sequences to below {bits}", "in the paper",
        "sequences seen", "the paper there", "time per run", COMMAND,
    )  # fmt: skip
    note = (
        f"Bits per sequence{above_optimum(groups)}. Sequences to below {bits}: until the mean cost "
        f"of {experiment.window:,} training sequences is first lower; later rises are ignored."
    )
    rows = [_trained_range_row(experiment, group) for group in groups]
    return Table("", header, rows, texts=2, note=note)


def beyond_table(experiment: Experiment, groups: Sequence[SeedGroup]) -> Table | None:
    """Return our costs and the paper's beyond the trained range; None without such cases."""
    cases = experiment.beyond
    if not cases:
        return None
    rows = []
    for group in groups:
        readings = [published.cost_of_case(group.task, group.model, case) for case in cases]
        if any(readings):
            rows.append((group.name, "bits, the paper", *map(known, readings)))
        rows.append((group.name, "bits, here", *(costs_text(group, case) for case in cases)))
        right = (spread([share(r, case) for r in group.records], percent) for case in cases)
        rows.append((group.name, "without a wrong bit, here", *right))
    return Table("", ("network", "", *map(case_name, cases)), rows, texts=2)


def costs_text(group: SeedGroup, at: Case = TRAINED_RANGE, weights: str = "best") -> str:
    """Return the costs of a group as text: the median and the range."""
    return spread([cost(record, at, weights) for record in group.records], bits_text)


def runs_table(experiment: Experiment, groups: Sequence[SeedGroup]) -> Table:
    """Return every run, including runs that failed to learn."""
    beyond = experiment.beyond
    header = (
        "run", "sequences", "time", "validation", "best weights at", "best weights",
        "latest weights", *map(case_name, beyond),
    )  # fmt: skip
    rows = [_run_row(record, beyond) for group in groups for record in group.records]
    settings = (record.settings for group in groups for record in group.records)
    added = any(chosen.training.validate_beyond for chosen in settings)
    also = " (with training.validate_beyond: plus the cost beyond the range)" if added else ""
    note = f"Validation: bits per sequence. The best weights have the lowest validation cost{also}."
    if beyond:
        note += " Beyond the trained range: bits (share without a wrong bit), best weights."
    return Table("", header, rows, note=note)


def _run_row(record: Record, beyond: Sequence[Case]) -> tuple[str, ...]:
    return (
        f"`{record.name}`",
        f"{record.sequences:,}",
        duration(record.seconds),
        bits_text(record.validation_bits) if record.validation_bits < float("inf") else "",
        f"{record.best_at:,}",
        bits_text(cost(record)),
        bits_text(cost(record, weights="latest")),
        *(f"{bits_text(cost(record, at))} ({percent(share(record, at))})" for at in beyond),
    )


def heads_table(group: SeedGroup) -> Table | None:
    """Return the findings about the heads and the paper's claims; None for an LSTM."""
    analyses = [record.analysis for record in group.records if record.analysis is not None]
    if not analyses:
        return None
    rows = []
    for findings in zip(*(analysis["findings"] for analysis in analyses), strict=True):
        first = findings[0]
        rows.append(
            (
                first["name"],
                f'"{first["claim"]}"' if first["claim"] else "",
                first["measures"],
                spread([finding["value"] for finding in findings], "{:.3f}".format),
                _verdict([finding["verdict"] for finding in findings]),
            )
        )
    header = ("finding", "the paper's words", "measured", "value", "verdict")
    note = "A claim holds from 0.9 and holds partly from 0.5."
    return Table(group.name, header, rows, texts=3, note=note)


def settings_table(groups: Iterable[SeedGroup]) -> Table:
    """Return the sizes and settings of every network."""
    header = (
        "task", "network", "sizes", "departures from the paper's settings", "learning rate",
        "batch size", "sequences", "parameters, the paper", "seeds",
    )  # fmt: skip
    return Table("", header, [_settings_row(group) for group in groups], texts=4)


def _settings_row(group: SeedGroup) -> tuple[str, ...]:
    settings, printed = group.settings, paper_network(group.task, group.model)
    changes = paper_departures(settings)
    return (
        experiment_of(group.task).title,
        settings.family.title,
        settings.family.sizes(settings.model),
        ", ".join(f"`{key}={value}`" for key, value in changes.items()) or "none",
        f"{settings.optimiser.learning_rate:g}",
        str(settings.training.batch_size),
        f"{settings.training.sequences:,}",
        f"{printed.parameters:,}" if printed else "",
        group.seeds,
    )


def _trained_range_row(experiment: Experiment, group: SeedGroup) -> tuple[str, ...]:
    task, model, records = group.task, group.model, group.records
    seen = [record.sequences for record in records]
    return (
        group.name,
        group.seeds,
        known(published.final_cost(task, model)),
        costs_text(group),
        costs_text(group, weights="latest"),
        _needed(experiment, records),
        _needed_in_the_paper(experiment, model),
        spread(seen, lambda count: f"{int(count):,}"),
        known(published.cost_at(task, model, round(statistics.median(seen)))),
        spread([record.seconds for record in records], duration),
        f"`{group.command}`",
    )


def _needed_in_the_paper(experiment: Experiment, model: str) -> str:
    if published.final_cost(experiment.task, model) is None:
        return ""
    bits, window = experiment.threshold, experiment.window
    count = published.sequences_needed(experiment.task, model, bits, window)
    return "not" if count is None else f"{count:,}"


def known(reading: published.Reading | None) -> str:
    """Return a number of the paper as text; empty if the paper gives none."""
    return "" if reading is None else str(reading)


def _needed(experiment: Experiment, records: Sequence[Record]) -> str:
    counts = [needed(record, experiment.threshold, experiment.window) for record in records]
    reached = [count for count in counts if count is not None]
    if not reached:
        return "not"
    text = spread(reached, lambda count: f"{int(count):,}")
    return text if len(reached) == len(counts) else f"{text}, {len(reached)} of {len(counts)} seeds"


def _verdict(verdicts: Sequence[str]) -> str:
    if len(verdicts) == 1:
        return verdicts[0]
    return f"holds in {verdicts.count('holds')} of {len(verdicts)}"

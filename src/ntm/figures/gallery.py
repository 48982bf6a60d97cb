"""Every figure of the paper that some runs allow: what `ntm figures` draws."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import torch
from matplotlib.figure import Figure

from ntm.config import NTMConfig
from ntm.evaluation.recording import record
from ntm.figures import style
from ntm.figures.copy import copy_generalisation, copy_memory_use
from ntm.figures.curves import learning_curves, recall_generalisation
from ntm.figures.diagrams import addressing_flow, architecture
from ntm.figures.repeat_copy import repeat_copy_generalisation, repeat_copy_memory_use
from ntm.figures.runs import MissingError, Runs
from ntm.paper.drawings.associative_recall import recall_memory_use
from ntm.paper.drawings.ngrams import ngram_inference, ngram_memory_use
from ntm.paper.drawings.priority_sort import sort_example, sort_memory_use
from ntm.paper.heads.sorting import choose_reads, choose_writes, fit_writes
from ntm.runs import block_generator
from ntm.tasks import NGrams, PrioritySort

NTM = ("ntm-ff", "ntm-lstm")
COPY_LENGTHS = (10, 20, 30, 50, 120)
REPEAT_CASES = {
    "length 20, 10 repeats": {"length": 20, "repeats": 10},
    "length 10, 20 repeats": {"length": 10, "repeats": 20},
}
RECALL_ITEMS = (6, 8, 10, 12, 15, 20)
# What n-gram sequences cost at best varies by 36 bits; the mean of so many is good to 0.2 bits.
OPTIMUM_SEQUENCES = 50_000


class Outcome(NamedTuple):
    """What became of one figure of the paper."""

    number: int
    title: str
    files: Sequence[Path]
    """Where it is; empty if it could not be drawn."""
    lacking: Sequence[str]
    """What would be needed to draw it, or to draw all of it."""


def draw_figures(
    folders: Iterable[str | Path], out: str | Path, formats: Sequence[str] = ("png", "svg")
) -> Iterator[Outcome]:
    """Draw every figure of the paper that the runs in these folders allow, in its order.

    folders: runs, or folders of runs. For each kind of network a figure takes all runs, or the one
    of lowest cost.
    """
    runs = Runs(folders)
    for number, (title, draw) in enumerate(FIGURES.items(), start=1):
        files: list[Path] = []
        runs.lacking.clear()
        try:
            figure = draw(runs)
        except MissingError as error:
            runs.lacking.append(str(error))
        else:
            name = f"figure-{number:02d}-{title.replace(' ', '-')}"
            files = style.save(figure, Path(out) / name, formats)
        yield Outcome(number, title, files, tuple(runs.lacking))


def _learning_curves(task: str, runs: Runs) -> Figure:
    return learning_curves(task, runs.learning_curves(task))


def _copy_generalisation(models: Sequence[str], runs: Runs) -> Figure:
    network = runs.best("copy", *models)
    answers = [network.answer(f"length {length}", length=length) for length in COPY_LENGTHS]
    return copy_generalisation(answers, network.name)


def _copy_memory_use(runs: Runs) -> Figure:
    return copy_memory_use(*runs.best("copy", *NTM).example(length=20))


def _repeat_copy_generalisation(runs: Runs) -> Figure:
    networks = [runs.best("repeat-copy", *NTM), *runs.wanted("repeat-copy", "lstm")]
    return repeat_copy_generalisation(
        [
            network.answer(f"{network.name}: {title}", **case)
            for network in networks
            for title, case in REPEAT_CASES.items()
        ]
    )


def _repeat_copy_memory_use(runs: Runs) -> Figure:
    return repeat_copy_memory_use(*runs.best("repeat-copy", *NTM).example(length=7, repeats=6))


def _recall_generalisation(runs: Runs) -> Figure:
    return recall_generalisation(runs.costs("associative-recall", "items", RECALL_ITEMS))


def _recall_memory_use(runs: Runs) -> Figure:
    # As in the paper, rather an LSTM controller: its single head is the easier to follow.
    return recall_memory_use(*runs.best("associative-recall", *reversed(NTM)).example(items=5))


def _ngram_learning_curves(runs: Runs) -> Figure:
    batch = NGrams().sample(OPTIMUM_SEQUENCES, block_generator("figures", 1))
    optimum = float(NGrams().optimal_bits(batch).mean())
    return learning_curves("ngrams", runs.learning_curves("ngrams"), optimum)


def _ngram_inference(runs: Runs) -> Figure:
    networks = {"NTM": [runs.best("ngrams", *NTM)], "LSTM": runs.wanted("ngrams", "lstm")}
    batch = NGrams().sample(1, block_generator("figures", 1))
    predictions = {"optimal": NGrams().optimal_probabilities(batch)[:, 0, 0].numpy()}
    for name, some in networks.items():
        for network in some:
            logits = network.logits(batch.inputs)[:, 0, 0]
            predictions[name] = torch.sigmoid(logits).numpy()
    return ngram_inference(batch.targets[:, 0, 0].numpy(), predictions)


def _ngram_memory_use(runs: Runs) -> Figure:
    return ngram_memory_use(*runs.best("ngrams", *NTM).example())


def _sort_example(_: Runs) -> Figure:
    return sort_example(PrioritySort(), PrioritySort().sample(1, block_generator("figures", 1)))


def _sort_memory_use(runs: Runs) -> Figure:
    network = runs.best("priority-sort", *NTM)
    recording = record(network.model, network.task)
    writes, rest = choose_writes(recording)
    reads, _ = choose_reads(recording, writes)
    return sort_memory_use(rest.part(0, 1), fit_writes(rest, writes), writes.head, reads.head)


FIGURES: dict[str, Callable[[Runs], Figure]] = {
    "architecture": lambda _: architecture(NTMConfig(9, 8)),
    "addressing flow": lambda _: addressing_flow(),
    "copy learning curves": partial(_learning_curves, "copy"),
    "copy generalisation ntm": partial(_copy_generalisation, NTM),
    "copy generalisation lstm": partial(_copy_generalisation, ["lstm"]),
    "copy memory use": _copy_memory_use,
    "repeat copy learning curves": partial(_learning_curves, "repeat-copy"),
    "repeat copy generalisation": _repeat_copy_generalisation,
    "repeat copy memory use": _repeat_copy_memory_use,
    "recall learning curves": partial(_learning_curves, "associative-recall"),
    "recall generalisation": _recall_generalisation,
    "recall memory use": _recall_memory_use,
    "ngram learning curves": _ngram_learning_curves,
    "ngram inference": _ngram_inference,
    "ngram memory use": _ngram_memory_use,
    "sort example": _sort_example,
    "sort memory use": _sort_memory_use,
    "sort learning curves": partial(_learning_curves, "priority-sort"),
}
"""The paper's figures 1 to 18, in order."""

"""Every figure, from data that is known: hand-made recordings, curves and answers."""

from collections.abc import Callable

import numpy as np
from matplotlib.figure import Figure
from tests import hand_made
from tests.hand_made import performed, sample

from ntm import figures
from ntm.config import NTMConfig
from ntm.evaluation.recording import Recording
from ntm.figures import Answer, CostCurve
from ntm.paper.associative_recall.figures import recall_memory_use
from ntm.paper.ngrams.figures import ngram_inference, ngram_memory_use
from ntm.paper.priority_sort.figures import sort_example as draw_sort_example
from ntm.paper.priority_sort.figures import sort_memory_use as sort_memory_use_of
from ntm.paper.priority_sort.heads import choose_writes, fit_writes
from ntm.tasks import AssociativeRecall, Copy, NGrams, PrioritySort, RepeatCopy


def copying() -> Recording:
    task = Copy(bits=4, min_length=6, max_length=6)
    batch = sample(task, 1)
    return performed(task, batch, hand_made.copy_program(task, batch))


def repeating() -> Recording:
    task = RepeatCopy(bits=4, min_length=4, max_length=4, min_repeats=3, max_repeats=3)
    batch = sample(task, 1)
    return performed(task, batch, hand_made.copy_program(task, batch))


def recalling() -> Recording:
    task = AssociativeRecall(bits=4, min_items=4, max_items=4)
    batch = sample(task, 1)
    return performed(task, batch, hand_made.recall_program(task, batch))


def counting() -> Recording:
    task = NGrams(length=60, context=3)
    batch = sample(task, 1)
    return performed(task, batch, hand_made.counting_program(task, batch))


def sorting(sequences: int = 1) -> Recording:
    task = PrioritySort(bits=4, length=8, answers=6)
    batch = sample(task, sequences)
    return performed(task, batch, hand_made.sorting_program(task, batch))


def answers(*lengths: int, channels: int = 5) -> list[Answer]:
    """Right answers but for one step of each, which is another sequence's every bit."""
    noise, made = np.random.default_rng(2), []
    for length in lengths:
        targets = noise.integers(0, 2, (length, channels)).astype(float)
        outputs = np.abs(targets - 0.1)
        outputs[length // 2] = 1 - outputs[length // 2]
        made.append(Answer(f"length {length}", targets, outputs))
    return made


def falling(end: float, start: float, floor: float, points: int = 20) -> CostCurve:
    """A cost that falls from `start` to `floor` over `end` thousands of sequences."""
    x = np.linspace(end / points, end, points)
    return CostCurve(x, floor + (start - floor) * np.exp(-8 * x / end))


def some_curves(end: float, start: float, floor: float = 0.0) -> dict[str, list[CostCurve]]:
    return {
        "ntm-ff": [falling(end * share, start, floor) for share in (1.0, 0.8, 0.6)],
        "lstm": [falling(end, start * 1.05, floor + (start - floor) / 2)],
    }


def recall_costs() -> dict[str, list[CostCurve]]:
    items = np.array([6.0, 10.0, 15.0, 20.0])
    return {
        "ntm-lstm": [CostCurve(items, items * slope - 6 * slope) for slope in (0.2, 0.5)],
        "lstm": [CostCurve(items, 2.5 * items - 13)],
    }


def predictions() -> tuple[np.ndarray, dict[str, np.ndarray]]:
    recording = counting()
    optimal = recording.trace.probabilities[:, 0, 0]
    ours = optimal.copy()
    ours[[20, 40]] = 1 - np.round(optimal[[20, 40]])
    return recording.batch.targets[:, 0, 0].numpy(), {"optimal": optimal, "NTM": ours}


def sort_memory_use() -> Figure:
    recording = sorting(sequences=12)
    writes, _ = choose_writes(recording)
    return sort_memory_use_of(recording.part(0, 1), fit_writes(recording, writes))


def copy_generalisation() -> Figure:
    *shorter, longest = answers(4, 8, 30)
    return figures.draw_answers("NTM", [shorter, [longest]])


def sort_example() -> Figure:
    recording = sorting()
    assert isinstance(recording.task, PrioritySort)
    return draw_sort_example(recording.task, recording.batch)


def curves_of(task: str, end: float, start: float, floor: float = 0.0) -> Callable[[], Figure]:
    optimum = 131.6 if task == "ngrams" else None
    return lambda: figures.learning_curves(task, some_curves(end, start, floor), optimum)


FIGURES: dict[str, Callable[[], Figure]] = {
    "architecture": lambda: figures.architecture(NTMConfig(9, 8)),
    "addressing-flow": figures.addressing_flow,
    "copy-learning-curves": curves_of("copy", 60, 80),
    "copy-generalisation": copy_generalisation,
    "copy-memory-use": lambda: figures.task_memory_use(copying()),
    "repeat-copy-learning-curves": curves_of("repeat-copy", 500, 180),
    "repeat-copy-generalisation": lambda: figures.draw_answers("", [[a] for a in answers(30, 30)]),
    "repeat-copy-memory-use": lambda: figures.task_memory_use(repeating()),
    "recall-learning-curves": curves_of("associative-recall", 1000, 18),
    "recall-generalisation": lambda: figures.costs_along("associative-recall", recall_costs(), 6),
    "recall-memory-use": lambda: recall_memory_use(recalling()),
    "ngram-learning-curves": curves_of("ngrams", 1000, 180, 132),
    "ngram-inference": lambda: ngram_inference(*predictions()),
    "ngram-memory-use": lambda: ngram_memory_use(counting()),
    "sort-example": sort_example,
    "sort-memory-use": sort_memory_use,
    "sort-learning-curves": curves_of("priority-sort", 1000, 120, 20),
    "memory-use": lambda: figures.memory_use(copying().trace),
}

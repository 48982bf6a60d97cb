"""Score of the benchmark: mean accuracy per symbol over lengths 41 to 500."""

from collections.abc import Iterable
from statistics import fmean

import torch

from ntm.evaluation import generalise
from ntm_chomsky.strings import StringTask

LENGTHS = range(41, 501, 9)
"""52 lengths, odd and even in turn, with both ends."""
_ANSWERS = 32  # problems per length if an answer is one symbol
_STRINGS = 8  # problems per length if an answer is a string


def score(
    model: torch.nn.Module,
    task: StringTask,
    lengths: Iterable[int] = LENGTHS,
    memory_locations: int | None = None,
    seed: int = 1,
) -> dict[int, float]:
    """Return the accuracy per symbol at each length, between 0 and 1.

    lengths: lengths of the inputs (LENGTHS).
    memory_locations: memory locations of the network during the measurement (None: its own).
    seed: selects the problems (1).
    """
    count = _ANSWERS if task.answer_length(max(LENGTHS)) == 1 else _STRINGS
    found = generalise(
        model,
        task,
        "length",
        lengths,
        memory_locations=memory_locations,
        sequences=count,
        seed=seed,
    )
    return {length: evaluation.accuracy or 0.0 for length, evaluation in found.items()}


def mean_accuracy(by_length: dict[int, float]) -> float:
    """Return the score, in percent."""
    return 100 * fmean(by_length.values())

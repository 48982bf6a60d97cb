"""Evaluation of a network on a task: bits per sequence, and share of faultless sequences."""

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ntm.common.fields import check_value
from ntm.models.family import Model, family_of
from ntm.runs.stream import Stream
from ntm.tasks import Batch, Task, cost_in_bits, wrong_bits

_BLOCK = 256


@dataclass(frozen=True)
class Evaluation:
    """Cost of a network's answers on fresh sequences, in bits per sequence."""

    mean_bits: float
    median_bits: float
    perfect: float
    """Fraction of sequences without a wrong bit."""
    sequences: int
    optimal_bits: float | None = None
    """Mean cost of the best possible predictions on the same sequences (None: not known)."""
    bits_above_optimal: float | None = None
    """mean_bits - optimal_bits. The difference has less noise than either cost."""

    def to_json(self) -> dict[str, Any]:
        """Return the numbers by name, omitting None."""
        return {name: value for name, value in asdict(self).items() if value is not None}


def evaluate(
    model: torch.nn.Module,
    task: Task,
    sequences: int = 1000,
    seed: int = 1,
    batch_size: int = 100,
) -> Evaluation:
    """Measure a network on fresh sequences.

    seed: selects the sequences. With one seed, a longer evaluation starts with the sequences of a
        shorter one.
    batch_size: sequences to run at a time, at most 256. It does not change the result.
    """
    for name, count in (("sequences", sequences), ("batch_size", batch_size)):
        check_value(name, count, int, {"at_least": 1})
    bits, wrong, optimal = [], [], []
    for batch in _batches(task, sequences, seed, batch_size):
        batch_bits, batch_wrong = costs(model, batch)
        bits.append(batch_bits)
        wrong.append(batch_wrong)
        if (best_bits := task.optimal_bits(batch)) is not None:
            optimal.append(best_bits)
    # float64: a sum over many sequences loses digits in float32.
    all_bits = torch.cat(bits).double()
    mean = all_bits.mean().item()
    best = torch.cat(optimal).double().mean().item() if optimal else None
    return Evaluation(
        mean_bits=mean,
        median_bits=float(np.median(all_bits.numpy())),
        perfect=(torch.cat(wrong) == 0).double().mean().item(),
        sequences=sequences,
        optimal_bits=best,
        bits_above_optimal=None if best is None else mean - best,
    )


def enlarged(model: Model, memory_locations: int | None) -> Model:
    """Return the network with more memory locations; None returns it unchanged."""
    if memory_locations is None:
        return model
    return family_of(model).enlarged(model, memory_locations)


def generalise(
    model: Model,
    task: Task,
    axis: str,
    values: Iterable[int],
    *,
    memory_locations: int | None = None,
    **evaluation: Any,
) -> dict[int, Evaluation]:
    """Evaluate along one axis of a task: "length", "repeats" or "items".

        generalise(model, task, "length", [20, 50, 120], sequences=200)

    memory_locations: first enlarge an NTM's memory to this many locations (None: unchanged).
    evaluation: further arguments of `evaluate`.
    """
    model = enlarged(model, memory_locations)
    return {v: evaluate(model, task.at(**{axis: v}), **evaluation) for v in values}


@torch.no_grad()
def costs(model: torch.nn.Module, batch: Batch) -> tuple[Tensor, Tensor]:
    """Return the cost in bits and the number of wrong bits per sequence: (batch,) each, CPU."""
    there = batch.to(next(model.parameters()).device)
    logits, _ = model(there.inputs, lengths=there.lengths)
    logits = logits.cpu()
    return cost_in_bits(logits, batch), wrong_bits(logits, batch)


def _batches(task: Task, sequences: int, seed: int, batch_size: int) -> Iterator[Batch]:
    stream = Stream(task, seed, batch_size=_BLOCK, name="evaluation")
    for number, first in enumerate(range(0, sequences, _BLOCK)):
        block, left = stream.block(number), min(_BLOCK, sequences - first)
        for start in range(0, left, batch_size):
            yield block.narrow(start, min(start + batch_size, left))

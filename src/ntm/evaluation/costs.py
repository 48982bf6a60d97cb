"""Evaluation of a network on a task: bits per sequence, and share without a wrong bit."""

import warnings
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
    """Fraction of sequences without a wrong bit or symbol."""
    sequences: int
    optimal_bits: float | None = None
    """Mean cost of the best possible predictions on the same sequences (None: not known)."""
    bits_above_optimal: float | None = None
    """mean_bits - optimal_bits. The difference has less noise than either cost."""
    accuracy: float | None = None
    """Fraction of right symbols (None: the outputs are bits)."""

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
    """Measure a network on fresh sequences, or on the held-out examples of a file.

    sequences: number of sequences. If a file has fewer examples, all are used.
    seed: selects the sequences. With one seed, the first sequences are equal for any number of
        sequences.
    batch_size: sequences to run at a time, at most 256. It does not change the result.
    """
    for name, count in (("sequences", sequences), ("batch_size", batch_size)):
        check_value(name, count, int, {"at_least": 1})
    task = task.for_validation
    if task.problems is not None:
        sequences = min(sequences, task.problems)
    measured = [
        (*costs(model, batch), batch.mask.sum().item(), task.optimal_bits(batch))
        for batch in _batches(task, sequences, seed, batch_size)
    ]
    bits, wrong, scored, optimal = zip(*measured, strict=True)
    # float64: a sum over many sequences loses digits in float32.
    all_bits, all_wrong = torch.cat(bits).double(), torch.cat(wrong)
    mean, symbols = all_bits.mean().item(), task.output_kind == "symbols"
    best = None if optimal[0] is None else torch.cat(optimal).double().mean().item()
    return Evaluation(
        mean_bits=mean,
        median_bits=float(np.median(all_bits.numpy())),
        perfect=(all_wrong == 0).double().mean().item(),
        sequences=sequences,
        optimal_bits=best,
        bits_above_optimal=None if best is None else mean - best,
        accuracy=1 - all_wrong.sum().item() / sum(scored) if symbols else None,
    )


def resized(model: Model, memory_locations: int | None) -> Model:
    """Return the network with more memory locations; None returns it unchanged."""
    if memory_locations is None:
        return model
    return family_of(model).resized(model, memory_locations)


def enlarged(model: Model, memory_locations: int | None) -> Model:
    """Return the result of `resized`; `enlarged` is the former name of `resized`."""
    warnings.warn("enlarged is called resized.", DeprecationWarning, stacklevel=2)
    return resized(model, memory_locations)


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
    model = resized(model, memory_locations)
    return {v: evaluate(model, task.at(**{axis: v}), **evaluation) for v in values}


@torch.no_grad()
def costs(model: torch.nn.Module, batch: Batch) -> tuple[Tensor, Tensor]:
    """Return the cost in bits and the number of mistakes per sequence: (batch,) each, CPU."""
    there = batch.to(next(model.parameters()).device)
    logits, _ = model(there.inputs, lengths=there.lengths)
    logits = logits.cpu()
    return cost_in_bits(logits, batch), wrong_bits(logits, batch)


def _batches(task: Task, sequences: int, seed: int, batch_size: int) -> Iterator[Batch]:
    if task.problems is not None:
        for start in range(0, sequences, batch_size):
            yield task.take(range(start, min(start + batch_size, sequences)))
        return
    stream = Stream(task, seed, batch_size=_BLOCK, name="evaluation")
    for number, first in enumerate(range(0, sequences, _BLOCK)):
        block, left = stream.block(number), min(_BLOCK, sequences - first)
        for start in range(0, left, batch_size):
            yield block.narrow(start, min(start + batch_size, left))

"""Generalisation beyond the trained range: longer sequences, more repeats, more items."""

from collections.abc import Iterable
from typing import Any

from ntm.evaluation.costs import Evaluation, evaluate
from ntm.models.family import Model, family_of
from ntm.tasks import Task


def enlarged(model: Model, memory_locations: int | None) -> Model:
    """The network with more memory locations; None leaves it as it is."""
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

    memory_locations: enlarge an NTM's memory first. The other arguments are those of `evaluate`.
    """
    model = enlarged(model, memory_locations)
    return {v: evaluate(model, task.at(**{axis: v}), **evaluation) for v in values}

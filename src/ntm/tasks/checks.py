"""Checks of a batch against the rules of `Batch`, for authors of tasks and for training."""

import torch
from torch import Tensor

from ntm.tasks.base import Batch, Task


def check_batch(task: Task, batch: Batch) -> None:
    """Raise ValueError if a batch breaks a rule of `Batch`; the error names the rule.

    This function is for authors of new tasks and for tests; samplers do not call it.
    """
    _check_shapes(task, batch)
    time = len(batch.inputs)
    beyond = torch.arange(time).unsqueeze(1) >= batch.lengths
    promises = {
        "the longest sequence fills the time axis": int(batch.lengths.max()) == time,
        "inputs are zero beyond each length": not batch.inputs[beyond].any(),
        "no step beyond a length is scored": not batch.mask[beyond].any(),
        "mask is 0 or 1": _is_binary(batch.mask),
        "targets are 0 or 1": _is_binary(batch.targets),
        "targets are zero where not scored": not batch.targets[batch.mask == 0].any(),
        "every sequence has a scored step": bool(batch.mask.any(dim=0).all()),
        task.outputs.promise: task.outputs.kept(batch.targets, batch.mask),
    }
    for promise, kept in promises.items():
        if not kept:
            raise ValueError(f"A batch of {task.name} is invalid; it must be true that {promise}.")


def check_targets(task: Task, batch: Batch) -> None:
    """Raise ValueError if the cost is undefined for scored targets: not 0 or 1, or no symbol."""
    if not task.outputs.kept(batch.targets, batch.mask):
        raise ValueError(
            f"A batch of {task.name} is invalid; it must be true that {task.outputs.promise}."
        )
    if _is_binary(batch.targets):
        return
    scored = batch.targets[batch.mask > 0]
    others = scored[(scored != 0) & (scored != 1)]
    if len(others):
        raise ValueError(
            f"The targets of {task.name} must be 0 or 1 where they are scored; got "
            f"{others[0].item():g}. Give each output as bits: soft targets cannot be trained on."
        )


def _check_shapes(task: Task, batch: Batch) -> None:
    time, size = len(batch.inputs), batch.batch_size
    wanted = {
        "inputs": ((time, size, task.input_size), torch.float32),
        "targets": ((time, size, task.output_size), torch.float32),
        "mask": ((time, size), torch.float32),
        "lengths": ((size,), torch.int64),
    }
    for name, (shape, dtype) in wanted.items():
        tensor = getattr(batch, name)
        if tensor.shape != shape or tensor.dtype != dtype:
            raise ValueError(
                f"A batch of {task.name} has {name} of shape {tuple(tensor.shape)} and type "
                f"{tensor.dtype}; they must be {shape} and {dtype}."
            )


def _is_binary(tensor: Tensor) -> bool:
    # x * x = x only for 0 and 1; NaN and infinity give NaN. This is faster than two comparisons.
    return not (tensor.square() - tensor).any()

"""A trace as one JSON document, which the page, a shared file and a notebook draw.

    document = trace_document(trace)

    format          2
    title           heading of the trace
    task            the task's name, or null
    hint            what to look for, or null
    model           the kind of network, or null
    config          the network's sizes and choices, as in config.json, or null
    steps           T
    cost_bits       the cost of the outputs; null without targets
    wrong_bits      scored outputs on the wrong side of 1/2; null without targets
    answer_steps    the steps whose outputs are scored
    labels          {"inputs": [...], "outputs": [...]}, a name for every channel
    inputs          A (T, input_size)
    targets         A (T, output_size), or null
    outputs         A (T, output_size), probabilities
    optimal         A (T, output_size), the best possible predictions, or null
    shifts          the allowed shifts, in the order of every head's "shifts"
    memory          A (T, N, M) after each step; null if the memory was not recorded
    reads           A (T, M) for each read head
    heads           read heads, then write heads; none for a network without memory:
        kind, index     "read" or "write", and its number among its kind, from 0
        arrays          A (T, ...) for every name in `ntm.trace.HEAD_ARRAYS`; write heads also have
                        "erases" and "adds"

An array A is {"shape": [...], "data": base64 of little-endian float32}.
"""

import base64
import math
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike

from ntm.paper import experiment_of
from ntm.tasks import Batch, cost_in_bits, wrong_bits
from ntm.trace import HEAD_ARRAYS, Array, Trace

FORMAT = 2

Document = dict[str, Any]


def trace_document(trace: Trace) -> Document:
    """Return the document of a trace; of several sequences it shows the first."""
    title, many = str(trace.about.get("title") or "trace"), len(trace.lengths)
    one = trace.sequence(0)
    if not one.lengths.any():
        raise ValueError("The first sequence of this trace has no steps; there is nothing to show.")
    cost, wrong = answered(one)
    inputs, outputs = channel_names(one)
    task = _word(one.about.get("task"))
    return {
        "format": FORMAT,
        "title": title if many == 1 else f"{title}, sequence 1 of {many}",
        "task": task,
        "hint": (experiment_of(task).look_for or None) if task else None,
        "model": _word(one.about.get("model")),
        "config": one.about.get("config"),
        "steps": len(one.inputs),
        "labels": {"inputs": inputs, "outputs": outputs},
        "inputs": encoded(one.inputs[:, 0]),
        "outputs": encoded(one.probabilities[:, 0]),
        "targets": _optional(one.targets),
        "optimal": _optional(one.optimal),
        "answer_steps": [] if one.mask is None else np.flatnonzero(one.mask[:, 0]).tolist(),
        "cost_bits": cost,
        "wrong_bits": wrong,
        **_inside(one),
    }


def answered(trace: Trace) -> tuple[float | None, int | None]:
    """Return the cost in bits and the wrong bits of a sequence; None without targets.

    A cost that is not finite is also None, because JSON cannot express it.
    """
    if trace.targets is None or trace.mask is None:
        return None, None
    arrays = (trace.inputs, trace.targets, trace.mask, trace.lengths, trace.outputs)
    *batch, logits = (torch.from_numpy(np.ascontiguousarray(array)) for array in arrays)
    cost = float(cost_in_bits(logits, Batch(*batch)))
    return cost if math.isfinite(cost) else None, int(wrong_bits(logits, Batch(*batch)))


def channel_names(trace: Trace) -> tuple[list[str], list[str]]:
    """Return a name for every input and output channel: the trace's names, or numbers."""
    sizes = {"input": trace.inputs.shape[2], "output": trace.outputs.shape[2]}
    inputs, outputs = (_names(trace.about, kind, size) for kind, size in sizes.items())
    return inputs, outputs


def _names(about: Any, kind: str, size: int) -> list[str]:
    known = about.get(f"{kind}_channels")
    if isinstance(known, list | tuple) and len(known) == size:
        return [str(name) for name in known]
    return [f"{kind} {number}" for number in range(1, size + 1)]


def encoded(values: ArrayLike) -> dict[str, Any]:
    """Encode an array for the document."""
    array = np.ascontiguousarray(values, dtype="<f4")
    return {"shape": list(array.shape), "data": base64.b64encode(array.tobytes()).decode("ascii")}


def decoded(array: dict[str, Any]) -> np.ndarray[Any, np.dtype[np.float32]]:
    """Return the array that `encoded` was given, as float32."""
    values = np.frombuffer(base64.b64decode(array["data"]), dtype="<f4")
    return values.reshape(array["shape"])


def _word(fact: Any) -> str | None:
    return fact if isinstance(fact, str) else None


def _optional(array: Array | None) -> dict[str, Any] | None:
    return None if array is None else encoded(array[:, 0])


def _inside(trace: Trace) -> Document:
    reads, writes = trace.read_weightings.shape[2], trace.write_weightings.shape[2]
    return {
        "shifts": list(trace.shifts),
        "memory": _optional(trace.memory),
        "reads": [encoded(trace.reads[:, 0, head]) for head in range(reads)],
        "heads": [_head(trace, "read", head) for head in range(reads)]
        + [_head(trace, "write", head) for head in range(writes)],
    }


def _head(trace: Trace, kind: str, index: int) -> Document:
    arrays = {name: getattr(trace, f"{kind}_{name}") for name in HEAD_ARRAYS}
    if kind == "write":
        arrays |= {"erases": trace.erases, "adds": trace.adds}
    shown = {name: encoded(array[:, 0, index]) for name, array in arrays.items()}
    return {"kind": kind, "index": index, "arrays": shown}

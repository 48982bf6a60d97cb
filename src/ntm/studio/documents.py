"""A trace as one JSON document, from which the page, a shared file and a notebook draw it.

    document = trace_document(trace)

    format          3
    title           heading of the trace
    task            the task's name, or null
    hint            what to look for, or null
    model           the kind of network, or null
    config          the network's sizes and choices, as in config.json, or null
    steps           T, the number of steps
    cost_bits       the cost of the outputs; null without targets
    wrong_bits      wrong bits or symbols at the scored steps; null without targets
    kinds           {"inputs": ..., "outputs": ...}, each "bits" or "symbols"
    answer_steps    the steps whose outputs are scored
    labels          {"inputs": [...], "outputs": [...]}, a name for every channel
    inputs          A (T, input_size)
    targets         A (T, output_size), or null
    outputs         A (T, output_size), probabilities
    optimal         A (T, output_size), the best possible predictions, or null
    shifts          the allowed shifts, in the order of every head's "shifts"
    memory          A (T, N, M) after each step; null if the memory was not recorded
    arrays          description of the arrays below, as in `ntm.description`:
        name            key of the array, without the prefix "read_" or "write_"
        kind            "read" or "write" for an array of the heads, else null
        label, role     a name to show, and how the array is drawn
        axis            the name of one row, such as location
    lanes           A (T, ...) for every array with the role "lane" that belongs to no head
    heads           read heads, then write heads; none for a network without memory:
        kind, index     "read" or "write"; number among the heads of this kind, from 0
        arrays          A (T, ...) for every array whose kind is the kind of this head

An array A is {"shape": [...], "data": base64 of little-endian float32}.
"""

import base64
import math
from typing import Any, get_args

import numpy as np
import torch
from numpy.typing import ArrayLike

from ntm.description import HeadKind, TraceArray
from ntm.paper import experiment_of
from ntm.tasks import Batch, SymbolBatch, cost_in_bits, wrong_bits
from ntm.trace import Array, Trace

FORMAT = 3

Document = dict[str, Any]


def trace_document(trace: Trace) -> Document:
    """Return the document of a trace; if the trace has several sequences, of the first one."""
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
        "kinds": {"inputs": one.input_kind, "outputs": one.output_kind},
        **_inside(one),
    }


def answered(trace: Trace) -> tuple[float | None, int | None]:
    """Return a sequence's cost in bits and its number of wrong bits or symbols.

    Both are None without targets. A cost that is not finite is also None, because JSON has only
    finite numbers.
    """
    if trace.targets is None or trace.mask is None:
        return None, None
    arrays = (trace.inputs, trace.targets, trace.mask, trace.lengths, trace.outputs)
    *parts, logits = (torch.from_numpy(np.ascontiguousarray(array)) for array in arrays)
    batch = (SymbolBatch if trace.output_kind == "symbols" else Batch)(*parts)
    cost = float(cost_in_bits(logits, batch))
    return cost if math.isfinite(cost) else None, int(wrong_bits(logits, batch))


def channel_names(trace: Trace) -> tuple[list[str], list[str]]:
    """Return the names of the input and the output channels; without names, numbered ones."""
    sizes = {"input": trace.inputs.shape[2], "output": trace.outputs.shape[2]}
    inputs, outputs = (_names(trace.about, kind, size) for kind, size in sizes.items())
    return inputs, outputs


def _names(about: Any, kind: str, size: int) -> list[str]:
    known = about.get(f"{kind}_channels")
    if isinstance(known, list | tuple) and len(known) == size:
        return [str(name) for name in known]
    return [f"{kind} {number}" for number in range(1, size + 1)]


def encoded(values: ArrayLike) -> dict[str, Any]:
    """Return an array as the document contains it: shape, and base64 of the float32 values."""
    array = np.ascontiguousarray(values, dtype="<f4")
    return {"shape": list(array.shape), "data": base64.b64encode(array.tobytes()).decode("ascii")}


def decoded(array: dict[str, Any]) -> np.ndarray[Any, np.dtype[np.float32]]:
    """Return the float32 array from a result of `encoded`."""
    values = np.frombuffer(base64.b64decode(array["data"]), dtype="<f4")
    return values.reshape(array["shape"])


def _word(fact: Any) -> str | None:
    return fact if isinstance(fact, str) else None


def _optional(array: Array | None) -> dict[str, Any] | None:
    return None if array is None else encoded(array[:, 0])


def _inside(trace: Trace) -> Document:
    heads: list[tuple[HeadKind, int]] = [
        (kind, index)
        for kind in get_args(HeadKind)
        for index in range(trace.weightings(kind).shape[2])
    ]
    shown = [array for array in trace.described if array.head or array.role == "lane"]
    return {
        "shifts": list(trace.shifts),
        "memory": _optional(trace.memory),
        "arrays": [described(array) for array in shown],
        "lanes": {a.name: encoded(trace.arrays[a.name][:, 0]) for a in shown if not a.head},
        "heads": [_head(trace, kind, index) for kind, index in heads],
    }


def described(array: TraceArray) -> Document:
    """Return the description of an array for the document."""
    name = array.name.removeprefix(f"{array.head}_")
    facts = {"label": array.label, "role": array.role, "axis": array.axes[-1]}
    return {"name": name, "kind": array.head, **facts}


def _head(trace: Trace, kind: HeadKind, index: int) -> Document:
    shown = {
        described(array)["name"]: encoded(trace.arrays[array.name][:, 0, index])
        for array in trace.described
        if array.head == kind
    }
    return {"kind": kind, "index": index, "arrays": shown}

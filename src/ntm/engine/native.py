"""The C++ kernels: the choice of a build for this processor, and one function per kernel.

The kernels know nothing of PyTorch (csrc/contract.h is their contract). The functions here make
tensors contiguous. The binding checks the tensors against the contract (csrc/tensors.h).
`operators` and `direct` are the two callers.
"""

import functools
import importlib
import math
import os
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor

from ntm import torch_names
from ntm.config import CONTROLLER_GATES, SHARPENING_EPSILON, SIMILARITY_EPSILON, NTMConfig
from ntm.description import describe

NO_ONNX = "ONNX has no operator for its kernels"
_NONE = [None, None]  # the weightings of a call that does not request them
_LARGE = 1 << 15
"""Tensors with at least this many elements take their memory from the extension."""
PRECISIONS = {torch.float32: "float", torch.float64: "double"}


class Loaded(NamedTuple):
    """Result of loading the extension."""

    module: Any
    target: str | None
    """Instruction set in use; None without an extension."""
    reason: str
    """Reason for this instruction set, or for the missing extension."""


def _load() -> Loaded:
    """Import the extension built for the best instruction set that this processor runs."""
    if (lacking := torch_names.native_obstacle()) is not None:
        return Loaded(None, None, lacking)
    try:
        baseline = importlib.import_module("ntm.engine._native_baseline")
    except ImportError as error:
        return Loaded(None, None, _why_missing(error))
    supported = baseline.supported()
    asked = os.environ.get("NTM_INSTRUCTIONS")
    if asked is not None and asked not in supported:
        raise RuntimeError(
            f"NTM_INSTRUCTIONS must be one of {', '.join(supported)}, the instruction sets of this "
            f"processor; got {asked!r}."
        )
    target = asked or supported[0]
    reason = "NTM_INSTRUCTIONS asks for it" if asked else "the best that this processor runs"
    return Loaded(importlib.import_module(f"ntm.engine._native_{target}"), target, reason)


def build_summary() -> str:
    """Return the text of `_build.txt`: how the installation built the extension, or why not."""
    note = Path(__file__).with_name("_build.txt")
    return note.read_text().strip() if note.exists() else "the extension was never built"


def _why_missing(error: ImportError) -> str:
    return (
        f"{build_summary()} ({error}). Fix this problem, or install a C++ compiler if there is "
        f"none (GCC or Clang; on Debian: apt-get install g++), then install the package again."
    )


_loaded = _load()


def loaded() -> Loaded:
    """Return the extension, its instruction set, and the reason for it."""
    return _loaded


def obstacle(device: torch.device, dtype: torch.dtype) -> str | None:
    """Return the reason why the native engine cannot run on this device and dtype, or None."""
    if _loaded.module is None:
        return _loaded.reason
    if torch.compiler.is_compiling() and torch.onnx.is_in_onnx_export():
        return NO_ONNX
    if device.type != "cpu":
        return f"it runs on the CPU, and the tensors are on {device}"
    if dtype not in PRECISIONS:
        return f"it computes in float32 and float64, and the tensors are {dtype}"
    return None


@functools.lru_cache
def function(name: str, dtype: torch.dtype) -> Any:
    """Return a function or class of the extension for a dtype."""
    return getattr(_loaded.module, f"{name}_{PRECISIONS[dtype]}")


@functools.lru_cache(maxsize=256)
def sizes_of(config: NTMConfig, backward_clip: float | None) -> Any:
    """Return the sizes of a network as an object of the C++ extension."""
    return _loaded.module.Sizes(
        controller=list(CONTROLLER_GATES).index(config.controller),
        inputs=config.input_size,
        outputs=config.output_size,
        units=config.controller_size,
        layers=config.controller_layers,
        locations=config.memory_locations,
        width=config.memory_width,
        read_heads=config.read_heads,
        write_heads=config.write_heads,
        shifts=list(config.shifts),
        scalar_shift=config.shift_mode == "scalar",
        similarity_epsilon=SIMILARITY_EPSILON,
        sharpening_epsilon=SHARPENING_EPSILON,
        backward_clip=math.inf if backward_clip is None else backward_clip,
    )


def lstm_sizes_of(config: Any) -> Any:
    """Return the sizes of an LSTM baseline as an object of the C++ extension."""
    return _loaded.module.LSTMSizes(
        inputs=config.input_size,
        outputs=config.output_size,
        units=config.hidden_size,
        layers=config.layers,
    )


def forward(
    sizes: Any,
    x: Tensor,
    lengths: Tensor | None,
    weights: Sequence[Tensor],
    start: Sequence[Tensor],
    keep: bool,
    with_weightings: bool = False,
) -> tuple[Tensor, list[Tensor], list[Tensor], Tensor]:
    """Return logits, the parts of the final state, weightings, and the tape for `backward`.

    start: a state of every sequence, or one state for all sequences, without the batch axis.
    keep: whether to keep the tape, the intermediate values that `backward` and `record` need.
    with_weightings: whether to return the weightings of all steps, a list of two tensors
        (time, batch, heads, N), for the read heads and the write heads; otherwise an empty list.
    """
    steps, batch_size, _ = x.shape
    weights, start = _contiguous(weights), _contiguous(start)
    x = x if x.stride(2) == 1 else x.contiguous()
    make = empty if lengths is None else Tensor.new_zeros  # with lengths, some are not written
    logits = make(x, steps, batch_size, weights[-1].shape[0])
    shared = _is_shared(start)
    if batch_size == 1 and not shared:
        final = [*map(torch.empty_like, start)]  # takes half the time of new_empty
    else:
        new = x.new_empty if batch_size == 1 else functools.partial(empty, x)
        final = [new(batch_size, *part.shape[-2:]) for part in start]
    heads = [part.shape[-2:] for part in start[1:3]] if with_weightings else []
    weightings = [make(x, steps, batch_size, *shape) for shape in heads]
    tape = empty(x, _loaded.module.tape_size(steps, batch_size, keep, sizes))
    function("forward", x.dtype)(
        *(logits, final, weightings or _NONE, tape),
        *(x, lengths, start, shared, weights, keep, torch.get_num_threads(), sizes),
    )
    return logits, final, weightings, tape


def backward(
    sizes: Any,
    x: Tensor,
    lengths: Tensor | None,
    weights: Sequence[Tensor],
    tape: Tensor,
    dlogits: Tensor | None,
    dfinal: Sequence[Tensor | None],
    start: Sequence[Tensor],
    dweightings: Sequence[Tensor | None] = (),
    with_dx: bool = True,
) -> tuple[Tensor | None, list[Tensor], list[Tensor]]:
    """Return the gradients of x, the weights and the start.

    None in dlogits, dfinal or dweightings means zero. An empty dweightings means zero, too.
    """
    steps, batch_size = x.shape[:2]
    weights = _contiguous(weights)
    if dlogits is None:
        dlogits = x.new_zeros(steps, batch_size, weights[-1].shape[0])
    dfinal = [None if d is None else d.contiguous() for d in dfinal]
    dweightings = [None if d is None else d.contiguous() for d in dweightings]
    if tape.numel() != _loaded.module.tape_size(steps, batch_size, True, sizes):
        raise ValueError("tape must come from a forward with keep=True, and this one does not.")
    dx = torch.zeros_like(x, memory_format=torch.contiguous_format) if with_dx else None
    dweights = [*map(torch.empty_like, weights)]
    dstart = [empty(x, *part.shape) for part in start]
    function("backward", x.dtype)(
        *(dx, dweights, dstart, _is_shared(start)),
        *(dlogits.contiguous(), dfinal, dweightings or _NONE, tape, weights),
        *(steps, batch_size, lengths, torch.get_num_threads(), sizes),
    )
    return dx, dweights, dstart


def record(
    config: NTMConfig,
    sizes: Any,
    x: Tensor,
    lengths: Tensor | None,
    tape: Tensor,
    with_memory: bool,
) -> dict[str, Tensor]:
    """Return what the heads did at every step, copied from the tape, by the names of a `Trace`."""
    steps, batch_size = x.shape[:2]
    described = describe(config)
    arrays = [array for array in described.arrays if with_memory or array.role != "memory"]
    found = {a.name: x.new_zeros(steps, batch_size, *described.shape(a)) for a in arrays}
    ordered = [found.get(array.name) for array in described.arrays]
    function("record", x.dtype)(ordered, tape, steps, batch_size, lengths, sizes)
    return found


def release_memory() -> None:
    """Free the memory that is kept for later calls."""
    if _loaded.module is not None:
        _loaded.module.release_memory()


_users: "weakref.WeakSet[Any]" = weakref.WeakSet()


def release_with(net: Any) -> None:
    """When the network is deleted, release the memory that is kept for later calls."""
    if net not in _users:
        _users.add(net)
        weakref.finalize(net, release_memory).atexit = False


def unchanged(*facts: list[Any]) -> bool:
    """Return whether a tree of modules is unchanged; csrc/trees.h describes `facts`."""
    same: bool = _loaded.module.unchanged(*facts)
    return same


def may_take(tensor: Tensor) -> bool:
    """Return whether the kernels accept the tensor's dtype and device; faster than `obstacle`."""
    return _loaded.module is not None and tensor.dtype in PRECISIONS and tensor.is_cpu


def surely_finite(tensor: Tensor) -> bool:
    """Return whether a tensor surely has no NaN and no infinity; False if this is unknown.

    This is a single call; torch would need several operators.
    """
    if not may_take(tensor):
        return False
    if tensor.is_neg() or not tensor.is_contiguous():
        return False
    finite: bool = function("all_finite", tensor.dtype)(tensor)
    return finite


def empty_like(tensors: Sequence[Tensor]) -> list[Tensor]:
    """Return uninitialised, contiguous tensors with the dtypes and shapes of these tensors."""
    return list(map(torch.empty_like, _contiguous(tensors)))


def empty(like: Tensor, *shape: int) -> Tensor:
    """Return an uninitialised tensor of the dtype of `like`.

    Large tensors use memory that the extension keeps for the next call (csrc/blocks.h): new memory
    costs a page fault for each page.
    """
    if math.prod(shape) < _LARGE:
        return like.new_empty(shape)
    found: Tensor = function("empty", like.dtype)(list(shape))
    return found


def _is_shared(start: Sequence[Tensor]) -> bool:
    return start[0].dim() == 2


def _contiguous(tensors: Sequence[Tensor]) -> list[Tensor]:
    return [tensor.contiguous() for tensor in tensors]

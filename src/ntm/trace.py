"""A recording of one run: everything every head did at every step, as plain arrays.

Figures, the terminal, notebooks and the studio all draw from this value and from nothing else.
"""

import json
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.floating[Any]]

FORMAT = "ntm-trace-1"


@dataclass(frozen=True, eq=False)
class Trace:
    """What happened, time first: T steps, B sequences, R read and W write heads, S shifts, N x M.

    Steps beyond a sequence's length are zero. `memory` is None unless it was asked for.
    """

    shifts: tuple[int, ...]
    """The allowed shifts, in the order of the last axis of `read_shifts` and `write_shifts`."""
    lengths: NDArray[np.int64]  # (B,)
    inputs: Array  # (T, B, input_size)
    outputs: Array  # logits, (T, B, output_size)
    hidden: Array  # the controller's output, (T, B, controller_size)
    reads: Array  # (T, B, R, M)
    erases: Array  # (T, B, W, M)
    adds: Array  # (T, B, W, M)
    read_keys: Array  # (T, B, R, M)
    read_strengths: Array  # (T, B, R)
    read_gates: Array  # (T, B, R)
    read_shifts: Array  # (T, B, R, S)
    read_sharpness: Array  # (T, B, R)
    read_content: Array  # the weighting by content alone, (T, B, R, N)
    read_gated: Array  # after interpolation, (T, B, R, N)
    read_shifted: Array  # after rotation, (T, B, R, N)
    read_weightings: Array  # after sharpening: what the head used, (T, B, R, N)
    write_keys: Array  # (T, B, W, M)
    write_strengths: Array  # (T, B, W)
    write_gates: Array  # (T, B, W)
    write_shifts: Array  # (T, B, W, S)
    write_sharpness: Array  # (T, B, W)
    write_content: Array  # (T, B, W, N)
    write_gated: Array  # (T, B, W, N)
    write_shifted: Array  # (T, B, W, N)
    write_weightings: Array  # (T, B, W, N)
    memory: Array | None = None  # after each step's writes, (T, B, N, M)

    @property
    def probabilities(self) -> Array:
        """The outputs as probabilities, (T, B, output_size)."""
        # Two forms, one per sign, so that neither exponential overflows.
        small = np.exp(-np.abs(self.outputs))
        return np.where(self.outputs >= 0, 1 / (1 + small), small / (1 + small))

    def sequence(self, index: int) -> "Trace":
        """The trace of one sequence alone, its padding cut off; the batch axis stays, at size 1."""
        if not 0 <= index < len(self.lengths):
            raise ValueError(
                f"index must be from 0 to {len(self.lengths) - 1}, the sequences of this trace; "
                f"got {index}."
            )
        steps = int(self.lengths[index])
        cut = {n: a[:steps, index : index + 1] for n, a in self._arrays().items() if n != "lengths"}
        return Trace(self.shifts, self.lengths[index : index + 1], **cut)

    def save(self, path: str | Path) -> None:
        """Write the arrays to a safetensors file (no pickle, readable from any language)."""
        from safetensors.numpy import save_file

        arrays = {name: np.ascontiguousarray(a) for name, a in self._arrays().items()}
        save_file(arrays, path, metadata={"format": FORMAT, "shifts": json.dumps(self.shifts)})

    @classmethod
    def load(cls, path: str | Path) -> "Trace":
        """Read what `save` wrote; anything else is refused with the reason."""
        from safetensors import SafetensorError, safe_open

        try:
            with safe_open(path, framework="numpy") as file:
                metadata = file.metadata() or {}
                arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        except SafetensorError as error:
            raise ValueError(f"{path} is not a trace, or it is torn: {error}.") from error
        expected = {f.name for f in fields(cls)} - {"shifts", "memory"}
        whole = "shifts" in metadata and arrays.keys() - {"memory"} == expected
        if metadata.get("format") != FORMAT or not whole:
            raise ValueError(
                f"{path} is not a trace in the format {FORMAT!r} that Trace.save writes."
            )
        return cls(tuple(json.loads(metadata["shifts"])), **arrays)

    def __repr__(self) -> str:
        """The shapes from which all others follow; `help(Trace)` lists every array."""
        told = ("inputs", "outputs", "hidden", "reads", "read_weightings", "write_weightings")
        named = self._arrays()
        shapes = [f"{name}={named[name].shape}" for name in (*told, "memory") if name in named]
        return f"Trace(shifts={self.shifts}, {', '.join(shapes)}, {self.outputs.dtype})"

    def _repr_png_(self) -> bytes | None:
        """How a notebook shows a trace: its longest sequence. None where matplotlib is missing."""
        try:
            from ntm.figures import memory_use, png
        except ImportError:
            return None
        longest = self.sequence(int(self.lengths.argmax()))
        return png(memory_use(longest)) if longest.lengths.any() else None

    def _arrays(self) -> dict[str, Any]:
        named = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "shifts"}
        return {name: array for name, array in named.items() if array is not None}

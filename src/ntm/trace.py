"""Recording of one run: everything that every head did at every step, as plain arrays.

Figures, the terminal, notebooks and the studio draw only from a `Trace`.
"""

import io
import json
import math
import os
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from ntm.common.files import parse_json, require_short_header, write_atomically
from ntm.common.lazy import later

Array = NDArray[np.floating[Any]]

FORMAT = "ntm-trace-2"
_OLD_FORMAT = "ntm-trace-1"  # safetensors, without the problem; still read
# Limits in bytes. The facts of a trace fill about a page, and its file lists about thirty arrays.
_MOST_FACTS = 1_000_000
_LONGEST_LIST = 10_000


@dataclass(frozen=True, eq=False)
class Trace:
    """Recording of one run as arrays. The letters beside each array are its axes.

    T steps, B sequences, I inputs, O outputs, C controller units, R read and W write heads, S
    shifts, N locations of M values. Steps beyond a sequence's length are zero. `memory` is None
    unless it was requested. A network without memory has no heads and no locations. The fields
    after `memory` are for drawing the trace: `ntm.studio.traced` fills them in.
    """

    shifts: tuple[int, ...]
    """The allowed shifts, in the order of the last axis of `read_shifts` and `write_shifts`."""
    lengths: Annotated[NDArray[np.int64], "B"]
    inputs: Annotated[Array, "TBI"]
    outputs: Annotated[Array, "TBO"]  # logits
    hidden: Annotated[Array, "TBC"]  # the controller's output
    reads: Annotated[Array, "TBRM"]
    erases: Annotated[Array, "TBWM"]
    adds: Annotated[Array, "TBWM"]
    read_keys: Annotated[Array, "TBRM"]
    read_strengths: Annotated[Array, "TBR"]
    read_gates: Annotated[Array, "TBR"]
    read_shifts: Annotated[Array, "TBRS"]
    read_sharpness: Annotated[Array, "TBR"]
    read_content: Annotated[Array, "TBRN"]  # the weighting by content alone
    read_gated: Annotated[Array, "TBRN"]  # after interpolation
    read_shifted: Annotated[Array, "TBRN"]  # after rotation
    read_weightings: Annotated[Array, "TBRN"]  # after sharpening: the weighting that the head uses
    write_keys: Annotated[Array, "TBWM"]
    write_strengths: Annotated[Array, "TBW"]
    write_gates: Annotated[Array, "TBW"]
    write_shifts: Annotated[Array, "TBWS"]
    write_sharpness: Annotated[Array, "TBW"]
    write_content: Annotated[Array, "TBWN"]
    write_gated: Annotated[Array, "TBWN"]
    write_shifted: Annotated[Array, "TBWN"]
    write_weightings: Annotated[Array, "TBWN"]
    memory: Annotated[Array | None, "TBNM"] = None  # after each step's writes
    targets: Annotated[Array | None, "TBO"] = None  # the correct outputs, 0 or 1
    mask: Annotated[Array | None, "TB"] = None  # 1 where the outputs are scored
    optimal: Annotated[Array | None, "TBO"] = None  # the best possible probabilities, if known
    about: Mapping[str, Any] = field(default_factory=dict)
    """Facts as JSON values: title, task, model, config, input_channels, output_channels."""

    @classmethod
    def without_memory(cls, inputs: Array, outputs: Array) -> "Trace":
        """Return the trace of a network without memory: its inputs and its logits."""
        steps, batch = inputs.shape[:2]
        arrays: dict[str, Any] = {
            name: np.zeros((steps, batch) + (0,) * (len(axes) - 2), outputs.dtype)
            for name, axes in AXES.items()
            if name not in _OPTIONAL
        }
        arrays |= {"lengths": np.full(batch, steps), "inputs": inputs, "outputs": outputs}
        return cls((), **arrays)

    @property
    def probabilities(self) -> Array:
        """Outputs as probabilities, (T, B, output_size)."""
        # Two forms, one per sign, so that neither exponential overflows.
        small = np.exp(-np.abs(self.outputs))
        return np.where(self.outputs >= 0, 1 / (1 + small), small / (1 + small))

    def sequence(self, index: int) -> "Trace":
        """Return the trace of one sequence without its padding; the batch axis has size 1."""
        if not 0 <= index < len(self.lengths):
            raise ValueError(
                f"index must be from 0 to {len(self.lengths) - 1}, the sequences of this trace; "
                f"got {index}."
            )
        return self.narrow(index, index + 1)

    def narrow(self, start: int, stop: int) -> "Trace":
        """Return sequences start to stop - 1, with the time cut to the longest of them."""
        lengths = self.lengths[start:stop]
        steps = int(lengths.max())
        arrays = {n: a[:steps, start:stop] for n, a in self._arrays().items() if n != "lengths"}
        return Trace(self.shifts, lengths, **arrays, about=self.about)

    def save(self, path: str | Path) -> None:
        """Write everything to an .npz file, which numpy reads without pickle."""
        about = json.dumps({**self.about, "format": FORMAT})
        shifts, content = np.array(self.shifts, dtype=np.int64), io.BytesIO()
        np.savez_compressed(content, about=np.array(about), shifts=shifts, **self._arrays())
        write_atomically(Path(path), content.getvalue())

    @classmethod
    def load(cls, path: str | Path, *, at_most: int = 2**30) -> "Trace":
        """Read a file that `save` wrote, in this or an earlier version; refuse all other files.

        at_most: maximum size of the arrays in bytes (1 GiB). A file may unpack to a thousand times
            its size.
        """
        Path(path).open("rb").close()  # an unreadable file raises OSError, not ValueError
        try:
            _require_size(Path(path).stat().st_size, at_most)
            packed = zipfile.is_zipfile(path)
            arrays, about = _read_npz(path, at_most) if packed else _read_safetensors(path)
        except Exception as error:  # a foreign file may raise anything
            reason = str(error).rstrip(".")
            raise ValueError(f"{path} is not a trace, or it is torn: {reason}.") from error
        if about.pop("format", None) not in {FORMAT, _OLD_FORMAT} or not _fit_together(arrays):
            raise ValueError(f"{path} is not a trace in the format {FORMAT!r} of Trace.save.")
        return cls(tuple(arrays.pop("shifts").tolist()), **arrays, about=about)

    def __repr__(self) -> str:
        """Return the shapes from which all others follow; `help(Trace)` lists every array."""
        told = ("inputs", "outputs", "hidden", "reads", "read_weightings", "write_weightings")
        named = self._arrays()
        shapes = [f"{name}={named[name].shape}" for name in (*told, "memory") if name in named]
        return f"Trace(shifts={self.shifts}, {', '.join(shapes)}, {self.outputs.dtype})"

    def _repr_png_(self) -> bytes | None:
        """Return a picture of the longest sequence for notebooks; None without matplotlib."""
        longest = self.sequence(int(self.lengths.argmax()))
        try:
            return later("ntm.figures:trace_as_png")(longest) if longest.lengths.any() else None
        except ImportError:
            return None

    def _arrays(self) -> dict[str, Any]:
        named = {name: getattr(self, name) for name in AXES}
        return {name: array for name, array in named.items() if array is not None}


_HINTS = get_type_hints(Trace, include_extras=True)
AXES = {name: get_args(kind)[1] for name, kind in _HINTS.items() if get_origin(kind) is Annotated}
"""Axes of every array, one letter each."""
_OPTIONAL = {f.name for f in fields(Trace) if f.default is None}
HEAD_ARRAYS = {n.removeprefix("read_"): a[3:] for n, a in AXES.items() if n.startswith("read_")}
"""Arrays of every head, without the prefix `read_` or `write_`, and their axes for one head."""


def _read_npz(path: str | Path, at_most: int) -> tuple[dict[str, Any], dict[str, Any]]:
    _require_short_list(path)
    with zipfile.ZipFile(path) as archive:
        sizes = [(member.filename, _size(archive, member)) for member in archive.infolist()]
    _require_size(sum(size for _, size in sizes), at_most)
    _require_size(sum(size for name, size in sizes if name == "about.npy"), _MOST_FACTS)
    with np.load(path, allow_pickle=False) as file:
        arrays = dict(file)
    about = parse_json(str(arrays.pop("about", "{}")), strict=True)
    return arrays, dict(about)


def _require_size(size: int, at_most: int) -> None:
    if size > at_most:
        raise ValueError(f"it unpacks to {size:,} bytes, more than at_most={at_most:,}")


def _require_short_list(path: str | Path) -> None:
    """Refuse an archive with a long list of members, because zipfile reads the whole list.

    The last 22 bytes of a file tell the length of the list; numpy writes no comment after them. An
    archive of gigabytes has 20 more bytes before them, which lead to a second length.
    """
    with Path(path).open("rb") as file:
        file.seek(-42, os.SEEK_END)
        end = file.read()
    length = int.from_bytes(end[32:36], "little")
    if end[20:24] != b"PK\5\6" or end[:4] == b"PK\6\7" or length > _LONGEST_LIST:
        raise ValueError("it lists other things than the arrays of a trace")


def _size(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> int:
    """Return the size of an array in bytes; refuse a header that gives another size.

    numpy allocates the size in the header.
    """
    with archive.open(member) as file:
        if np.lib.format.read_magic(file) != (1, 0):
            raise ValueError(f"{member.filename} is not an array as numpy saves them")
        shape, _, dtype = np.lib.format.read_array_header_1_0(file)
        if file.tell() + dtype.itemsize * math.prod(shape) != member.file_size:
            raise ValueError(f"{member.filename} has a size that does not match its shape")
    return member.file_size


def _read_safetensors(path: str | Path) -> tuple[dict[str, Any], dict[str, Any]]:
    from safetensors import safe_open

    require_short_header(path)
    with safe_open(path, framework="numpy") as file:
        about = file.metadata() or {}
        arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    arrays["shifts"] = np.array(json.loads(about.pop("shifts", "[]")))
    return arrays, about


def _fit_together(arrays: dict[str, Any]) -> bool:
    """Whether all arrays exist, have the right kind, and agree on the length of every axis."""
    if arrays.keys() - _OPTIONAL != (AXES.keys() | {"shifts"}) - _OPTIONAL:
        return False
    sizes: dict[str, int] = {}
    for name, array in arrays.items():
        axes = "S" if name == "shifts" else AXES[name]
        kind = np.integer if name in {"lengths", "shifts"} else np.floating
        if not isinstance(array, np.ndarray) or array.ndim != len(axes):
            return False
        agree = [sizes.setdefault(*pair) == pair[1] for pair in zip(axes, array.shape, strict=True)]
        if not (all(agree) and np.issubdtype(array.dtype, kind)):
            return False
    lengths = arrays["lengths"]
    return bool((lengths >= 0).all() and (lengths <= sizes["T"]).all())

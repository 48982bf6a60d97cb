"""Recording of one call of a network: what every head did at every step, as plain arrays.

Figures, the terminal, notebooks and the studio draw only from a `Trace`.
"""

import io
import json
import math
import os
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ntm.common.channels import ChannelKind
from ntm.common.files import parse_json, require_short_header, write_atomically
from ntm.common.lazy import later
from ntm.description import NTM_ARRAYS, HeadKind, TraceArray

Array = NDArray[np.floating[Any]]

FORMAT = "ntm-trace-2"
_OLD_FORMAT = "ntm-trace-1"  # safetensors, without the problem; still read
# Limits in bytes. The facts of a trace fill about a page, and its file lists about thirty arrays.
_MOST_FACTS = 1_000_000
_LONGEST_LIST = 10_000
_PROBLEM = {
    "lengths": ("batch",),
    "inputs": ("time", "batch", "input"),
    "outputs": ("time", "batch", "output"),
    "targets": ("time", "batch", "output"),
    "mask": ("time", "batch"),
    "optimal": ("time", "batch", "output"),
    "shifts": ("shift",),
}
_OPTIONAL = {"targets", "mask", "optimal"}


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Trace:
    """Recording of a network at work. Each array is an attribute, such as `read_weightings`.

    The first two axes of every array are time and batch. Steps beyond a sequence's length are zero.
    `described` names the arrays and their other axes. An NTM with R read heads, W write heads and
    N locations of M values records these arrays (`ntm.description.NTM_ARRAYS`):

        hidden                                      the controller's output
        reads, erases, adds                         (R or W, M)
        memory                                      (N, M) after each step's writes
        read_keys, write_keys                       (R or W, M)
        read_strengths, read_gates, read_sharpness  (R), and the same for write
        read_shifts                                 (R, shifts), and the same for write
        read_content, read_gated, read_shifted      (R, N), and the same for write
        read_weightings, write_weightings           (R or W, N): the locations that a head uses

    lengths: steps of each sequence, (B) integers.
    inputs, outputs: (T, B, channels); the outputs are logits.
    targets, mask, optimal: correct outputs, scored steps (T, B) and best possible probabilities
        (None: unknown). `ntm.studio.traced` fills them in.
    about: facts as JSON values: title, task, model, config, input_channels, output_channels; for
        symbols, also input_kind and output_kind.
    shifts: allowed shifts, in the order of the axis "shift".
    """

    shifts: tuple[int, ...]
    lengths: NDArray[np.int64]
    inputs: Array
    outputs: Array
    targets: Array | None
    mask: Array | None
    optimal: Array | None
    about: Mapping[str, Any]
    described: tuple[TraceArray, ...]
    arrays: Mapping[str, Array]
    """Recorded arrays by name."""

    def __init__(
        self,
        shifts: Iterable[int] = (),
        *,
        lengths: NDArray[np.int64],
        inputs: Array,
        outputs: Array,
        targets: Array | None = None,
        mask: Array | None = None,
        optimal: Array | None = None,
        about: Mapping[str, Any] | None = None,
        described: tuple[TraceArray, ...] = NTM_ARRAYS,
        arrays: Mapping[str, Array] | None = None,
        **recorded: Array | None,
    ) -> None:
        named = {**(arrays or {}), **recorded}
        found = {name: array for name, array in named.items() if array is not None}
        _require_described(found, described)
        vars(self).update(
            shifts=tuple(shifts),
            lengths=lengths,
            inputs=inputs,
            outputs=outputs,
            targets=targets,
            mask=mask,
            optimal=optimal,
            about=about or {},
            described=described,
            arrays=found,
        )

    def __getattr__(self, name: str) -> Array:
        """Return the recorded array with this name; raise AttributeError if there is none."""
        arrays = vars(self).get("arrays", {})
        if name not in arrays:
            raise AttributeError(f"This trace has no {name}. It has {', '.join(arrays)}.")
        array: Array = arrays[name]
        return array

    def __dir__(self) -> Iterable[str]:
        return [*super().__dir__(), *self.arrays]

    @property
    def memory(self) -> Array | None:
        """Contents of the memory after each step, (T, B, N, M); None if they were not recorded."""
        name = next((array.name for array in self.described if array.role == "memory"), "")
        return self.arrays.get(name)

    def weightings(self, kind: HeadKind) -> Array:
        """Return the weightings of the heads of one kind, (T, B, heads, N); heads may be 0."""
        return self._of_heads(kind, "weighting", heads=0)

    def vectors(self, kind: HeadKind) -> Array:
        """Return the vectors that the heads of one kind read or write, (T, B, heads, M)."""
        return self._of_heads(kind, "vector", heads=self.weightings(kind).shape[2])

    def _of_heads(self, kind: HeadKind, role: str, heads: int) -> Array:
        fitting = [a.name for a in self.described if (a.head, a.role) == (kind, role)]
        none = np.zeros((*self.outputs.shape[:2], heads, 0), self.outputs.dtype)
        return self.arrays[fitting[-1]] if fitting else none

    @property
    def input_kind(self) -> ChannelKind:
        """Kind of the inputs: bits or symbols."""
        return _kind(self.about.get("input_kind"))

    @property
    def output_kind(self) -> ChannelKind:
        """Kind of the outputs: bits or symbols."""
        return _kind(self.about.get("output_kind"))

    @property
    def probabilities(self) -> Array:
        """Outputs as probabilities, (T, B, output_size)."""
        if self.output_kind == "symbols":
            shifted = np.exp(self.outputs - self.outputs.max(axis=2, keepdims=True))
            softmax: Array = shifted / shifted.sum(axis=2, keepdims=True)
            return softmax
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
        """Return the sequences from `start` to `stop - 1`; time ends with the longest of them."""
        lengths = self.lengths[start:stop]
        steps = int(lengths.max())
        arrays = {n: a[:steps, start:stop] for n, a in self.named().items() if n != "lengths"}
        arrays |= {"about": self.about, "described": self.described}
        return Trace(self.shifts, lengths=lengths, **arrays)

    def named(self) -> dict[str, Any]:
        """Return all arrays by name, including the arrays of the problem."""
        problem = {name: getattr(self, name) for name in _PROBLEM if name != "shifts"}
        return {n: a for n, a in {**problem, **self.arrays}.items() if a is not None}

    def save(self, path: str | Path) -> None:
        """Write everything to an .npz file, which numpy reads without pickle."""
        facts = {**self.about, "format": FORMAT}
        if self.described != NTM_ARRAYS:
            facts["described"] = [asdict(array) for array in self.described]
        shifts, content = np.array(self.shifts, dtype=np.int64), io.BytesIO()
        about = np.array(json.dumps(facts))
        np.savez_compressed(content, about=about, shifts=shifts, **self.named())
        write_atomically(Path(path), content.getvalue())

    @classmethod
    def load(cls, path: str | Path, *, at_most: int = 2**30) -> "Trace":
        """Return a trace from a file of `save`, also of earlier versions; otherwise ValueError.

        at_most: maximum size of the arrays in bytes (1 GiB). A file may unpack to a thousand times
            its size.
        """
        Path(path).open("rb").close()  # an unreadable file raises OSError, not ValueError
        try:
            _require_size(Path(path).stat().st_size, at_most)
            packed = zipfile.is_zipfile(path)
            arrays, about = _read_npz(path, at_most) if packed else _read_safetensors(path)
            described = _read_description(about)
        except Exception as error:  # a foreign file may raise anything
            reason = str(error).rstrip(".")
            raise ValueError(f"{path} is not a trace, or it is damaged: {reason}.") from error
        known = about.pop("format", None) in {FORMAT, _OLD_FORMAT}
        if not known or not _fit_together(arrays, described):
            raise ValueError(f"{path} is not a trace in the format {FORMAT!r} of Trace.save.")
        shifts = tuple(arrays.pop("shifts").tolist())
        return cls(shifts, **arrays, about=about, described=described)

    def __repr__(self) -> str:
        """Return the shapes in one line, without the arrays whose role is "detail"."""
        details = {array.name for array in self.described if array.role == "detail"}
        named = {name: a for name, a in self.named().items() if name not in details}
        shapes = [f"{name}={array.shape}" for name, array in named.items()]
        return f"Trace(shifts={self.shifts}, {', '.join(shapes)}, {self.outputs.dtype})"

    def _repr_png_(self) -> bytes | None:
        """Return a picture of the longest sequence for notebooks; None without matplotlib."""
        longest = self.sequence(int(self.lengths.argmax()))
        try:
            return later("ntm.figures:trace_as_png")(longest) if longest.lengths.any() else None
        except ImportError:
            return None


_RESERVED = ({*vars(Trace), *_PROBLEM} | Trace.__annotations__.keys()) - {"memory"}


def _kind(fact: Any) -> ChannelKind:
    return "symbols" if fact == "symbols" else "bits"


def _require_described(arrays: Mapping[str, Array], described: tuple[TraceArray, ...]) -> None:
    axes = {array.name: len(array.axes) + 2 for array in described}
    if taken := (_RESERVED & axes.keys()):
        raise ValueError(f"An array of a trace needs another name than {', '.join(taken)}.")
    for name, array in arrays.items():
        if name not in axes:
            raise ValueError(f"{name} is not an array of this trace; describe it as a TraceArray.")
        if array.ndim != axes[name]:
            raise ValueError(f"{name} must have {axes[name]} axes, got the shape {array.shape}.")


def _read_description(about: dict[str, Any]) -> tuple[TraceArray, ...]:
    """Return the descriptions of the arrays; the file of an NTM's trace contains none."""
    if "described" not in about:
        return NTM_ARRAYS
    listed = [{**array, "axes": tuple(array["axes"])} for array in about.pop("described")]
    return tuple(TraceArray(**array) for array in listed)


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
    """Raise ValueError if an archive has a long list of members: zipfile reads the whole list.

    The last 22 bytes of a ZIP file contain the length of the list, if no ZIP comment follows; numpy
    writes none. In an archive of gigabytes, the 20 bytes before them point to a second list; this
    raises ValueError, too.
    """
    with Path(path).open("rb") as file:
        file.seek(-42, os.SEEK_END)
        end = file.read()
    length = int.from_bytes(end[32:36], "little")
    if end[20:24] != b"PK\5\6" or end[:4] == b"PK\6\7" or length > _LONGEST_LIST:
        raise ValueError("it lists other things than the arrays of a trace")


def _size(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> int:
    """Return the size of an array in bytes; raise ValueError if its header gives another size.

    The header decides how much memory numpy allocates.
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


def _fit_together(arrays: dict[str, Any], described: tuple[TraceArray, ...]) -> bool:
    """Return whether all arrays exist, have the right kind and agree on every axis length."""
    known = _PROBLEM | {array.name: ("time", "batch", *array.axes) for array in described}
    optional = _OPTIONAL | {array.name for array in described if array.role == "memory"}
    if not known.keys() - optional <= arrays.keys() <= known.keys():
        return False
    sizes: dict[str, int] = {}
    for name, array in arrays.items():
        kind = np.integer if name in {"lengths", "shifts"} else np.floating
        if not isinstance(array, np.ndarray) or array.ndim != len(known[name]):
            return False
        # A machine without shifts may use the word for another axis.
        pairs = zip(known[name], array.shape, strict=True) if name != "shifts" or len(array) else ()
        agree = [sizes.setdefault(axis, size) == size for axis, size in pairs]
        if not (all(agree) and np.issubdtype(array.dtype, kind)):
            return False
    lengths = arrays["lengths"]
    return bool((lengths >= 0).all() and (lengths <= sizes["time"]).all())

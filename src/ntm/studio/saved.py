"""Saved traces in the folder of runs."""

from typing import get_args

from ntm.description import HeadKind
from ntm.studio.documents import Document, trace_document
from ntm.studio.errors import RefusedError, require_few
from ntm.studio.folder import RunsFolder
from ntm.studio.networks import MAX_HEADS
from ntm.studio.problems import MAX_CELLS
from ntm.trace import Trace

# Limit for the unpacked arrays of one file.
_MAX_BYTES = 64_000_000


class SavedTraces:
    """The .npz files directly in a folder of runs."""

    def __init__(self, folder: RunsFolder) -> None:
        self._folder = folder

    def names(self) -> list[str]:
        """Return the names of all .npz files; a file need not contain a trace."""
        return self._folder.files(".npz")[0]

    def state(self) -> dict[str, bool]:
        """Return whether all runs and traces are listed, and whether all runs were read."""
        self._folder.names()
        whole = self._folder.is_whole and self._folder.files(".npz")[1]
        return {"whole": whole, "read": self._folder.is_read}

    def document(self, name: str) -> Document:
        """Return the document of a saved trace; raise RefusedError if it cannot be shown."""
        is_there = name.endswith(".npz") and self._folder.has_file(name)
        file = self._folder.file(".", name) if is_there else None
        if file is None:
            raise RefusedError(404, "There is no saved trace of that name in the folder.")
        try:
            trace = Trace.load(file, at_most=_MAX_BYTES)
            require_few(trace.inputs.shape[2] + trace.outputs.shape[2], MAX_CELLS, "channels")
            heads = sum(trace.weightings(kind).shape[2] for kind in get_args(HeadKind))
            require_few(heads, MAX_HEADS, "heads")
            return trace_document(trace)
        except ValueError as error:
            raise RefusedError(422, f"{name} cannot be shown: {error}") from error

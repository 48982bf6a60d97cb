"""Traces that somebody saved in the folder, to be looked at again."""

import zipfile

from ntm.studio.documents import Document, trace_document
from ntm.studio.errors import RefusedError
from ntm.studio.folder import RunsFolder
from ntm.trace import Trace

# What the arrays of a file may take when they are unpacked.
_MAX_BYTES = 64_000_000


class SavedTraces:
    """The .npz files directly in a folder of runs."""

    def __init__(self, folder: RunsFolder) -> None:
        self._folder = folder

    def names(self) -> list[str]:
        """The files there are, whether they hold a trace or not."""
        return self._folder.files(".npz")

    def document(self, name: str) -> Document:
        """What one of them shows."""
        file = self._folder.file(".", name) if name in self.names() else None
        if file is None:
            raise RefusedError(404, "There is no saved trace of that name in the folder.")
        try:
            with zipfile.ZipFile(file) as archive:
                unpacked = sum(member.file_size for member in archive.infolist())
            if unpacked > _MAX_BYTES:
                raise RefusedError(
                    422, f"{name} holds {unpacked:,} bytes; the studio shows up to {_MAX_BYTES:,}."
                )
            return trace_document(Trace.load(file))
        except (ValueError, zipfile.BadZipFile) as error:
            raise RefusedError(422, f"{name} cannot be shown: {error}") from error

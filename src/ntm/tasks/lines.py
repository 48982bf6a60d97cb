"""Files of examples: one example per line, read by offset, so that a file may exceed the memory.

    .jsonl       {"input": ..., "target": ...} on every line
    .csv, .tsv   two columns; a first line "input,target" is a heading

Blank lines are skipped. A damaged line is an error that names the file and the line.
"""

import csv
import hashlib
import json
import zlib
from array import array
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

FORMATS = (".jsonl", ".csv", ".tsv")
_HASHES = 2**32
_DELIMITERS = {".csv": ",", ".tsv": "\t"}
_HEADING = ["input", "target"]
_DIGEST_BYTES = 16
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"  # some programs put it before the first line

_KEPT_OPEN = 8  # files whose offsets stay in memory

Pair = tuple[Any, Any]
"""Input and target of an example, as the file has them."""


_opened: "dict[tuple[Path, float, int, int], Lines]" = {}


class DataError(ValueError):
    """Error for a file of examples that cannot be used; the message names file and line."""


class Lines:
    """Offsets of the examples of a file, in two parts: for training, and held out.

    The part of a line depends only on its content, so equal lines are in the same part.

    held_out: share of the lines that is held out, from 0 to 1. If it is above 0, at least one line
        is held out.
    visit: called with the number and the content of every line, in order (None: not called).
    """

    def __init__(
        self,
        path: Path,
        held_out: float = 0.0,
        visit: Callable[[int, bytes], None] | None = None,
    ) -> None:
        self.path = path
        self.kept, self.held_out = array("Q"), array("Q")
        digest, limit = hashlib.blake2b(digest_size=_DIGEST_BYTES), int(held_out * _HASHES)
        lowest = (_HASHES, -1)  # hash and position of the line that is held out if no other is
        with path.open("rb") as file:
            for number, offset, line in example_lines(file, path.suffix):
                digest.update(line)
                if visit is not None:
                    visit(number, line)
                chance = zlib.crc32(line.strip())
                if chance < limit:
                    self.held_out.append(offset)
                    continue
                if chance < lowest[0]:
                    lowest = (chance, len(self.kept))
                self.kept.append(offset)
        self.digest = digest.hexdigest()
        if limit and not self.held_out and len(self.kept) > 1:
            self.held_out.append(self.kept.pop(lowest[1]))
        if not self.kept and len(self.held_out) == 1:  # a file with one line holds out none
            self.kept, self.held_out = self.held_out, self.kept
        if not self.kept:
            raise DataError(f"{path} has no examples{' to train on' if self.held_out else ''}.")

    def read(self, offsets: list[int]) -> list[bytes]:
        """Return the lines at these offsets."""
        with self.path.open("rb") as file:
            return [_line_at(file, offset) for offset in offsets]

    def number_at(self, offset: int) -> int:
        """Return the number of the line at an offset, counted from 1, for a message."""
        with self.path.open("rb") as file:
            pieces = iter(lambda: file.read(min(2**20, offset - file.tell())), b"")
            return 1 + sum(piece.count(b"\n") for piece in pieces)


def opened(
    file: str | Path, held_out: float = 0.0, visit: Callable[[int, bytes], None] | None = None
) -> Lines:
    """Return the lines of a file. An unchanged file is read again only if `visit` is given."""
    path = Path(file)
    facts = path.stat()
    key = (path, held_out, facts.st_mtime_ns, facts.st_size)
    if visit is not None or key not in _opened:
        _opened[key] = Lines(path, held_out, visit)
        while len(_opened) > _KEPT_OPEN:
            _opened.pop(next(iter(_opened)), None)
    return _opened[key]


def pair_in(line: bytes, suffix: str) -> Pair:
    """Return the input and the target of a line; raise ValueError if the line has none."""
    text = _text(line)
    return _row(text, suffix) if suffix in _DELIMITERS else _object(text)


def input_in(line: bytes, suffix: str, typed: Callable[[str], Any]) -> Any:
    """Return the input of a line; the line needs no target.

    typed: function that reads a line of plain text, for files without a format in `FORMATS`.
    """
    text = _text(line)
    if suffix in _DELIMITERS:
        return next(csv.reader([text], delimiter=_DELIMITERS[suffix], strict=True))[0]
    if suffix != ".jsonl":
        return typed(text)
    found = json.loads(text)
    return found.get("input") if isinstance(found, dict) else found


def _text(line: bytes) -> str:
    try:
        return line.decode().rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise ValueError(f"this is not utf-8 text (byte {error.start + 1} of the line)") from error


def _object(text: str) -> Pair:
    try:
        found = json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"this is not JSON ({error.msg}, column {error.colno})") from error
    except RecursionError as error:
        raise ValueError("its lists are nested too deeply") from error
    if not isinstance(found, dict):
        raise ValueError('a line must be an object {"input": ..., "target": ...}')
    try:
        return found["input"], found["target"]
    except KeyError as error:
        raise ValueError(f'"{error.args[0]}" is missing') from error


def _row(text: str, suffix: str) -> Pair:
    try:
        cells = next(csv.reader([text], delimiter=_DELIMITERS[suffix], strict=True))
    except csv.Error as error:
        raise ValueError(
            f"the columns cannot be read ({error}); an example is one line, and a quote inside a "
            f"quoted column is doubled"
        ) from error
    if len(cells) != 2:
        raise ValueError(f"a line must have two columns, not {len(cells)}")
    return cells[0], cells[1]


def example_lines(file: Iterable[bytes], suffix: str) -> Iterator[tuple[int, int, bytes]]:
    """Yield the number, the offset and the content of every line that contains an example."""
    offset = 0
    for number, whole in enumerate(file, start=1):
        line = whole.removeprefix(_BYTE_ORDER_MARK) if number == 1 else whole
        offset += len(whole) - len(line)
        if line.strip() and not (number == 1 and _is_heading(line, suffix)):
            yield number, offset, line
        offset += len(line)


def _is_heading(line: bytes, suffix: str) -> bool:
    if suffix not in _DELIMITERS:
        return False
    cells = line.decode(errors="replace").strip().lower().split(_DELIMITERS[suffix])
    return cells in (_HEADING, _HEADING[:1])


def _line_at(file: BinaryIO, offset: int) -> bytes:
    file.seek(offset)
    return file.readline()

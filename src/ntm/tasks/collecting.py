"""Collect the symbols and the sizes of a file of examples, and check every line."""

from pathlib import Path
from typing import Any

from ntm.tasks.alphabets import Alphabet, Collector, units_of
from ntm.tasks.examples import HELD_OUT, Examples, Layout, damaged, readable, require_fitting
from ntm.tasks.lines import DataError, opened, pair_in


class _Collecting:
    """Alphabets and sizes of the examples of some files."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.inputs, self.targets = Collector(), Collector()
        self.examples = self.scored = self.longest = 0

    def read(self, path: Path, held_out: float) -> str:
        """Visit every line of a file; return the digest of the file."""
        suffix = path.suffix

        def visit(number: int, line: bytes) -> None:
            try:
                self._add(*pair_in(line, suffix))
            except ValueError as error:
                raise damaged(path, number, error) from error

        return opened(path, held_out, visit).digest

    def _add(self, asked: Any, answer: Any) -> None:
        inputs = units_of(asked)
        targets = units_of(answer, whole=self.layout == "classification")
        require_fitting(self.layout, inputs, targets)
        self.inputs.add(inputs)
        self.targets.add(targets)
        self.examples += 1
        self.scored += len(targets) + (self.layout == "transduction")
        self.longest = max(self.longest, len(targets))


def examples_from(
    file: str | Path, layout: Layout = "transduction", valid: str | Path = ""
) -> Examples:
    """Return the task of a file of examples; see `ntm.tasks.lines` for the formats.

    valid: file for validation; its symbols are added (empty: validate on a tenth of the lines).
    """
    path, collecting = readable(file), _Collecting(layout)
    held_out = 0.0 if valid else HELD_OUT
    digest = collecting.read(path, held_out)
    if collecting.examples < 2 and not valid:
        raise DataError(f"{path} has one example; add others, or name a file with --valid.")
    other = str(readable(valid)) if valid else ""
    if other:
        collecting.read(Path(other), held_out)
    inputs, targets = (
        _alphabet(path, column, collector)
        for column, collector in (("input", collecting.inputs), ("target", collecting.targets))
    )
    return Examples(
        file=str(path),
        valid=other,
        held_out=held_out,
        layout=layout,
        input_symbols=inputs.symbols,
        input_bits=inputs.bits,
        target_symbols=targets.symbols,
        target_bits=targets.bits,
        scored_steps=collecting.scored / collecting.examples,
        longest_answer=collecting.longest,
        digest=digest,
    )


def _alphabet(path: Path, column: str, collector: Collector) -> Alphabet:
    try:
        alphabet = collector.alphabet()
    except ValueError as error:
        raise DataError(f"{path}: {error} as {column}.") from error
    if not alphabet.channels:
        raise DataError(f"{path}: every {column} is empty.")
    return alphabet

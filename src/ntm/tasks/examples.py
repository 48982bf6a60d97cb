"""Examples from a file, as a task: `ntm train examples.jsonl`.

transduction     input, a step with a flag, then the answer and an end symbol
tagging          one target at every step of the input
classification   input, then a step with a flag; only this step has a target
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Literal

import torch
from torch import Tensor

from ntm.common.channels import ChannelKind
from ntm.common.fields import setting
from ntm.tasks.alphabets import Alphabet, Unit, units_of
from ntm.tasks.base import Batch, Task
from ntm.tasks.lines import FORMATS, DataError, Lines, Pair, opened, pair_in
from ntm.tasks.problems import ProblemPart

Layout = Literal["transduction", "tagging", "classification"]
Part = Literal["kept", "held out", "all"]
FLAG = "\N{RIGHTWARDS ARROW}"
END = "\N{DOWNWARDS ARROW WITH CORNER LEFTWARDS}"
HELD_OUT = 0.1
_SHOWN = 60  # characters of a value in a summary

Ones = list[list[int]]
"""Channels that are 1, for every step."""


@dataclass(frozen=True, kw_only=True)
class Examples(Task):
    """Task of a file of examples. Make it with `ntm.tasks.examples_from(file)`."""

    name: ClassVar[str] = "examples"
    parts: ClassVar[tuple[ProblemPart, ...]] = tuple(
        ProblemPart(column, (), "text") for column in ("input", "target")
    )

    file: str = setting("", "file of examples: .jsonl, .csv or .tsv")
    valid: str = setting("", "file of examples for validation (empty: held-out lines of the file)")
    held_out: float = setting(
        HELD_OUT, "share of the lines to hold out for validation", at_least=0, at_most=1
    )
    layout: Layout = setting("transduction", "transduction, tagging or classification")
    part: Part = setting("kept", "lines to use: kept (for training), held out, or all")
    input_symbols: tuple[str, ...] = setting((), "symbols of the inputs (empty: bits)")
    input_bits: int = setting(0, "bits of an input vector (0: symbols)", at_least=0)
    target_symbols: tuple[str, ...] = setting((), "symbols of the targets (empty: bits)")
    target_bits: int = setting(0, "bits of a target vector (0: symbols)", at_least=0)
    scored_steps: float = setting(1.0, "mean number of scored steps", above=0)
    longest_answer: int = setting(1, "units of the longest target", at_least=0)
    digest: str = setting("", "hash of the file's content (empty: any content)")

    @cached_property
    def input_alphabet(self) -> Alphabet:
        """Symbols or bits of the inputs."""
        return Alphabet(self.input_symbols, self.input_bits)

    @cached_property
    def target_alphabet(self) -> Alphabet:
        """Symbols or bits of the targets."""
        return Alphabet(self.target_symbols, self.target_bits)

    @property
    def input_kind(self) -> ChannelKind:
        """Kind of the inputs."""
        return self.input_alphabet.kind

    @property
    def output_kind(self) -> ChannelKind:
        """Kind of the targets."""
        return self.target_alphabet.kind

    @property
    def input_channels(self) -> tuple[str, ...]:
        """The symbols or bits, and the flag before an answer."""
        return (*self.input_alphabet.channels, *([] if self.layout == "tagging" else [FLAG]))

    @property
    def output_channels(self) -> tuple[str, ...]:
        """The symbols or bits, and the end of an answer."""
        return (*self.target_alphabet.channels, *([END] if self.layout == "transduction" else []))

    @property
    def mean_scored_steps(self) -> float:
        """Mean number of scored steps of the examples in the file."""
        return self.scored_steps

    @property
    def label(self) -> str:
        """Name of the file without its ending."""
        return Path(self.file).stem

    @property
    def problems(self) -> int:
        """Number of examples in this part of the file."""
        return len(self._offsets)

    @property
    def summary(self) -> str:
        """Text with the sizes of the file, and an example."""
        asked, answer = (f"{value!r:.{_SHOWN}}" for value in self.pair(0))
        return (
            f"{Path(self.file).name}: {self.problems:,} examples to train on and "
            f"{self.for_validation.problems:,} for validation, with inputs of "
            f"{self.input_alphabet} and targets of {self.target_alphabet}; {asked} is answered by "
            f"{answer}."
        )

    @property
    def for_validation(self) -> "Examples":
        """The held-out lines, or the lines of the file for validation."""
        if self.part != "kept":
            return self
        if not self.valid:
            return replace(self, part="held out")
        return self.with_file(self.valid)

    def with_file(self, file: str | Path) -> "Examples":
        """Return a task with this task's alphabets and all examples of another file."""
        path = readable(file)
        return replace(self, file=str(path), valid="", part="all", held_out=0.0, digest="")

    def draw(self, batch_size: int, generator: torch.Generator) -> Batch:
        """Sample lines uniformly, with replacement."""
        chosen = torch.randint(self.problems, (batch_size,), generator=generator)
        return self.take(chosen.tolist())

    def take(self, numbers: Sequence[int]) -> Batch:
        """Return the examples with these numbers, counted from 0 in this part of the file."""
        part, lines = self._offsets, self._lines
        offsets = [part[number] for number in numbers]
        found = zip(offsets, lines.read(offsets), strict=True)
        return self._batch([self._encoded(*one) for one in found])

    def pair(self, number: int) -> Pair:
        """Return the input and the target of an example, as the file has them."""
        line = self._lines.read([self._offsets[number]])[0]
        return pair_in(line, Path(self.file).suffix)

    def typed(self, text: str) -> Any:
        """Parse an input that a person typed: a plain string, or JSON if the inputs are lists."""
        return _typed(text, self.input_alphabet, "input")

    def typed_target(self, text: str) -> Any:
        """Parse a target that a person typed: the name of a class, a plain string, or JSON."""
        if self.layout == "classification" and text in self.target_symbols:
            return text
        return _typed(text, self.target_alphabet, "target")

    def posed(self, asked: Any, answer: Any) -> Batch:
        """Return a batch that contains only this example."""
        return self._batch([self.encoded(asked, answer)])

    def asked(self, value: Any) -> Tensor:
        """Return the inputs for a value without a target, up to the flag: (time, 1, input_size)."""
        ones = self._with_flag(self.input_alphabet.encoded(units_of(value)))
        return _filled(len(ones), [ones], [0], self.input_size)

    def said(self, logits: Tensor) -> tuple[list[Unit], bool]:
        """Return the units of an answer, and whether the answer has ended.

        logits: (time, output_size), at the steps of the answer.
        """
        if self.output_kind == "symbols":
            ones = [[place] for place in logits.argmax(dim=-1).tolist()]
        else:
            ones = [row.nonzero()[:, 0].tolist() for row in logits > 0]
        ends = [self.layout == "transduction" and self.output_size - 1 in step for step in ones]
        length = ends.index(True) if True in ends else len(ones)
        return self.target_alphabet.decoded(ones[:length]), True in ends

    @property
    def _lines(self) -> Lines:
        lines = opened(self.file, self.held_out)
        if self.digest not in ("", lines.digest):
            raise DataError(f"{self.file} has changed since the run was started; put it back.")
        return lines

    @property
    def _offsets(self) -> Sequence[int]:
        lines = self._lines
        return lines.held_out if self.part == "held out" else lines.kept

    def _encoded(self, offset: int, line: bytes) -> tuple[Ones, Ones]:
        try:
            return self.encoded(*pair_in(line, Path(self.file).suffix))
        except ValueError as error:
            raise damaged(self.file, self._lines.number_at(offset), error) from error

    def encoded(self, asked: Any, answer: Any) -> tuple[Ones, Ones]:
        """Return the channels that are 1 at the steps of the input and of the target."""
        inputs = self.input_alphabet.encoded(units_of(asked))
        targets = self.target_alphabet.encoded(
            units_of(answer, whole=self.layout == "classification")
        )
        require_fitting(self.layout, inputs, targets)
        if self.layout == "transduction":
            targets = [*targets, [self.output_size - 1]]
        return self._with_flag(inputs), targets

    def answer_start(self, steps: int) -> int:
        """Return the step at which the answer starts.

        steps: number of input steps, including the flag, if the layout has a flag.
        """
        return {"tagging": 0, "classification": steps - 1, "transduction": steps}[self.layout]

    def _with_flag(self, inputs: Ones) -> Ones:
        return inputs if self.layout == "tagging" else [*inputs, [self.input_size - 1]]

    def _batch(self, examples: list[tuple[Ones, Ones]]) -> Batch:
        inputs, targets = [list(part) for part in zip(*examples, strict=True)]
        starts = [self.answer_start(len(steps)) for steps in inputs]
        lengths = torch.tensor(
            [start + len(steps) for start, steps in zip(starts, targets, strict=True)]
        )
        time = int(lengths.max())
        mask = torch.zeros(time, len(examples))
        for number, (start, end) in enumerate(zip(starts, lengths.tolist(), strict=True)):
            mask[start:end, number] = 1
        first = [0] * len(examples)
        return self.batch_type(
            _filled(time, inputs, first, self.input_size),
            _filled(time, targets, starts, self.output_size),
            mask,
            lengths,
        )


def _typed(text: str, alphabet: Alphabet, column: str) -> Any:
    if alphabet.is_text:
        return text
    try:
        return json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        raise ValueError(f"this {column} must be a JSON list, got {text!r}") from error


def _filled(time: int, sequences: list[Ones], starts: Sequence[int], channels: int) -> Tensor:
    """Return a tensor (time, batch, channels) of zeros, with ones in the sequences' channels.

    starts: step at which each sequence starts.
    """
    places = [
        (start + step, number, place)
        for number, (start, steps) in enumerate(zip(starts, sequences, strict=True))
        for step, ones in enumerate(steps)
        for place in ones
    ]
    filled = torch.zeros(time, len(sequences), channels)
    if places:
        filled[tuple(torch.tensor(places).T)] = 1
    return filled


def require_fitting(layout: Layout, inputs: Sequence[Any], targets: Sequence[Any]) -> None:
    """Raise ValueError if an example does not fit its layout."""
    if layout == "tagging" and len(inputs) != len(targets):
        raise ValueError(
            f"tagging needs one target for every step of the input; this line has {len(inputs)} "
            f"steps and {len(targets)} targets"
        )
    if layout == "tagging" and not inputs:
        raise ValueError("the input is empty")


def damaged(file: str | Path, number: int, error: Exception) -> DataError:
    """Return an error that names the file and the number of a line."""
    return DataError(f"{file}, line {number}: {str(error).rstrip('.')}.")


def readable(file: str | Path) -> Path:
    """Return the full path of a file of examples; raise DataError for other files."""
    path = Path(file).resolve()
    if path.suffix not in FORMATS:
        endings = ", ".join(FORMATS)
        raise DataError(f"{file} is not a file of examples; its name must end in {endings}.")
    if not path.is_file():
        raise DataError(f"There is no file {file}.")
    return path

"""Context-sensitive tasks: a machine with a tape as long as the input can solve them."""

import math
import operator
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from ntm.tasks import time_steps
from ntm_chomsky.strings import (
    DIGITS,
    NOTHING,
    StringTask,
    drawn_strings,
    ended,
    one_symbol,
    rearranged,
    written,
)

GAP, EMPTY = 2, 3
END = 2


@dataclass(frozen=True, kw_only=True)
class DuplicateString(StringTask):
    """Say a binary string twice: 101 -> 101101."""

    name: ClassVar[str] = "duplicate-string"
    level: ClassVar[str] = "context-sensitive"
    symbols: ClassVar[str] = DIGITS
    answers: ClassVar[str] = DIGITS

    def answer_length(self, length: int) -> float:
        """Return twice the length."""
        return 2 * length

    def strings(self, lengths: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """Draw strings."""
        inputs = drawn_strings(lengths, 2, generator)
        return inputs, rearranged(inputs, time_steps(2 * len(inputs)) % lengths, 2 * lengths)


@dataclass(frozen=True, kw_only=True)
class MissingDuplicate(StringTask):
    """Find the symbol that is missing in a string that is given twice: 0110 0_10 -> 1.

    If the length is odd, the symbol "." fills the last place. An input of one symbol is 1, with
    answer 1.
    """

    name: ClassVar[str] = "missing-duplicate"
    level: ClassVar[str] = "context-sensitive"
    symbols: ClassVar[str] = "01_."
    answers: ClassVar[str] = DIGITS

    def strings(self, lengths: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """Draw strings, and a gap anywhere in the two copies."""
        halves = lengths // 2
        half = drawn_strings(halves.clamp(min=1), 2, generator)
        steps = time_steps(int(lengths.max()))
        twice = half.gather(0, steps % halves.clamp(min=1))
        gaps = (torch.rand(len(lengths), generator=generator) * 2 * halves).long()
        answers = twice.gather(0, gaps.unsqueeze(0))[0]
        inputs = torch.where(steps == gaps, GAP, twice)
        inputs = ended(torch.where(steps == 2 * halves, EMPTY, inputs), lengths)
        single = lengths == 1
        inputs[0], answers = torch.where(single, 1, inputs[0]), torch.where(single, 1, answers)
        return inputs, one_symbol(answers)


@dataclass(frozen=True, kw_only=True)
class OddsFirst(StringTask):
    """Say the symbols at places 1, 3, 5, ... and then those at 0, 2, 4, ...: 00110101 -> 01110100.

    Places are counted from 0.
    """

    name: ClassVar[str] = "odds-first"
    level: ClassVar[str] = "context-sensitive"
    symbols: ClassVar[str] = DIGITS
    answers: ClassVar[str] = DIGITS

    def answer_length(self, length: int) -> float:
        """Return the length of the string."""
        return length

    def strings(self, lengths: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """Draw strings."""
        inputs = drawn_strings(lengths, 2, generator)
        steps, odds = time_steps(len(inputs)), lengths // 2
        places = torch.where(steps < odds, 2 * steps + 1, 2 * (steps - odds))
        return inputs, rearranged(inputs, places, lengths)


@dataclass(frozen=True, kw_only=True)
class BucketSort(StringTask):
    """Sort a string over five symbols: 10204112 -> 00111224."""

    name: ClassVar[str] = "bucket-sort"
    level: ClassVar[str] = "context-sensitive"
    symbols: ClassVar[str] = "01234"
    answers: ClassVar[str] = "01234"

    def answer_length(self, length: int) -> float:
        """Return the length of the string."""
        return length

    def strings(self, lengths: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """Draw strings."""
        inputs = drawn_strings(lengths, len(self.symbols), generator)
        last = len(self.symbols)
        by_symbol = inputs.masked_fill(inputs == NOTHING, last).sort(dim=0).values
        return inputs, by_symbol.masked_fill(by_symbol == last, NOTHING)


@dataclass(frozen=True, kw_only=True)
class BinaryAddition(StringTask):
    """Add two binary numbers, lowest digit first, and say the end ".": 001+01101 -> 01011.

    An input of one or two symbols is a single number, which is the answer.
    """

    name: ClassVar[str] = "binary-addition"
    level: ClassVar[str] = "context-sensitive"
    symbols: ClassVar[str] = "01+"
    answers: ClassVar[str] = "01."

    def answer_length(self, length: int) -> float:
        """Return an estimate: the longer of two numbers has three quarters of the symbols."""
        return 3 * length / 4 + 1

    def strings(self, lengths: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """Draw pairs of positive numbers."""

        def write(length: int, source: random.Random) -> tuple[list[int], list[int]]:
            if length > 2:
                return calculation(length, operator.add, source)
            number = source.randrange(2**length - 1)
            return digits(number, length), [*digits(number), END]

        return written(lengths, generator, write)


@dataclass(frozen=True, kw_only=True)
class BinaryMultiplication(StringTask):
    """Multiply two binary numbers, lowest digit first, and say the end ".": 001*01101 -> 0001101.

    For an input of one or two symbols, a single number, the answer is empty or 0.
    """

    name: ClassVar[str] = "binary-multiplication"
    level: ClassVar[str] = "context-sensitive"
    symbols: ClassVar[str] = "01*"
    answers: ClassVar[str] = "01."

    def answer_length(self, length: int) -> float:
        """Return an estimate: a product has nearly as many digits as both numbers."""
        return max(1.0, length - 1)

    def strings(self, lengths: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """Draw pairs of positive numbers."""

        def write(length: int, source: random.Random) -> tuple[list[int], list[int]]:
            if length > 2:
                return calculation(length, operator.mul, source)
            return digits(source.randrange(2**length - 1), length), [*[0] * (length - 1), END]

        return written(lengths, generator, write)


@dataclass(frozen=True, kw_only=True)
class ComputeSqrt(StringTask):
    """Say the integer square root of a binary number, highest digit first: 100101 -> 110."""

    name: ClassVar[str] = "compute-sqrt"
    level: ClassVar[str] = "context-sensitive"
    symbols: ClassVar[str] = DIGITS
    answers: ClassVar[str] = DIGITS

    def answer_length(self, length: int) -> float:
        """Return half of the length, rounded up."""
        return math.ceil(length / 2)

    def strings(self, lengths: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """Draw positive numbers."""

        def write(length: int, source: random.Random) -> tuple[list[int], list[int]]:
            number = source.randint(1, 2**length - 1)
            root = digits(math.isqrt(number), math.ceil(length / 2))
            return digits(number, length)[::-1], root[::-1]

        return written(lengths, generator, write)


def calculation(
    length: int, operate: Callable[[int, int], int], source: random.Random
) -> tuple[list[int], list[int]]:
    """Return two positive numbers with an operator between them, and the result with its end."""
    first_length = source.randrange(1, length - 1)
    sizes = (first_length, length - 1 - first_length)
    first, second = (source.randint(1, 2**size - 1) for size in sizes)
    text = [*digits(first, sizes[0]), END, *digits(second, sizes[1])]
    return text, [*digits(operate(first, second)), END]


def digits(number: int, length: int = 1) -> list[int]:
    """Return at least this many binary digits of a number, lowest first."""
    return [int(digit) for digit in reversed(f"{number:0{length}b}")]

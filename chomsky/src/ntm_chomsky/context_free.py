"""Context-free tasks: a machine with a stack can solve them."""

import random
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from ntm.tasks import time_steps
from ntm_chomsky.regular import MODULUS, NUMBERS
from ntm_chomsky.strings import (
    DIGITS,
    StringTask,
    drawn_strings,
    ended,
    rearranged,
    written,
)

Expression = tuple[str, int]
"""Text and value."""


@dataclass(frozen=True, kw_only=True)
class ReverseString(StringTask):
    """Say a binary string backwards: 0110 1 -> 1 0110."""

    name: ClassVar[str] = "reverse-string"
    level: ClassVar[str] = "context-free"
    symbols: ClassVar[str] = DIGITS
    answers: ClassVar[str] = DIGITS

    def answer_length(self, length: int) -> float:
        """Return the length of the string."""
        return length

    def strings(self, lengths: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """Draw strings."""
        inputs = drawn_strings(lengths, 2, generator)
        return inputs, rearranged(inputs, lengths - 1 - time_steps(len(inputs)), lengths)


@dataclass(frozen=True, kw_only=True)
class StackManipulation(StringTask):
    """Say a stack from top to bottom after some actions, then the end "." of the stack.

    The stack comes first, bottom to top. The actions are v (pop), a (push 0) and b (push 1). A pop
    of an empty stack does nothing. 0110 b v v -> 110.
    """

    name: ClassVar[str] = "stack-manipulation"
    level: ClassVar[str] = "context-free"
    symbols: ClassVar[str] = "01vab"
    answers: ClassVar[str] = "01."

    def answer_length(self, length: int) -> float:
        """Return an estimate: half of the string is a stack, and pushes exceed pops slightly."""
        return 2 * length / 3 + 1

    def strings(self, lengths: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """Draw a stack of at least one symbol and, if the length allows it, at least one action."""
        choices = torch.rand(len(lengths), generator=generator) * (lengths - 1)
        sizes = choices.long().clamp(max=lengths - 2).add(1).clamp(min=1)
        inputs = drawn_strings(lengths, 2, generator)
        actions = ended(drawn_strings(lengths, 3, generator).add(2), lengths)
        inputs = torch.where(time_steps(len(inputs)) < sizes, inputs, actions)
        return inputs, final_stacks(inputs)


def final_stacks(inputs: Tensor) -> Tensor:
    """Return the stacks after all actions, from top to bottom, and the end symbol 2."""
    columns = torch.arange(inputs.shape[1])
    stacks, depths = torch.zeros(len(inputs) + 1, len(columns), dtype=torch.long), columns * 0
    for symbol in inputs:
        pushes = (symbol == 0) | (symbol == 1) | (symbol > 2)
        value = torch.where(symbol > 2, symbol - 3, symbol)
        stacks[depths, columns] = torch.where(pushes, value, stacks[depths, columns])
        depths = (depths + pushes.long() - (symbol == 2).long()).clamp(min=0)
    answers = rearranged(stacks, depths - 1 - time_steps(int(depths.max()) + 1), depths + 1)
    answers[depths, columns] = 2
    return answers


@dataclass(frozen=True, kw_only=True)
class ModularArithmeticBrackets(StringTask):
    """Compute an expression with brackets, modulo 5: (2*(-1)) -> 3."""

    name: ClassVar[str] = "modular-arithmetic-brackets"
    level: ClassVar[str] = "context-free"
    symbols: ClassVar[str] = f"{NUMBERS}+-*()"
    answers: ClassVar[str] = NUMBERS

    def strings(self, lengths: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """Draw expressions."""

        def write(length: int, source: random.Random) -> tuple[list[int], list[int]]:
            text, value = expression(length, "+-*", source)
            return [self.symbols.index(symbol) for symbol in text], [value]

        return written(lengths, generator, write)


@dataclass(frozen=True, kw_only=True)
class SolveEquation(StringTask):
    """Find the unknown number x of an equation, modulo 5: (x-(-2))=1 -> 4.

    An input of fewer than three symbols cannot hold an equation: it is all zeros, with answer 0.
    """

    name: ClassVar[str] = "solve-equation"
    level: ClassVar[str] = "context-free"
    symbols: ClassVar[str] = f"{NUMBERS}+-()x="
    answers: ClassVar[str] = NUMBERS

    def strings(self, lengths: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """Draw equations."""

        def write(length: int, source: random.Random) -> tuple[list[int], list[int]]:
            text, solution = equation(length, source) if length > 2 else ("0" * length, 0)
            return [self.symbols.index(symbol) for symbol in text], [solution]

        return written(lengths, generator, write)


def expression(length: int, operators: str, source: random.Random) -> Expression:
    """Return a random expression with brackets of exactly this many symbols."""
    if length <= 4:
        number = source.randrange(MODULUS)
        shape = ("{}", "-{}", "({})", "(-{})")[length - 1]
        return shape.format(number), (-number if "-" in shape else number) % MODULUS
    left_length = source.randrange(1, length - 3)
    left, left_value = expression(left_length, operators, source)
    right, right_value = expression(length - 3 - left_length, operators, source)
    operator = source.choice(operators)
    value = {
        "+": left_value + right_value,
        "-": left_value - right_value,
        "*": left_value * right_value,
    }[operator]
    return f"({left}{operator}{right})", value % MODULUS


def equation(length: int, source: random.Random) -> Expression:
    """Return a random equation of this many symbols, and its solution.

    The first number at or after a random place becomes the unknown.
    """
    text, value = expression(length - 2, "+-", source)
    place = source.randrange(len(text))
    while text[place] not in NUMBERS:
        place = (place + 1) % len(text)
    return f"{text[:place]}x{text[place + 1 :]}={value}", int(text[place])

"""Regular tasks: a machine with finitely many states can solve them."""

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from ntm_chomsky.strings import (
    DIGITS,
    StringTask,
    drawn_strings,
    one_symbol,
)

MODULUS = 5
NUMBERS = "01234"
PLUS, TIMES, MINUS = range(MODULUS, MODULUS + 3)


@dataclass(frozen=True, kw_only=True)
class EvenPairs(StringTask):
    """Say whether the number of 01s and 10s in a binary string is odd: 0101001 -> 1."""

    name: ClassVar[str] = "even-pairs"
    level: ClassVar[str] = "regular"
    symbols: ClassVar[str] = DIGITS
    answers: ClassVar[str] = DIGITS

    def strings(self, lengths: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """Draw strings; every change between neighbours is such a pair."""
        inputs = drawn_strings(lengths, 2, generator)
        changes = (inputs[1:] != inputs[:-1]) & (inputs[1:] >= 0)
        return inputs, one_symbol(changes.sum(dim=0) % 2)


@dataclass(frozen=True, kw_only=True)
class ParityCheck(StringTask):
    """Say whether the number of 1s in a binary string is odd: 1010100 -> 1."""

    name: ClassVar[str] = "parity-check"
    level: ClassVar[str] = "regular"
    symbols: ClassVar[str] = DIGITS
    answers: ClassVar[str] = DIGITS

    def strings(self, lengths: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """Draw strings and count."""
        inputs = drawn_strings(lengths, 2, generator)
        return inputs, one_symbol(inputs.clamp(min=0).sum(dim=0) % 2)


@dataclass(frozen=True, kw_only=True)
class CycleNavigation(StringTask):
    """Say where a walk on a circle of five places ends: < - > are left, stay, right."""

    name: ClassVar[str] = "cycle-navigation"
    level: ClassVar[str] = "regular"
    symbols: ClassVar[str] = "<->"
    answers: ClassVar[str] = NUMBERS

    def strings(self, lengths: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """Draw steps; the walk starts at place 0."""
        inputs = drawn_strings(lengths, 3, generator)
        moves = torch.where(inputs >= 0, inputs - 1, 0)
        return inputs, one_symbol(moves.sum(dim=0) % MODULUS)


@dataclass(frozen=True, kw_only=True)
class ModularArithmetic(StringTask):
    """Compute an expression without brackets, modulo 5: 1+2*3 -> 2.

    Expressions have odd lengths: an even length gives an expression that is shorter by one.
    """

    name: ClassVar[str] = "modular-arithmetic"
    level: ClassVar[str] = "regular"
    symbols: ClassVar[str] = f"{NUMBERS}+*-"
    answers: ClassVar[str] = NUMBERS

    def strings(self, lengths: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """Draw numbers and operators in turn."""
        odd = lengths - (lengths + 1) % 2
        inputs = drawn_strings(odd, MODULUS, generator)
        operators = drawn_strings(odd, 3, generator) + PLUS
        inputs[1::2] = torch.where(inputs[1::2] >= 0, operators[1::2], inputs[1::2])
        return inputs, one_symbol(value_of(inputs))


def value_of(expressions: Tensor) -> Tensor:
    """Return the value of expressions without brackets, modulo 5, (batch,)."""
    total, term = torch.zeros_like(expressions[0]), expressions[0]
    for operator, number in zip(expressions[1::2], expressions[2::2], strict=True):
        started = torch.where(operator == MINUS, -number, number)
        total = torch.where((operator == PLUS) | (operator == MINUS), total + term, total)
        term = torch.where(
            operator == TIMES, term * number % MODULUS, torch.where(operator < 0, term, started)
        )
    return (total + term) % MODULUS

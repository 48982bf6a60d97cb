"""Alphabets: the symbols or bits of one column of a file of examples, as channels.

A string is a sequence of characters, each a symbol. A list is a sequence of symbols (words or
numbers), of bits (0 and 1), or of bit vectors (lists of 0 and 1).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ntm.common.channels import ChannelKind

Vector = tuple[int, ...]
Unit = str | Vector
"""Symbol or bit vector of one step."""


@dataclass(frozen=True)
class Alphabet:
    """Symbols of a column of a file; without symbols, the number of bits of its vectors."""

    symbols: tuple[str, ...]
    bits: int

    @property
    def kind(self) -> ChannelKind:
        """Kind of the channels: bits or symbols."""
        return "symbols" if self.symbols else "bits"

    @property
    def channels(self) -> tuple[str, ...]:
        """Names of the channels."""
        return self.symbols or tuple(f"bit {number}" for number in range(1, self.bits + 1))

    def __str__(self) -> str:
        if not self.symbols:
            return f"{self.bits} bit{'s' * (self.bits > 1)}"
        return f"{len(self.symbols):,} symbol{'s' * (len(self.symbols) > 1)}"

    @property
    def is_text(self) -> bool:
        """Whether a sequence can be written as a string, one character per symbol."""
        return bool(self.symbols) and all(len(symbol) == 1 for symbol in self.symbols)

    def encoded(self, units: Sequence[Unit]) -> list[list[int]]:
        """Return the channels that are 1, for every unit; raise ValueError for an unknown unit."""
        if self.symbols:
            return [[self._place(unit)] for unit in units]
        return [[place for place, bit in enumerate(self._vector(unit)) if bit] for unit in units]

    @cached_property
    def _places(self) -> dict[str, int]:
        return {symbol: place for place, symbol in enumerate(self.symbols)}

    def _place(self, unit: Unit) -> int:
        symbol = as_symbol(unit)
        if symbol not in self._places:
            first = (name.replace(" ", "\N{OPEN BOX}") for name in self.symbols[:40])
            known = " ".join(first) + (" ..." if len(self.symbols) > 40 else "")
            raise ValueError(f"the network does not know the symbol {symbol!r}; it knows {known}")
        return self._places[symbol]

    def _vector(self, unit: Unit) -> Vector:
        if isinstance(unit, str) or len(unit) != self.bits:
            raise ValueError(f"the network knows vectors of {self.bits} bits; got {unit!r}")
        return unit

    def decoded(self, ones: Iterable[Sequence[int]]) -> list[Unit]:
        """Return the units that these channels encode; the inverse of `encoded`."""
        if self.symbols:
            return [self.symbols[places[0]] for places in ones]
        return [tuple(int(bit in places) for bit in range(self.bits)) for places in ones]


@dataclass
class Collector:
    """Collector of the alphabet of a column, line by line."""

    symbols: set[str] = field(default_factory=set)
    widths: set[int] = field(default_factory=set)

    def add(self, units: Sequence[Unit]) -> None:
        """Add the units of a line."""
        if self.symbols.issuperset(units):
            return
        for unit in set(units) - self.symbols:
            if isinstance(unit, str):
                self.symbols.add(unit)
            else:
                self._add_vector(unit)

    def _add_vector(self, vector: Vector) -> None:
        self.widths.add(len(vector))
        if len(vector) > 1 and (self.symbols or len(self.widths) > 1):
            others = "symbols" if self.symbols else "vectors of other sizes"
            raise ValueError(
                f"a vector of {len(vector)} bits cannot follow {others} of other lines"
            )

    def alphabet(self) -> Alphabet:
        """Return the alphabet. If a column has symbols and bits, the bits are symbols, too."""
        if self.symbols and self.widths - {1}:
            raise ValueError("some lines have symbols and others have bit vectors")
        if self.symbols or not self.widths:
            zero_one = {"0", "1"} if self.widths else set()
            return Alphabet(tuple(sorted(self.symbols | zero_one)), 0)
        return Alphabet((), *self.widths)


def units_of(value: Any, whole: bool = False) -> list[Unit]:
    """Return the units of a value from a file.

    whole: whether the whole value is a single unit, such as the name of a class (False).
    """
    if whole:
        return [_unit(value)]
    if isinstance(value, str):
        return list(value)
    if isinstance(value, list):
        return [_unit(part) for part in value]
    raise ValueError(
        f"{value!r} is neither a string nor a list; if it names a class, train with --classify"
    )


def as_symbol(unit: Unit) -> str:
    """Return a unit as a symbol: a single bit is the symbol 0 or 1."""
    return unit if isinstance(unit, str) else "".join(map(str, unit))


def _unit(value: Any) -> Unit:
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    if value in (0, 1) and isinstance(value, int):
        return (value,)
    if isinstance(value, int | float):
        return str(value)
    if isinstance(value, list) and value and all(_is_bit(bit) for bit in value):
        return tuple(value)
    raise ValueError(f"{value!r} is neither a symbol nor a vector of 0 and 1")


def _is_bit(value: Any) -> bool:
    return type(value) is int and value in (0, 1)

"""Base of the 15 tasks: a string of symbols goes in, a string of symbols is the answer.

    input    0 1 1 . . .      one channel per symbol
    answer   . . . 1 1 0      the channel "?" is on while the answer is due

A task defines its two alphabets and `strings`, which draws inputs and answers as numbers of
symbols. Strings of a batch stand side by side, (time, batch), and end in -1.
"""

import random
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from ntm.common.channels import ChannelKind
from ntm.tasks import Batch, Task, between, random_integers, setting, take_steps, time_steps

NOTHING = -1
"""Number beyond the end of a string."""
DIGITS = "01"


@dataclass(frozen=True, kw_only=True)
class StringTask(Task):
    """Answer a string of symbols with another string of symbols."""

    axes: ClassVar[tuple[str, ...]] = ("length",)
    level: ClassVar[str]
    """Level of the Chomsky hierarchy: regular, context-free or context-sensitive."""
    symbols: ClassVar[str]
    """Alphabet of the input."""
    answers: ClassVar[str]
    """Alphabet of the answer."""

    min_length: int = setting(1, "symbols in the shortest input", at_least=1)
    max_length: int = setting(40, "symbols in the longest input", at_least=1)

    @property
    def input_channels(self) -> tuple[str, ...]:
        """The input's alphabet, and a channel that is on while the answer is due."""
        return (*self.symbols, "?")

    @property
    def output_channels(self) -> tuple[str, ...]:
        """The answer's alphabet."""
        return tuple(self.answers)

    @property
    def input_kind(self) -> ChannelKind:
        """One symbol per step."""
        return "symbols"

    @property
    def output_kind(self) -> ChannelKind:
        """One symbol per scored step."""
        return "symbols"

    @property
    def mean_scored_steps(self) -> float:
        """Mean length of the answers."""
        lengths = range(self.min_length, self.max_length + 1)
        return sum(map(self.answer_length, lengths)) / len(lengths)

    def answer_length(self, length: int) -> float:  # noqa: ARG002
        """Return the mean length of the answers to inputs of this length."""
        return 1

    @abstractmethod
    def strings(self, lengths: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """Return inputs and answers as numbers of symbols, (time, batch) int64, ended by -1."""

    def draw(self, batch_size: int, generator: torch.Generator) -> Batch:
        """Sample a batch: the input, then the answer."""
        lengths = random_integers(self.min_length, self.max_length, batch_size, generator)
        return self.encoded(*self.strings(lengths, generator))

    def encoded(self, inputs: Tensor, answers: Tensor) -> Batch:
        """Return strings as a batch."""
        heard, said = string_lengths(inputs), string_lengths(answers)
        lengths = heard + said
        mask = between(heard, lengths)
        steps = time_steps(int(lengths.max()))
        symbols = take_steps(encoded_symbols(inputs, len(self.symbols)), steps.expand_as(mask))
        targets = take_steps(encoded_symbols(answers, len(self.answers)), steps - heard)
        return Batch(torch.cat([symbols, mask.unsqueeze(-1)], dim=-1), targets, mask, lengths)


def encoded_symbols(strings: Tensor, count: int) -> Tensor:
    """Return one channel per symbol, (time, batch, count) float32; zeros beyond the ends."""
    return one_hot(strings + 1, count + 1)[..., 1:].float()


def string_lengths(strings: Tensor) -> Tensor:
    """Return the lengths of strings, (batch,) int64."""
    return (strings != NOTHING).sum(dim=0)


def ended(strings: Tensor, lengths: Tensor) -> Tensor:
    """Return strings with -1 from these lengths on."""
    return strings.masked_fill(time_steps(len(strings)) >= lengths, NOTHING)


def drawn_strings(lengths: Tensor, count: int, generator: torch.Generator) -> Tensor:
    """Return uniform random strings over `count` symbols."""
    shape = (int(lengths.max()), len(lengths))
    return ended(torch.randint(count, shape, generator=generator), lengths)


def rearranged(strings: Tensor, positions: Tensor, lengths: Tensor) -> Tensor:
    """Return strings of these lengths with symbol `positions[t, b]` of string b at place t."""
    last = len(strings) - 1
    return ended(strings.gather(0, positions.clamp(0, last)), lengths)


def one_symbol(answers: Tensor) -> Tensor:
    """Return answers of one symbol each, from their numbers, (batch,)."""
    return answers.long().unsqueeze(0)


def written(
    lengths: Tensor,
    generator: torch.Generator,
    write: Callable[[int, random.Random], tuple[Sequence[int], Sequence[int]]],
) -> tuple[Tensor, Tensor]:
    """Return inputs and answers that `write(length, random)` makes one by one."""
    source = random.Random(int(torch.randint(2**62, (), generator=generator)))
    problems = [write(length, source) for length in lengths.tolist()]
    inputs, answers = zip(*problems, strict=True)
    return side_by_side(inputs), side_by_side(answers)


def side_by_side(strings: Sequence[Sequence[int]]) -> Tensor:
    """Return strings of different lengths as one tensor, (time, batch)."""
    longest = max(map(len, strings))
    return torch.tensor([[*s, *[NOTHING] * (longest - len(s))] for s in strings]).T.contiguous()

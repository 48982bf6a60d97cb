"""A task whose inputs and outputs are symbols, for tests."""

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch.nn.functional import one_hot

from ntm.tasks import Batch, ChannelKind, Task, between, put, random_integers, setting, take_steps
from ntm.tasks.sampling import time_steps


@dataclass(frozen=True, kw_only=True)
class Spell(Task):
    """Say a word backwards, letter by letter."""

    name: ClassVar[str] = "spell"
    axes: ClassVar[tuple[str, ...]] = ("length",)

    letters: int = setting(5, "letters of the alphabet", at_least=1, at_most=26)
    min_length: int = setting(1, "letters of the shortest word", at_least=1)
    max_length: int = setting(4, "letters of the longest word", at_least=1)

    @property
    def input_kind(self) -> ChannelKind:
        return "symbols"

    @property
    def output_kind(self) -> ChannelKind:
        return "symbols"

    @property
    def input_channels(self) -> tuple[str, ...]:
        return (*self.output_channels, "?")

    @property
    def output_channels(self) -> tuple[str, ...]:
        return tuple("abcdefghijklmnopqrstuvwxyz"[: self.letters])

    @property
    def mean_scored_steps(self) -> float:
        return (self.min_length + self.max_length) / 2

    def draw(self, batch_size: int, generator: torch.Generator) -> Batch:
        counts = random_integers(self.min_length, self.max_length, batch_size, generator)
        longest = int(counts.max())
        word = torch.randint(self.letters, (longest, batch_size), generator=generator)
        letters = one_hot(word, self.letters).float() * (time_steps(longest) < counts).unsqueeze(-1)
        answer, lengths = counts + 1, 2 * counts + 1
        time = int(lengths.max())
        inputs = torch.zeros(time, batch_size, self.input_size)
        inputs[:longest, :, :-1] = letters
        put(inputs, counts, self.letters)
        mask = between(answer, lengths)
        targets = take_steps(letters, counts - 1 - (time_steps(time) - answer))
        return Batch(inputs, targets * mask.unsqueeze(-1), mask, lengths)

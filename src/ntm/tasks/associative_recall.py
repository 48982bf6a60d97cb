"""Associative recall (section 4.3): shown one item of a list, say the next."""

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from ntm.common.fields import setting
from ntm.tasks import sampling
from ntm.tasks.base import MAX_BITS, Batch, Task, bit_names


@dataclass(frozen=True, kw_only=True)
class AssociativeRecall(Task):
    """Hear a list of items, each a few binary vectors; then one of them again; say the next.

    Three items of two vectors of three bits. The second is queried, so the third is the answer:

        input    bit 1   . # . . . # . . # . . # . . .
                 bit 2   . . # . # # . . . . # # . . .
                 bit 3   . # # . . . . # # . . . . . .
                 item    # . . # . . # . . . . . . . .
                 query   . . . . . . . . . # . . # . .

        target   bit 1                             . #
                 bit 2                             . .
                 bit 3                             # #

    Delimiters bound every item on the left and on the right: neighbours share the one between
    them, the query's delimiter closes the last item, and a second one closes the query. Any item
    but the last is queried, all equally often. Items are drawn independently; that two of six are
    equal, which makes some queries ambiguous, happens once in 17,000 lists.
    """

    name: ClassVar[str] = "associative-recall"
    axes: ClassVar[tuple[str, ...]] = ("items",)

    bits: int = setting(6, "bits of one vector", at_least=1, at_most=MAX_BITS)
    item_length: int = setting(3, "vectors of one item", at_least=1)
    min_items: int = setting(2, "fewest items of a list", at_least=2)
    max_items: int = setting(6, "most items of a list, included", at_least=2)
    close_query: bool = setting(True, "a second query delimiter follows the query")

    @property
    def input_channels(self) -> tuple[str, ...]:
        """The bits, the item delimiter (row 7 in the paper) and the query delimiter (row 8)."""
        return (*bit_names(self.bits), "item", "query")

    @property
    def output_channels(self) -> tuple[str, ...]:
        """The bits."""
        return bit_names(self.bits)

    @property
    def mean_scored_steps(self) -> float:
        """The vectors of the one item that is the answer."""
        return self.item_length

    def draw(self, batch_size: int, generator: torch.Generator) -> Batch:
        """In time: the items behind their delimiters, the query between its own, the answer."""
        counts = sampling.random_integers(self.min_items, self.max_items, batch_size, generator)
        vectors = sampling.random_sequences(counts * self.item_length, self.bits, generator)
        fractions = torch.rand(batch_size, generator=generator, dtype=torch.float64)
        queried = (fractions * (counts - 1)).long()
        query = counts * (self.item_length + 1)
        query_end = query + 1 + self.item_length
        answer = query_end + int(self.close_query)
        lengths = answer + self.item_length

        inputs = torch.zeros(int(lengths.max()), batch_size, self.input_size)
        self._write_list(inputs, vectors, counts)
        sampling.put(inputs, query, self.bits + 1)
        if self.close_query:
            sampling.put(inputs, query_end, self.bits + 1)
        self._write_item(inputs, query + 1, self._item(vectors, queried))

        targets = torch.zeros(len(inputs), batch_size, self.output_size)
        self._write_item(targets, answer, self._item(vectors, queried + 1))
        return Batch(inputs, targets, sampling.between(answer, lengths), lengths)

    def _write_list(self, inputs: Tensor, vectors: Tensor, counts: Tensor) -> None:
        """Write every item behind its delimiter, in place, at the start of the inputs."""
        most, period = int(counts.max()), self.item_length + 1
        listed = inputs[: most * period].view(most, period, len(counts), -1)
        listed[:, 1:, :, : self.bits] = vectors.view(most, self.item_length, len(counts), -1)
        listed[:, 0, :, self.bits] = (sampling.time_steps(most) < counts).float()

    def _item(self, vectors: Tensor, index: Tensor) -> Tensor:
        """Item `index[b]` of sequence b: (item_length, batch, bits)."""
        return sampling.take_steps(
            vectors, index * self.item_length + sampling.time_steps(self.item_length)
        )

    def _write_item(self, tensor: Tensor, start: Tensor, item: Tensor) -> None:
        """Write an item into the bits of a tensor from step `start[b]` on, in place."""
        step = start + sampling.time_steps(self.item_length)
        tensor[step, torch.arange(len(start)), : self.bits] = item

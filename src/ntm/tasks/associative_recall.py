"""Associative recall (section 4.3): see one item of a list again, output the next item."""

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from ntm.common.fields import setting
from ntm.tasks import sampling
from ntm.tasks.base import MAX_BITS, Batch, Task, bit_names


@dataclass(frozen=True, kw_only=True)
class AssociativeRecall(Task):
    """See a list of items, each a few binary vectors, then one item again; output the next item.

    Three items of two vectors of three bits. The second is queried, so the third is the answer:

        input    bit 1   . # . . . # . . # . . # . . .
                 bit 2   . . # . # # . . . . # # . . .
                 bit 3   . # # . . . . # # . . . . . .
                 item    # . . # . . # . . . . . . . .
                 query   . . . . . . . . . # . . # . .

        target   bit 1                             . #
                 bit 2                             . .
                 bit 3                             # #

    Delimiters bound every item on the left and on the right: neighbours share a delimiter, the
    first query delimiter closes the last item, and the second query delimiter closes the query.
    Every item except the last is queried equally often. Items are drawn independently. One list of
    six items in 17,000 has two equal items, which makes some queries ambiguous.
    """

    name: ClassVar[str] = "associative-recall"
    axes: ClassVar[tuple[str, ...]] = ("items",)

    bits: int = setting(6, "bits of one vector", at_least=1, at_most=MAX_BITS)
    item_length: int = setting(3, "vectors of one item", at_least=1)
    min_items: int = setting(2, "items in the shortest list", at_least=2)
    max_items: int = setting(6, "items in the longest list", at_least=2)
    close_query: bool = setting(True, "whether a second query delimiter follows the query")

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
        """Number of vectors in the answer, one item."""
        return self.item_length

    def draw(self, batch_size: int, generator: torch.Generator) -> Batch:
        """Sample a batch: items after their delimiters, query between its delimiters, answer."""
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
        """Write every item after its delimiter, in place, at the start of the inputs."""
        most, period = int(counts.max()), self.item_length + 1
        listed = inputs[: most * period].view(most, period, len(counts), -1)
        listed[:, 1:, :, : self.bits] = vectors.view(most, self.item_length, len(counts), -1)
        listed[:, 0, :, self.bits] = (sampling.time_steps(most) < counts).float()

    def _item(self, vectors: Tensor, index: Tensor) -> Tensor:
        """Return item `index[b]` of sequence b: (item_length, batch, bits)."""
        return sampling.take_steps(
            vectors, index * self.item_length + sampling.time_steps(self.item_length)
        )

    def _write_item(self, tensor: Tensor, start: Tensor, item: Tensor) -> None:
        """Write an item into the bits of a tensor from step `start[b]` on, in place."""
        step = start + sampling.time_steps(self.item_length)
        tensor[step, torch.arange(len(start)), : self.bits] = item

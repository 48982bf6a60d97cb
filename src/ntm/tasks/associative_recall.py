"""Associative recall (section 4.3): see one item of a list again, output the next item."""

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from ntm.common.fields import setting
from ntm.tasks import sampling
from ntm.tasks.base import MAX_BITS, Batch, Task, bit_names
from ntm.tasks.problems import ProblemPart, Problems


@dataclass(frozen=True, kw_only=True)
class AssociativeRecall(Task):
    """See a list of items, each a few binary vectors, then one item again; output the next item.

    Three items of two vectors of three bits. The query is the second item, so the third item is the
    answer:

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
    Every item except the last is queried equally often. Items are drawn independently. Of
    17,000 lists of six items, about one has two equal items; some queries are then ambiguous.
    """

    name: ClassVar[str] = "associative-recall"
    axes: ClassVar[tuple[str, ...]] = ("items",)
    parts: ClassVar[tuple[ProblemPart, ...]] = (
        ProblemPart("items", ("items", "item_length", "bits")),
        ProblemPart("query", ("items",), "choice"),
    )

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
        """Number of vectors in the answer: the answer is one item, so this is `item_length`."""
        return self.item_length

    @property
    def longest(self) -> int:
        """Number of steps: items and query with delimiters, closing delimiter, answer."""
        items = (self.max_items + 1) * (self.item_length + 1)
        return items + self.close_query + self.item_length

    def pose(self, batch_size: int, generator: torch.Generator) -> Problems:
        """Sample items and queries."""
        counts = sampling.random_integers(self.min_items, self.max_items, batch_size, generator)
        vectors = sampling.random_sequences(counts * self.item_length, self.bits, generator)
        fractions = torch.rand(batch_size, generator=generator, dtype=torch.float64)
        queried = (fractions * (counts - 1)).long()
        items = vectors.view(-1, self.item_length, batch_size, self.bits).transpose(1, 2)
        return Problems({"items": counts}, {"items": items, "query": queried})

    def encode(self, problems: Problems) -> Batch:
        """Return a batch: items after their delimiters, query between its delimiters, answer."""
        counts, (items, queried) = problems.sizes["items"], problems.parts.values()
        query = counts * (self.item_length + 1)
        query_end = query + 1 + self.item_length
        answer = query_end + int(self.close_query)
        lengths = answer + self.item_length

        inputs = torch.zeros(int(lengths.max()), len(counts), self.input_size)
        self._write_list(inputs, items, counts)
        sampling.put(inputs, query, self.bits + 1)
        if self.close_query:
            sampling.put(inputs, query_end, self.bits + 1)
        self._write_item(inputs, query + 1, items[queried, torch.arange(len(counts))])

        targets = torch.zeros(len(inputs), len(counts), self.output_size)
        self._write_item(targets, answer, items[queried + 1, torch.arange(len(counts))])
        return Batch(inputs, targets, sampling.between(answer, lengths), lengths)

    def _write_list(self, inputs: Tensor, items: Tensor, counts: Tensor) -> None:
        """Write every item after its delimiter, in place, at the start of the inputs."""
        most, period = int(counts.max()), self.item_length + 1
        listed = inputs[: most * period].view(most, period, len(counts), -1)
        listed[:, 1:, :, : self.bits] = items.transpose(1, 2)
        listed[:, 0, :, self.bits] = (sampling.time_steps(most) < counts).float()

    def _write_item(self, tensor: Tensor, start: Tensor, item: Tensor) -> None:
        """Write items, (batch, item_length, bits), from step `start[b]` on, in place."""
        step = start + sampling.time_steps(self.item_length)
        tensor[step, torch.arange(len(start)), : self.bits] = item.transpose(0, 1)

"""Dynamic n-grams (section 4.4): predict the bits of a source that is new in every sequence."""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import torch
from torch import Tensor

from ntm.common.fields import setting
from ntm.tasks import pictures
from ntm.tasks.base import Batch, Task, cost_in_bits
from ntm.tasks.pictures import Row
from ntm.tasks.problems import ProblemPart, Problems


@dataclass(frozen=True, kw_only=True)
class NGrams(Task):
    """See the bits of a random source one by one, and predict each next bit.

    The start of a sequence; the target is the input one step ahead:

        input    bit       . # # . # . . # # .
        target   next bit  # # . # . . # # . #

    The source of a sequence is a table with the probability of a one after each of the 2^context
    possible contexts. Each probability is drawn from Beta(1/2, 1/2). The first `context` bits are
    fair. A sequence of 200 bits has 199 predictions, of bits 2 to 200, all scored.

    No predictor that must learn the source from the sequence is better on average than
    `optimal_probabilities`. The best possible cost varies widely between sequences (standard
    deviation: 36 bits), so compare a network with `optimal_bits` of the same batch.
    """

    name: ClassVar[str] = "ngrams"
    axes: ClassVar[tuple[str, ...]] = ("length",)
    parts: ClassVar[tuple[ProblemPart, ...]] = (ProblemPart("bits", ("length",)),)

    length: int = setting(200, "bits per sequence", at_least=2)
    context: int = setting(
        5, "preceding bits that decide the probability of the next bit", at_least=0, at_most=16
    )

    @property
    def input_channels(self) -> tuple[str, ...]:
        """The observed bit."""
        return ("bit",)

    @property
    def output_channels(self) -> tuple[str, ...]:
        """The next bit."""
        return ("next bit",)

    @property
    def mean_scored_steps(self) -> float:
        """Number of predicted bits: all except the first."""
        return self.length - 1

    @property
    def longest(self) -> int:
        """Number of steps: one per prediction."""
        return self.length - 1

    def encode(self, problems: Problems) -> Batch:
        """Return a batch: bits 1 to length - 1 are the inputs, bits 2 to length the targets."""
        bits, lengths = problems.parts["bits"].unsqueeze(-1), problems.sizes["length"] - 1
        mask = torch.ones(self.longest, len(lengths))
        # Copies, so that a caller may change the inputs and keep the targets.
        return Batch(bits[:-1].clone(), bits[1:].clone(), mask, lengths)

    def optimal_probabilities(self, batch: Batch) -> Tensor:
        """Return the best possible P(next bit = 1) given the bits so far: (time, batch, 1).

        After N1 ones and N0 zeros in the present context, the probability is
        (N1 + 1/2) / (N1 + N0 + 1). Before the first full context, it is 1/2.
        """
        contexts = 2**self.context
        # Each sequence has one counter per context; `cell` is the counter of the present context.
        own = torch.arange(batch.batch_size, device=batch.inputs.device) * contexts
        ones = torch.full((batch.batch_size * contexts,), 0.5, device=own.device)
        seen = torch.ones_like(ones)
        cell, history = own, torch.zeros_like(own)
        probabilities = []
        for step, bit in enumerate(batch.inputs[..., 0].unbind()):
            if step >= self.context:
                ones[cell] += bit
                seen[cell] += 1
            history = (2 * history + bit.long()) % contexts
            cell = own + history
            probabilities.append(ones[cell] / seen[cell])
        return torch.stack(probabilities).unsqueeze(-1)

    @property
    def optimum(self) -> float:
        """Mean cost of the best predictor; accurate to 0.11 bits at the paper's sizes."""
        paper = (self.length, self.context) == (200, 5)
        return 131.89 if paper else _sampled_optimum(self)

    def picture(self, problem: Batch, logits: Tensor | None) -> list[Row]:
        """Return the rows; the last rows are the optimal and the predicted probabilities."""
        rows = super().picture(problem, logits)
        chances = {"optimal": self.optimal_probabilities(problem)}
        if logits is not None:
            chances["answer"] = torch.sigmoid(logits)
        for label, probabilities in chances.items():
            cells = "".join(pictures.bar(p, 0.0, 1.0) for p in probabilities.flatten().tolist())
            rows.append(Row("P(1)", label, cells))
        return rows

    def pose(self, batch_size: int, generator: torch.Generator) -> Problems:
        """Sample bits, from a new random source per sequence."""
        contexts = 2**self.context
        # Beta(1/2, 1/2) is the arcsine law: the squared sine of a uniform angle.
        angles = torch.rand(batch_size * contexts, generator=generator) * (math.pi / 2)
        table = angles.sin_().square_()
        chances = torch.rand(self.length, batch_size, generator=generator)
        own = torch.arange(batch_size) * contexts
        history = torch.zeros_like(own)
        fair = torch.full((batch_size,), 0.5)
        bits = []
        for step, chance in enumerate(chances.unbind()):
            odds = fair if step < self.context else table.index_select(0, own + history)
            bits.append(chance < odds)
            history = torch.add(bits[-1], history, alpha=2) & (contexts - 1)
        length = torch.full((batch_size,), self.length)
        return Problems({"length": length}, {"bits": torch.stack(bits).float()})


@lru_cache
def _sampled_optimum(task: NGrams) -> float:
    """Return the mean cost of the best predictor on 10,000 sequences."""
    batch = task.sample(10_000, torch.Generator().manual_seed(1))
    best = torch.logit(task.optimal_probabilities(batch))
    return float(cost_in_bits(best, batch).mean())

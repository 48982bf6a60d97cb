"""Several starts (sets of initial weights): each is trained for a while, the best one continues.

    ntm train associative-recall --starts 5 --set training.trial_sequences=20000

Each start has its own initial weights; all starts see the same data. A trial trains one start on
`training.trial_sequences` sequences and takes the lowest validation cost. The best start continues
from the end of its trial, with its optimiser state and schedule; the other starts are dropped.
The best weights of the run are then chosen from validations after the trials, because one good
validation at a high learning rate says little about a network. A start below `training.enough_bits`
continues at once; no further start is tried.

All trials count towards the run's sequences, seconds and learning curve, whose lines name their
`start`. This file holds the state of the trials; the loop is in `ntm.training.loop`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from torch import Tensor

from ntm.runs import TrainingSettings
from ntm.runs.checkpoints import under


@dataclass
class Starts:
    """State of the trials."""

    count: int
    """Number of starts to try."""
    length: int
    """Number of sequences per trial."""
    enough: float
    """Validation cost below which a start continues at once."""
    number: int = 0
    """Number of the current start, from 0."""
    others: int = 0
    """Number of sequences that all other starts were trained on."""
    bits: list[float] = field(default_factory=list)
    """Lowest validation cost of each completed trial."""
    facts: dict[str, Any] = field(default_factory=dict)
    """Facts about the best weights of the current start."""
    kept: dict[str, Any] = field(default_factory=dict)
    """Number of the best start so far, and its counters and `facts` at the end of its trial."""
    tensors: dict[str, Tensor] = field(default_factory=dict)
    """Tensors: state of the kept start (kept/...), best weights of the current one (best/...)."""

    @classmethod
    def of(cls, chosen: TrainingSettings) -> "Starts":
        """Return the trials of a new run."""
        count = chosen.starts if chosen.has_trials else 1
        return cls(count, chosen.trial_length, chosen.enough_bits)

    @property
    def deciding(self) -> bool:
        """Whether starts are still on trial."""
        return self.count > 1 and not self._decided

    @property
    def planned_others(self) -> int:
        """Number of sequences of the other starts at the end of the run if all starts are tried."""
        return self.length * (self.count - 1) if self.deciding else self.others

    def keep_best(self, weights: Mapping[str, Tensor], facts: Mapping[str, Any]) -> None:
        """Store the best weights so far of the current start."""
        self.facts = dict(facts)
        self._put("best/", weights)

    def end_trial(
        self, bits: float, counters: Mapping[str, Any], state: Mapping[str, Tensor]
    ) -> None:
        """Record the cost of the current start, and keep its state if it is the best so far."""
        self.bits.append(bits)
        if bits == min(self.bits) and self.bits.count(bits) == 1:
            self.kept = {"number": self.number, "counters": dict(counters), "facts": self.facts}
            best = {name: t for name, t in self.tensors.items() if name.startswith("best/")}
            self._put("kept/", {**state, **best})
        self.number = self.kept["number"] if self._decided else self.number + 1
        self.others = self.length * (len(self.bits) - self._decided)

    def release(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        """Return the facts and tensors of the kept start, and clear them here."""
        kept, tensors = self.kept, under("kept/", self.tensors)
        self.kept, self.facts, self.tensors = {}, {}, {}
        return kept, tensors

    @property
    def on_trial(self) -> int:
        """Number of the start on trial, from 1; 0 after the trials."""
        return self.number + 1 if self.deciding else 0

    def announcement(self, sequences: int) -> str:
        """Describe the planned trials.

        sequences: number of sequences to train the best start on, including its trial.
        """
        most = f"Up to {self.count}" if self.enough else f"{self.count}"
        until = f", until one is below {self.enough:g} bits in validation" if self.enough else ""
        end = f"continues to {sequences:,}" if sequences > self.length else "is the run's result"
        tried = f"{most} starts are tried, {self.length:,} sequences each{until}."
        return f"{tried} The best start {end}."

    def verdict(self) -> str:
        """Describe the result of the trials."""
        costs = ", ".join(f"{bits:.4g}" for bits in self.bits)
        untried = self.count - len(self.bits)
        why = f", which is good enough; starts not tried: {untried}" if untried else ""
        others = f" (all: {costs})" if len(self.bits) > 1 else ""
        return (
            f"Start {self.number + 1} is kept, with {min(self.bits):.4g} bits per sequence "
            f"in its best validation{others}{why}."
        )

    def values(self) -> dict[str, Any]:
        """Return all fields except the tensors, as JSON."""
        return {f.name: getattr(self, f.name) for f in fields(self) if f.name != "tensors"}

    @property
    def _decided(self) -> bool:
        return bool(self.bits) and (len(self.bits) == self.count or self.bits[-1] < self.enough)

    def _put(self, prefix: str, tensors: Mapping[str, Tensor]) -> None:
        """Replace the tensors under a prefix with copies of the given tensors."""
        others = {n: t for n, t in self.tensors.items() if not n.startswith(prefix)}
        copies = {prefix + name: tensor.detach().clone() for name, tensor in tensors.items()}
        self.tensors = others | copies

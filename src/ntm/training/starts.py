"""Several initialisations on trial: each is trained for a while, and the best goes on.

    ntm train associative-recall --starts 5 --set training.trial_sequences=20000

Each start has its own initial weights; all see the same data. Each is trained for
`training.trial_sequences` and judged by its lowest validation cost. The best continues from the end
of its trial, with its optimiser state and schedule; the others are dropped. The best weights of the
run are then chosen from what follows the trials, because one good validation at a high rate says
little about a network. A start below `training.enough_bits` continues at once; no other is tried.

All trials count in the run's sequences, its seconds and its learning curve, whose lines name their
`start`. The loop is in `ntm.training.loop`; this is what a run remembers of its trials.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from torch import Tensor

from ntm.runs import TrainingSettings
from ntm.runs.checkpoints import under


@dataclass
class Starts:
    """The trials so far."""

    count: int
    """Initialisations that may be tried."""
    length: int
    """Sequences of a trial."""
    enough: float
    """A start below this many bits goes on at once."""
    number: int = 0
    """The start that is being trained."""
    others: int = 0
    """Sequences that the other starts were trained on."""
    bits: list[float] = field(default_factory=list)
    """What each trial came to."""
    facts: dict[str, Any] = field(default_factory=dict)
    """What is known of the best weights that the present start has had."""
    kept: dict[str, Any] = field(default_factory=dict)
    """The counters of the best start so far at the end of its trial, and its `facts`."""
    tensors: dict[str, Tensor] = field(default_factory=dict)
    """kept/...: the state of that start; best/...: the best weights of the present one."""

    @classmethod
    def of(cls, chosen: TrainingSettings) -> "Starts":
        """The trials of a run that begins."""
        count = chosen.starts if chosen.has_trials else 1
        return cls(count, chosen.trial_length, chosen.enough_bits)

    @property
    def deciding(self) -> bool:
        """Whether starts are still on trial."""
        return self.count > 1 and not self._decided

    @property
    def planned_others(self) -> int:
        """Sequences of the other starts at the end, if every start that may be tried is."""
        return self.length * (self.count - 1) if self.deciding else self.others

    def keep_best(self, weights: Mapping[str, Tensor], facts: Mapping[str, Any]) -> None:
        """Remember the best weights so far of the start that is being trained."""
        self.facts = dict(facts)
        self._put("best/", weights)

    def end_trial(
        self, bits: float, counters: Mapping[str, Any], state: Mapping[str, Tensor]
    ) -> None:
        """Judge the start that is being trained, and keep it if it is the best so far."""
        self.bits.append(bits)
        if bits == min(self.bits) and self.bits.count(bits) == 1:
            self.kept = {"number": self.number, "counters": dict(counters), "facts": self.facts}
            best = {name: t for name, t in self.tensors.items() if name.startswith("best/")}
            self._put("kept/", {**state, **best})
        self.number = self.kept["number"] if self._decided else self.number + 1
        self.others = self.length * (len(self.bits) - self._decided)

    def release(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        """The start that goes on, which need not be kept any longer: its facts and tensors."""
        kept, tensors = self.kept, under("kept/", self.tensors)
        self.kept, self.facts, self.tensors = {}, {}, {}
        return kept, tensors

    @property
    def on_trial(self) -> int:
        """Which start is on trial, counted from 1; 0 when the trials are over."""
        return self.number + 1 if self.deciding else 0

    def announcement(self, sequences: int) -> str:
        """What the trials will do, in words; `sequences` are those of a start that is kept."""
        most = f"Up to {self.count}" if self.enough else f"{self.count}"
        until = f", until one is below {self.enough:g} bits in validation" if self.enough else ""
        end = f"goes on to {sequences:,}" if sequences > self.length else "is the run's result"
        tried = f"{most} starts are tried, {self.length:,} sequences each{until}."
        return f"{tried} The best of them {end}."

    def verdict(self) -> str:
        """What the trials came to, in words."""
        costs = ", ".join(f"{bits:.4g}" for bits in self.bits)
        untried = self.count - len(self.bits)
        why = f", which is good enough; starts not tried: {untried}" if untried else ""
        others = f" (all: {costs})" if len(self.bits) > 1 else ""
        return (
            f"Start {self.number + 1} is kept, with {min(self.bits):.4g} bits per sequence "
            f"in its best validation{others}{why}."
        )

    def values(self) -> dict[str, Any]:
        """All of it but the tensors, as JSON."""
        return {f.name: getattr(self, f.name) for f in fields(self) if f.name != "tensors"}

    @property
    def _decided(self) -> bool:
        return bool(self.bits) and (len(self.bits) == self.count or self.bits[-1] < self.enough)

    def _put(self, prefix: str, tensors: Mapping[str, Tensor]) -> None:
        """Replace the tensors under a prefix by copies of these."""
        others = {n: t for n, t in self.tensors.items() if not n.startswith(prefix)}
        copies = {prefix + name: tensor.detach().clone() for name, tensor in tensors.items()}
        self.tensors = others | copies

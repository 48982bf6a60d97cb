"""What the page says about tasks and models: the one place where it is written."""

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class TaskGuide:
    """How to draw a problem of a task, what to look for, and the frame of the paper's figure."""

    hint: str
    look_for: str
    sequences: int
    bits: tuple[float, float]

    @property
    def height(self) -> float:
        """The bits from the bottom of the frame to its top."""
        return self.bits[1] - self.bits[0]


@dataclass(frozen=True)
class ModelGuide:
    """What a model is called in a sentence and in a legend; its colours on light and on dark."""

    title: str
    short: str
    colours: tuple[str, str]


TASKS = {
    "copy": TaskGuide(
        hint="Click or drag over cells. The network hears this, then has to say it again.",
        look_for="while it listens, the write head gives every vector a location of its own. After "
        "the delimiter the read head goes back to the first of them and walks the same way again.",
        sequences=1_000_000,
        bits=(0, 10),
    ),
    "repeat-copy": TaskGuide(
        hint="Click or drag over cells. The network has to say this several times.",
        look_for="the sequence is written once. The read head then walks over it once per repeat, "
        "and jumps back to its start in between.",
        sequences=500_000,
        bits=(0, 200),
    ),
    "associative-recall": TaskGuide(
        hint="Draw items and choose the query; the answer is the item after it.",
        look_for="every item leaves its mark in memory. When the query comes, a head finds the "
        "place by content, shifts by one, and reads the item that came next.",
        sequences=1_000_000,
        bits=(0, 20),
    ),
    "ngrams": TaskGuide(
        hint="Bits, from left to right. The network has to predict each from those before it.",
        look_for="the next bit depends on the last few, so some locations are visited again "
        "whenever the same bits have come before: the network counts there.",
        sequences=1_000_000,
        bits=(130, 160),
    ),
    "priority-sort": TaskGuide(
        hint="Draw vectors, and drag their priorities: the answer begins with the highest.",
        look_for="vectors are written to places that depend on their priorities, and the places "
        "are then read in order.",
        sequences=1_000_000,
        bits=(0, 140),
    ),
}

MODELS = {
    "ntm-ff": ModelGuide(
        "NTM with a feedforward controller", "NTM, feedforward", ("#0072b2", "#63b8ec")
    ),
    "ntm-lstm": ModelGuide(
        "NTM with an LSTM controller", "NTM, LSTM controller", ("#007a59", "#3fd1a4")
    ),
    "lstm": ModelGuide("LSTM without memory", "LSTM", ("#c24e00", "#ff9a52")),
}


def to_json() -> dict[str, Any]:
    """All of it, as the page asks for it."""
    return {
        "tasks": {name: asdict(guide) for name, guide in TASKS.items()},
        "models": {name: asdict(guide) for name, guide in MODELS.items()},
    }

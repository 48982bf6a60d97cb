"""An experiment: everything that is known and asked of one task, as one value.

    register_experiment(Experiment(task="reverse", title="Reverse", cases=({}, {"length": 40})))

The experiments of the paper's section 4 are files beside this one. Code that needs a fact about a
task asks `experiment_of(name)`; code that wants all of them iterates over `experiments()`. A task
without an experiment gets one that holds nothing but its name: a learning curve, memory use, an
analysis that fits any task, and copy's networks.

What a page shows is plain data, which `Experiment.to_json` returns:

    task, title   "associative-recall", "Associative recall"
    hint          what to draw, as a sentence
    look_for      what to look for in the memory of a trained network
    drawing       how a problem is drawn, one of `Drawing`, for a task with fields and layout
                  of the paper's that is drawn so; null if it cannot be drawn
    frame         axes of the learning curves, {"sequences": 1000000, "bits": [0, 10]}; or null
    cases         sizes at which networks are evaluated, [{}, {"length": 120}]

Titles and colours of models belong to the model families.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from ntm.common.lazy import later
from ntm.evaluation.curves import CostCurve, read_curves
from ntm.tasks.cases import TRAINED_RANGE, Case

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ntm.evaluation.findings import Analysis
    from ntm.evaluation.recording import Recording
    from ntm.figures.runs import RunFolders

Changes = Mapping[str, Mapping[str, Any]]
"""Settings by section and name: {"training": {"sequences": 20_000}}."""
Drawing = Literal["vectors", "repeated vectors", "items", "bits", "priorities"]


ANY_ANALYSIS = later("ntm.evaluation.heads:analyse_any")


class Widths(NamedTuple):
    """Channels and shifts that the paper's parameter counts imply; its text has others."""

    inputs: int
    outputs: int
    shifts: tuple[int, ...] = (-3, -2, -1, 0, 1, 2, 3)


@dataclass(frozen=True)
class Plan:
    """One network of an experiment, and how it is trained."""

    sizes: Mapping[str, Any] = field(default_factory=dict)
    """Fields of its config."""
    learning_rate: float = 1e-4
    parameters: int | None = None
    """The parameter count that the paper prints."""
    start: Mapping[str, Any] = field(default_factory=dict)
    """How its weights begin, which the paper does not say."""
    tuned: Changes = field(default_factory=dict)
    """What `ntm train` changes in the paper's protocol."""
    quick: int = 2_000
    """Sequences of `ntm reproduce --quick`: 10 to 45 seconds of one core."""
    quick_batch: int = 1


class AbilityCase(NamedTuple):
    """What is measured of a network that comes with the package."""

    at: Case = TRAINED_RANGE
    memory_locations: int | None = None
    """The memory is enlarged to so many first; None leaves it as it was trained."""
    sequences: int = 200
    """Over how many problems."""


@dataclass(frozen=True)
class Goal:
    """Something that a run reaches or does not. Exactly one bound is given."""

    models: tuple[str, ...]
    at: Case = field(default_factory=dict)
    below: float | None = None
    """Fewer bits per sequence than this."""
    published: float | None = None
    """At most as many bits per sequence as in the paper, which are these."""
    perfect: float | None = None
    """At least this share of sequences without a wrong bit."""
    within: int | None = None
    """Training sequences by which it must be reached; None for all."""


class Beside(NamedTuple):
    """A table beside a figure."""

    kind: Literal["curves", "beyond", "published", "heads"]
    models: tuple[str, ...] = ()
    """Of these, the first that has a run."""


@dataclass(frozen=True)
class FigureSpec:
    """A figure: what it shows, how it is drawn, what the paper says of its own."""

    name: str
    """In words, "copy learning curves"; its file is named after it."""
    draw: "Callable[[Experiment, RunFolders], Figure]"
    number: int | None = None
    """In the paper."""
    caption: str = ""
    """What the paper says."""
    beside: tuple[Beside, ...] = ()

    @property
    def title(self) -> str:
        """What it shows, with its number in the paper: Figure 3: copy learning curves."""
        return self.name if self.number is None else f"Figure {self.number}: {self.name}"

    @property
    def stem(self) -> str:
        """The name of its file: figure-03-copy-learning-curves."""
        words = self.name.lower().replace("-", "").replace(" ", "-")
        return words if self.number is None else f"figure-{self.number:02d}-{words}"


def _figures_of_any_task(name: str) -> tuple[FigureSpec, ...]:
    curves = later("ntm.figures.kinds:learning")
    return (
        FigureSpec(f"{name} learning curves", curves, beside=(Beside("curves"),)),
        FigureSpec(f"{name} memory use", later("ntm.figures.kinds:memory")),
    )


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """What is known and asked of one task. All but its name has a default."""

    task: str
    title: str = ""
    networks: Mapping[str, Plan] = field(default_factory=dict)
    """By model; a model that is not named is trained as on copy."""
    widths: Widths | None = None
    sequences: int = 1_000_000
    """Where the paper's learning curves end."""
    cases: tuple[Case, ...] = (TRAINED_RANGE,)
    """Where costs are measured: the trained range first, then sizes beyond it."""
    abilities: tuple[AbilityCase, ...] = ()
    """What is measured of the networks in the package, beside the trained range."""
    threshold: float = 0.01
    """Bits per sequence: how soon a learning curve falls below is reported."""
    window: int = 1000
    """Sequences over which its cost is averaged for that."""
    goals: tuple[Goal, ...] = ()
    figures: tuple[FigureSpec, ...] = ()
    analysis: "Callable[[Recording], Analysis]" = ANY_ANALYSIS
    """What the heads do, as numbers."""
    frame: tuple[int, int] | None = None
    """Bits: the axis of the paper's figure of learning curves."""
    curves: Path | None = None
    """The paper's learning curves, a CSV file of series, x (thousands of sequences) and bits."""
    costs: Path | None = None
    """The paper's costs beyond the trained range, the same with sizes along an axis as x."""
    axis: str = ""
    """That axis."""
    hint: str = ""
    look_for: str = ""
    drawing: Drawing | None = None

    def __post_init__(self) -> None:
        if not self.title:
            object.__setattr__(self, "title", self.task.replace("-", " ").capitalize())
        if not self.figures:
            object.__setattr__(self, "figures", _figures_of_any_task(self.title.lower()))

    @property
    def paper_curves(self) -> dict[str, CostCurve]:
        """The paper's learning curves by model; with a known optimum also the curve "optimal"."""
        return read_curves(self.curves)

    @property
    def paper_costs(self) -> dict[str, CostCurve]:
        """The paper's costs along `axis`, by model."""
        return read_curves(self.costs)

    @property
    def beyond(self) -> tuple[Case, ...]:
        """The cases beyond the trained range."""
        return tuple(case for case in self.cases if case != TRAINED_RANGE)

    def to_json(self) -> dict[str, Any]:
        """What a page shows, as plain data; see the top of this file."""
        return {
            "task": self.task,
            "title": self.title,
            "hint": self.hint,
            "look_for": self.look_for,
            "drawing": self.drawing,
            "frame": self.frame and {"sequences": self.sequences, "bits": list(self.frame)},
            "cases": [dict(case) for case in self.cases],
        }

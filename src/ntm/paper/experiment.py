"""Experiments: networks, settings, goals, evaluation cases and figures of one task.

    register_experiment(Experiment(task="reverse", title="Reverse", cases=({}, {"length": 40})))

The experiments of the paper's section 4 are the files */experiment.toml in this folder.
`experiment_of(name)` returns the experiment of a task, `experiments()` returns all of them. A task
without an experiment gets the defaults: learning curves, memory use, an analysis that fits any
task, and copy's networks.

`Experiment.to_json` returns the plain data that pages show:

    task, title   "associative-recall", "Associative recall"
    hint          instruction for drawing a problem, as a sentence
    look_for      advice on what to look for in the memory of a trained network
    frame         axes of the learning curves, {"sequences": 1000000, "bits": [0, 10]}; or null
    cases         sizes at which networks are evaluated, [{}, {"length": 120}]

Titles and colours of models belong to the model families.
"""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from ntm.common.lazy import later
from ntm.evaluation.curves import CostCurve, read_curves
from ntm.evaluation.weightings import tells_modes
from ntm.tasks.cases import TRAINED_RANGE, Case

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ntm.evaluation.findings import Analysis
    from ntm.evaluation.recording import Recording
    from ntm.figures.runs import RunFolders

Changes = Mapping[str, Mapping[str, Any]]
"""Settings by section and name: {"training": {"sequences": 20_000}}."""

ANY_ANALYSIS = later("ntm.evaluation.findings:analyse_any")


class Widths(NamedTuple):
    """Channels and shifts implied by the paper's parameter counts. The paper's text differs."""

    inputs: int
    outputs: int
    shifts: tuple[int, ...] = (-3, -2, -1, 0, 1, 2, 3)


@dataclass(frozen=True)
class Plan:
    """Sizes and training settings of one network of an experiment."""

    sizes: Mapping[str, Any] = field(default_factory=dict)
    """Fields of the network's config."""
    learning_rate: float = 1e-4
    parameters: int | None = None
    """Parameter count printed in the paper."""
    start: Mapping[str, Any] = field(default_factory=dict)
    """Initialisation of the weights. The paper does not give it."""
    tuned: Changes = field(default_factory=dict)
    """Changes that `ntm train` makes to the paper's protocol."""
    quick: int = 2_000
    """Training sequences of `ntm reproduce --quick`: 10 to 45 seconds of one core."""
    quick_batch: int = 1


class AbilityCase(NamedTuple):
    """One measurement of a network that comes with the package."""

    at: Case = TRAINED_RANGE
    memory_locations: int | None = None
    """Memory size for the measurement (None: the size used in training)."""
    sequences: int = 200
    """Number of problems."""


@dataclass(frozen=True)
class Goal:
    """Bound that a run should reach. Exactly one of the three bounds is given."""

    models: tuple[str, ...]
    at: Case = field(default_factory=dict)
    below: float | None = None
    """Cost below this many bits per sequence."""
    published: float | None = None
    """Cost of at most this many bits per sequence, the paper's result."""
    perfect: float | None = None
    """At least this share of sequences without a wrong bit."""
    within: int | None = None
    """Training sequences allowed to reach the goal (None: all)."""


class Beside(NamedTuple):
    """Table beside a figure."""

    kind: Literal["curves", "beyond", "published", "heads"]
    models: tuple[str, ...] = ()
    """Models in order of preference: the table shows the first that has a run."""


@dataclass(frozen=True)
class FigureSpec:
    """Name, drawing function and caption of a figure."""

    name: str
    """Title in words, "copy learning curves". The file name is made from it."""
    draw: "Callable[[Experiment, RunFolders], Figure]"
    number: int | None = None
    """Number in the paper."""
    caption: str = ""
    """Statement of the paper about its figure."""
    beside: tuple[Beside, ...] = ()

    @property
    def title(self) -> str:
        """Name with the number in the paper: Figure 3: copy learning curves."""
        return self.name if self.number is None else f"Figure {self.number}: {self.name}"

    @property
    def stem(self) -> str:
        """File name without its suffix: figure-03-copy-learning-curves."""
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
    """Networks, settings, goals, evaluation cases and figures of one task."""

    task: str
    title: str = ""
    networks: Mapping[str, Plan] = field(default_factory=dict)
    """Networks by model. A model without an entry is trained as on copy."""
    widths: Widths | None = None
    sequences: int = 1_000_000
    """Number of sequences at the end of the paper's learning curves."""
    cases: tuple[Case, ...] = (TRAINED_RANGE,)
    """Sizes at which costs are measured: the trained range first, then larger sizes."""
    abilities: tuple[AbilityCase, ...] = ()
    """Measurements of the networks in the package, in addition to the trained range."""
    threshold: float = 0.01
    """Cost in bits per sequence; tables report when a learning curve first is below it."""
    window: int = 1000
    """Number of sequences over which the cost of a learning curve is averaged."""
    goals: tuple[Goal, ...] = ()
    figures: tuple[FigureSpec, ...] = ()
    analysis: "Callable[[Recording], Analysis]" = ANY_ANALYSIS
    """Function that measures the heads."""
    frame: tuple[int, int] | None = None
    """Range of the cost axis in the paper's figure of learning curves, in bits."""
    curves: Path | None = None
    """The paper's learning curves: a CSV file of series, x (thousands of sequences) and bits."""
    costs: Path | None = None
    """The paper's costs beyond the trained range: a CSV file of series, x (size) and bits."""
    axis: str = ""
    """Axis of the task along which `costs` are given, such as "items"."""
    hint: str = ""
    look_for: str = ""
    drawing: str | None = None
    """Ignored: the task declares how its problems are drawn (`Task.parts`)."""

    def __post_init__(self) -> None:
        if self.drawing is not None:
            said = f"Experiment.drawing is ignored; declare parts in the {self.task} task."
            warnings.warn(said, DeprecationWarning, stacklevel=3)
        if not self.title:
            object.__setattr__(self, "title", self.task.replace("-", " ").capitalize())
        if not self.figures:
            object.__setattr__(self, "figures", _figures_of_any_task(self.title.lower()))

    def analyse(self, recording: "Recording") -> "Analysis":
        """Measure the heads: with the task's analysis for NTMs, with a general one for others."""
        fitting = self.analysis if tells_modes(recording.trace) else ANY_ANALYSIS
        found: Analysis = fitting(recording)
        return found

    @property
    def paper_curves(self) -> dict[str, CostCurve]:
        """The paper's learning curves by model, and the curve "optimal" if the optimum is known."""
        return read_curves(self.curves)

    @property
    def paper_costs(self) -> dict[str, CostCurve]:
        """The paper's costs along `axis`, by model."""
        return read_curves(self.costs)

    @property
    def beyond(self) -> tuple[Case, ...]:
        """Cases beyond the trained range."""
        return tuple(case for case in self.cases if case != TRAINED_RANGE)

    def to_json(self) -> dict[str, Any]:
        """Return the plain data that pages show; see the top of this file."""
        return {
            "task": self.task,
            "title": self.title,
            "hint": self.hint,
            "look_for": self.look_for,
            "frame": self.frame and {"sequences": self.sequences, "bits": list(self.frame)},
            "cases": [dict(case) for case in self.cases],
        }

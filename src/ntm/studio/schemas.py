"""Schemas of requests and answers, from which the OpenAPI document is generated."""

from collections.abc import Iterable
from functools import partial
from typing import Annotated, Any, Literal

from fastapi import Path
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, WithJsonSchema

from ntm.models import MODELS
from ntm.studio.folder import NAME_PATTERN
from ntm.studio.problems import MAX_STEPS, Problem
from ntm.tasks import TASKS
from ntm.tasks.problems import PartKind


def _one_of(names: Iterable[str], name: str) -> str:
    if name not in names:
        raise ValueError(f"choose one of {', '.join(names)}")
    return name


Size = Annotated[int, Field(ge=1, le=MAX_STEPS)]
Seed = Annotated[int, Field(ge=0, le=2**31 - 1)]
Sequences = Annotated[int, Field(ge=0, le=2**53)]
NetworkId = Annotated[str, Field(min_length=1, max_length=120)]
NetworkPath = Annotated[str, Path(min_length=1, max_length=120)]
NamePath = Annotated[str, Path(pattern=NAME_PATTERN)]
TaskName = Annotated[
    str, AfterValidator(partial(_one_of, TASKS)), WithJsonSchema({"enum": list(TASKS)})
]
ModelName = Annotated[
    str, AfterValidator(partial(_one_of, MODELS)), WithJsonSchema({"enum": list(MODELS)})
]
Point = Annotated[list[int | float], Field(min_length=2, max_length=2)]
RunState = Literal["running", "stopped", "finished", "failed", "unreadable"]


class StrictRequest(BaseModel):
    """Body of a request. Unknown fields are errors, and so are values of another type."""

    model_config = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)


class ExampleRequest(StrictRequest):
    """Request for a random problem for a network; sizes: by axis (default: the usual sizes)."""

    network: NetworkId
    sizes: Annotated[dict[str, Size], Field(max_length=10)] = {}
    seed: Seed = 1


class TraceRequest(StrictRequest):
    """Request for a trace: a network, a drawn problem and the memory locations (None: as trained).

    The form of the problem depends on the network; see `ntm.studio.problems.form`.
    """

    network: NetworkId
    problem: Problem
    memory_locations: Annotated[int, Field(ge=1, le=2**20)] | None = None

    @property
    def order(self) -> tuple[str, Problem, int | None]:
        """Arguments of `Networks.trace`."""
        return self.network, self.problem, self.memory_locations


class ShareRequest(TraceRequest):
    """Request for a trace as a file that opens at a step and a head, both counted from 0."""

    step: Annotated[int, Field(ge=0, lt=MAX_STEPS)] = 0
    head: Annotated[int, Field(ge=0, lt=MAX_STEPS)] = 0

    @property
    def view(self) -> dict[str, int]:
        """Step and head at which the file opens, for `as_html`."""
        return {"step": self.step, "head": self.head}


class RunRequest(StrictRequest):
    """Request to start a run."""

    task: TaskName
    model: ModelName = next(iter(MODELS))
    seed: Seed = 1
    sequences: Annotated[int, Field(ge=1, le=10_000_000)] = 100_000
    name: Annotated[str, Field(pattern=NAME_PATTERN)] | None = None


class ResumeRequest(StrictRequest):
    """Request to resume a run, up to this many sequences over all starts (None: as planned)."""

    sequences: Annotated[int, Field(ge=1, le=10_000_000)] | None = None


class CurvesRequest(StrictRequest):
    """Names of runs, each with the number of sequences after which points are requested."""

    after: Annotated[dict[str, Sequences], Field(max_length=2000)]


class Refusal(BaseModel):
    """Answer to a request that is not accepted: a sentence with the reason."""

    error: str


class ExampleAnswer(BaseModel):
    """Random problem, in the form in which a person draws it."""

    problem: Problem


class SizeRange(BaseModel):
    """Sizes that the page offers along one axis of a task."""

    min: int
    max: int
    trained: Annotated[list[int], Field(min_length=2, max_length=2)]
    default: int


class FormPart(BaseModel):
    """Part of a drawing; see `ntm.tasks.problems`."""

    name: str
    kind: PartKind
    axis: str
    shape: list[int]


class ProblemForm(BaseModel):
    """Facts about a task for the drawing pane; see `ntm.studio.problems.form`."""

    parts: list[FormPart]
    context: int
    sizes: dict[str, SizeRange]


class Limits(BaseModel):
    """Largest sizes of a problem and its memory (None: the memory cannot grow)."""

    max_steps: int
    max_locations: int | None
    max_location_steps: int | None


class NetworkListed(BaseModel):
    """Network on which problems can be tried."""

    id: str
    title: str
    task: str
    model: str
    sequences: int | None
    bits: float | None
    memory_locations: int | None
    limits: Limits
    problem: ProblemForm


class TraceDocument(BaseModel):
    """A trace; `ntm.studio.documents` describes all fields."""

    model_config = ConfigDict(extra="allow")

    format: Literal[3]
    steps: int
    outputs: dict[str, Any]


class RunListed(BaseModel):
    """Run of the folder; `at_most`: `total` is an upper limit, because not every start may run."""

    name: str
    state: RunState
    task: str | None = None
    model: str | None = None
    seed: int | None = None
    reason: str | None = None
    sequences: int = 0
    bits: float | None = None
    total: int | None = None
    at_most: bool = False
    can_stop: bool = False
    speed: float | None = None


class RunsAnswer(BaseModel):
    """Runs of the folder. FolderAnswer explains `whole` and `read`."""

    runs: list[RunListed]
    whole: bool
    read: bool


class FolderAnswer(BaseModel):
    """Whether the lists of runs and saved traces are complete.

    whole: whether all runs and traces are listed; a very large folder is listed in part.
    read: whether all listed runs were read; if not, the list will grow.
    """

    whole: bool
    read: bool


class Curve(BaseModel):
    """New points of a learning curve; if `generation` has changed, drop the earlier points."""

    points: list[Point]
    generation: int


class CurveAnswer(Curve):
    """New points of a learning curve, and the state of the run."""

    state: RunState
    reason: str | None
    sequences: int
    total: int | None
    at_most: bool
    can_stop: bool


class RunName(BaseModel):
    """Name of a run."""

    name: str


class Deleted(RunName):
    """Run that is no longer in the folder; `was_there`: whether this request removed it."""

    was_there: bool

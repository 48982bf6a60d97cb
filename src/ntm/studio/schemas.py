"""What requests and answers look like; the OpenAPI document is made from this."""

from collections.abc import Iterable
from functools import partial
from typing import Annotated, Any, Literal

from fastapi import Path
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, WithJsonSchema

from ntm.models import MODELS
from ntm.studio.folder import NAME_PATTERN
from ntm.studio.problems import MAX_STEPS, AnyProblem, Problem
from ntm.tasks import TASKS


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
State = Literal["running", "stopped", "finished", "failed", "unreadable"]


class Request(BaseModel):
    """A body that was sent: what it does not declare is refused, and nothing is converted."""

    model_config = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)


class ExampleRequest(Request):
    """A random problem for a network, of the given sizes or those of its training."""

    network: NetworkId
    length: Size | None = None
    repeats: Size | None = None
    items: Size | None = None
    seed: Seed = 1

    @property
    def sizes(self) -> dict[str, int]:
        """The sizes that are given."""
        known = {"length": self.length, "repeats": self.repeats, "items": self.items}
        return {axis: size for axis, size in known.items() if size is not None}


class TraceRequest(Request):
    """A network, a drawn problem and, for an NTM, a memory larger than the trained one."""

    network: NetworkId
    problem: AnyProblem
    memory_locations: Annotated[int, Field(ge=1, le=2**20)] | None = None

    @property
    def order(self) -> tuple[str, Problem, int | None]:
        """All of it, for `Networks.trace`."""
        return self.network, self.problem, self.memory_locations


class ShareRequest(TraceRequest):
    """The same as a file, which opens at a step and a head; both count from 0."""

    step: Annotated[int, Field(ge=0, lt=MAX_STEPS)] = 0
    head: Annotated[int, Field(ge=0, lt=MAX_STEPS)] = 0

    @property
    def view(self) -> dict[str, int]:
        """Where it opens, for `as_html`."""
        return {"step": self.step, "head": self.head}


class RunRequest(Request):
    """A run to start."""

    task: TaskName
    model: ModelName = next(iter(MODELS))
    seed: Seed = 1
    sequences: Annotated[int, Field(ge=1, le=10_000_000)] = 100_000
    name: Annotated[str, Field(pattern=NAME_PATTERN)] | None = None


class ResumeRequest(Request):
    """A run to resume, up to so many sequences altogether; by default those it was started with."""

    sequences: Annotated[int, Field(ge=1, le=10_000_000)] | None = None


class CurvesRequest(Request):
    """Runs, and the sequences up to which their curves are known."""

    after: Annotated[dict[str, Sequences], Field(max_length=2000)]


class Refusal(BaseModel):
    """Why a request was not granted."""

    error: str


class ExampleAnswer(BaseModel):
    """A drawn problem."""

    problem: AnyProblem


class SizeRange(BaseModel):
    """What the page offers along one axis of a task."""

    min: int
    max: int
    trained: Annotated[list[int], Field(min_length=2, max_length=2)]
    default: int


class ProblemForm(BaseModel):
    """What the drawing pane needs to know; see `ntm.studio.drawings.form`."""

    fields: list[str]
    bits: int
    item_length: int
    context: int
    sizes: dict[str, SizeRange]


class Limits(BaseModel):
    """The largest that is accepted."""

    max_steps: int
    max_locations: int | None
    max_location_steps: int | None


class NetworkListed(BaseModel):
    """A network to play with."""

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
    """See `ntm.studio.documents` for all of it."""

    model_config = ConfigDict(extra="allow")

    format: Literal[2]
    steps: int
    outputs: dict[str, Any]


class RunListed(BaseModel):
    """A run of the folder. The total is `at_most` so many while several starts are on trial."""

    name: str
    state: State
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
    """The runs of the folder; of a very large one, some, and not at once. See FolderAnswer."""

    runs: list[RunListed]
    whole: bool
    read: bool


class FolderAnswer(BaseModel):
    """Whether all runs and saved traces of the folder are listed; of a very large one, some are.

    read: whether all runs that are listed were read; otherwise the list will grow.
    """

    whole: bool
    read: bool


class Curve(BaseModel):
    """New points of a learning curve. Another generation than before: the curve starts again."""

    points: list[Point]
    generation: int


class CurveAnswer(Curve):
    """New points, and where the run stands."""

    state: State
    reason: str | None
    sequences: int
    total: int | None
    at_most: bool
    can_stop: bool


class RunName(BaseModel):
    """The name of a run."""

    name: str


class Deleted(RunName):
    """A run that is not in the folder any more, and whether this request took it out."""

    was_there: bool

"""Problems that a person draws, and their conversion to batches and back.

    vectors             {"vectors": [[0, 1, ...], ...]}
    repeated vectors    {"vectors": ..., "repeats": 3}
    items               {"items": [[[0, 1, ...], ...], ...], "query": 0}
    bits                {"bits": [0, 1, ...]}
    priorities          {"vectors": ..., "priorities": [0.3, ...]}

The `drawing` of a task's experiment names the kind of its problems. This module repeats no
encoding: the task makes an example of the right size, with the delimiters, numbers and scored
steps of its settings, and the drawing is painted over the example.
"""

from abc import abstractmethod
from collections.abc import Mapping
from itertools import pairwise
from typing import Annotated, Any, Self

import torch
from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag
from torch import Tensor

from ntm.paper.experiment import Drawing
from ntm.studio.errors import RefusedError
from ntm.tasks import Batch

MAX_STEPS = 1000
MAX_CELLS = 100_000  # steps times channels, of a problem, its target or its answer

Bit = Annotated[int, Field(ge=0, le=1)]
Vector = Annotated[list[Bit], Field(min_length=1, max_length=MAX_CELLS)]
Vectors = Annotated[list[Vector], Field(min_length=1, max_length=MAX_STEPS)]
Priority = Annotated[float, Field(ge=-1, le=1)]


class Problem(BaseModel):
    """One drawn problem. The `task` argument of the methods must fit the subclass."""

    model_config = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)

    @property
    @abstractmethod
    def sizes(self) -> dict[str, int]:
        """Size of the problem along each axis of the task."""

    @abstractmethod
    def paint(self, task: Any, example: Batch) -> None:
        """Paint the drawing over an example of the same size; refuse a drawing that cannot fit."""

    @classmethod
    @abstractmethod
    def read(cls, task: Any, example: Batch) -> Self:
        """Return the drawing of an example, a batch of one: the inverse of `paint`."""

    @staticmethod
    @abstractmethod
    def steps(task: Any) -> int:
        """Return the number of steps of the longest problem that the task samples."""


class CopyProblem(Problem):
    """Vectors to repeat once."""

    vectors: Vectors

    @property
    def sizes(self) -> dict[str, int]:
        """Number of vectors."""
        return {"length": len(self.vectors)}

    def paint(self, task: Any, example: Batch) -> None:
        """Paint the vectors before the delimiter as inputs, and after it as targets."""
        vectors, first = _tensor(self.vectors, task.bits), int(task.start_delimiter)
        example.inputs[first : first + len(vectors), 0, : task.bits] = vectors
        _answer(example)[: len(vectors), : task.bits] = vectors

    @classmethod
    def read(cls, task: Any, example: Batch) -> Self:
        """Read the vectors up to the delimiter, which is one step before the answer."""
        steps = slice(int(task.start_delimiter), _answer_start(example) - 1)
        return cls(vectors=_bits(example.inputs[steps, 0, : task.bits]))

    @staticmethod
    def steps(task: Any) -> int:
        """Count delimiters, vectors, repeated vectors and marker."""
        return int(task.start_delimiter + 2 * task.max_length + 1 + task.end_marker)


class RepeatCopyProblem(Problem):
    """Vectors to repeat several times."""

    vectors: Vectors
    repeats: Annotated[int, Field(ge=1, le=MAX_STEPS)]

    @property
    def sizes(self) -> dict[str, int]:
        """Number of vectors and of repeats."""
        return {"length": len(self.vectors), "repeats": self.repeats}

    def paint(self, task: Any, example: Batch) -> None:
        """Paint the vectors before the number as inputs, and repeatedly after it as targets."""
        vectors, first = _tensor(self.vectors, task.bits), int(task.delimiter == "start")
        example.inputs[first : first + len(vectors), 0, : task.bits] = vectors
        _answer(example)[:-1, : task.bits] = vectors.repeat(self.repeats, 1)

    @classmethod
    def read(cls, task: Any, example: Batch) -> Self:
        """Read the vectors up to the number, which is one step before the answer."""
        steps = slice(int(task.delimiter == "start"), _answer_start(example) - 1)
        vectors = _bits(example.inputs[steps, 0, : task.bits])
        return cls(vectors=vectors, repeats=(int(example.mask.sum()) - 1) // len(vectors))

    @staticmethod
    def steps(task: Any) -> int:
        """Count delimiter, vectors, number, answer and marker."""
        answer = task.max_length * task.max_repeats
        return int((task.delimiter == "start") + task.max_length + 1 + answer + 1)


class RecallProblem(Problem):
    """A list of items of a few vectors each, and the index of the query, from 0."""

    items: Annotated[list[Vectors], Field(min_length=2, max_length=MAX_STEPS)]
    query: Annotated[int, Field(ge=0, le=MAX_STEPS)]

    @property
    def sizes(self) -> dict[str, int]:
        """Number of items."""
        return {"items": len(self.items)}

    def paint(self, task: Any, example: Batch) -> None:
        """Paint the items, the query, and the item after the query as the answer."""
        if self.query > len(self.items) - 2:
            raise RefusedError(
                422, f"query is {self.query}; give any item but the last of {len(self.items)}."
            )
        if any(len(item) != task.item_length for item in self.items):
            raise RefusedError(422, f"Every item must have {task.item_length} vectors here.")
        items = torch.stack([_tensor(item, task.bits) for item in self.items])
        listed, query = self._places(task, example)
        listed[:], query[:] = items, items[self.query]
        _answer(example)[:] = items[self.query + 1]

    @classmethod
    def read(cls, task: Any, example: Batch) -> Self:
        """Read the items, and find the query by its answer too, as two items may be equal."""
        items, query = (_bits(place) for place in cls._places(task, example))
        return cls(items=items, query=list(pairwise(items)).index((query, _bits(_answer(example)))))

    @staticmethod
    def _places(task: Any, example: Batch) -> tuple[Tensor, Tensor]:
        """Return views: items, (items, item_length, bits), and query, (item_length, bits)."""
        bits, period = example.inputs[:, 0, : task.bits], task.item_length + 1
        query = _answer_start(example) - task.close_query - period
        listed = bits[:query].view(-1, period, task.bits)
        return listed[:, 1:], bits[query + 1 : query + period]

    @staticmethod
    def steps(task: Any) -> int:
        """Count items and query with their delimiters, the closing delimiter and the answer."""
        period = task.item_length + 1
        return int((task.max_items + 1) * period + task.close_query + task.item_length)


class NGramsProblem(Problem):
    """Bits; each is predicted from the bits before it."""

    bits: Annotated[list[Bit], Field(min_length=2, max_length=MAX_STEPS + 1)]

    @property
    def sizes(self) -> dict[str, int]:
        """Number of bits."""
        return {"length": len(self.bits)}

    def paint(self, task: Any, example: Batch) -> None:  # noqa: ARG002  # any bits fit
        """Paint all bits but the last as inputs, and all bits but the first as targets."""
        bits = torch.tensor(self.bits).float()
        example.inputs[:, 0, 0], example.targets[:, 0, 0] = bits[:-1], bits[1:]

    @classmethod
    def read(cls, task: Any, example: Batch) -> Self:  # noqa: ARG003  # as paint
        """Read the inputs and the last target."""
        return cls(bits=_bits(torch.cat([example.inputs[:, 0, 0], example.targets[-1:, 0, 0]])))

    @staticmethod
    def steps(task: Any) -> int:
        """Count the predictions."""
        return int(task.length) - 1


class SortProblem(Problem):
    """Vectors with a priority each."""

    vectors: Vectors
    priorities: Annotated[list[Priority], Field(min_length=1, max_length=MAX_STEPS)]

    @property
    def sizes(self) -> dict[str, int]:
        """Number of vectors."""
        return {"length": len(self.vectors)}

    def paint(self, task: Any, example: Batch) -> None:
        """Paint the vectors of highest priority as answers; of equal ones the earlier is first."""
        if len(self.priorities) != len(self.vectors):
            raise RefusedError(422, "Give as many priorities as there are vectors.")
        vectors, priorities = _tensor(self.vectors, task.bits), torch.tensor(self.priorities)
        shown, answer = example.inputs[: len(vectors), 0], _answer(example)
        shown[:, : task.bits], shown[:, task.bits] = vectors, priorities
        answer[:] = vectors[priorities.argsort(descending=True, stable=True)[: len(answer)]]

    @classmethod
    def read(cls, task: Any, example: Batch) -> Self:
        """Read vectors and priorities up to the delimiter, which is one step before the answer."""
        shown = example.inputs[: _answer_start(example) - 1, 0]
        return cls(vectors=_bits(shown[:, : task.bits]), priorities=shown[:, task.bits].tolist())

    @staticmethod
    def steps(task: Any) -> int:
        """Count vectors, delimiter and answers."""
        return int(task.length + 1 + task.answers)


PROBLEMS: dict[Drawing, type[Problem]] = {
    "vectors": CopyProblem,
    "repeated vectors": RepeatCopyProblem,
    "items": RecallProblem,
    "bits": NGramsProblem,
    "priorities": SortProblem,
}

# Keys that only one kind of drawing has.
_MARKS = {
    "priorities": SortProblem,
    "repeats": RepeatCopyProblem,
    "items": RecallProblem,
    "bits": NGramsProblem,
}


def _kind(problem: Any) -> str:
    """Return the name of a drawing's class, recognised by its keys."""
    keys = vars(problem) if isinstance(problem, Problem) else problem
    marks = _MARKS if isinstance(keys, Mapping) else {}
    return next((kind for mark, kind in marks.items() if mark in keys), CopyProblem).__name__


AnyProblem = Annotated[
    Annotated[CopyProblem, Tag("CopyProblem")]
    | Annotated[RepeatCopyProblem, Tag("RepeatCopyProblem")]
    | Annotated[RecallProblem, Tag("RecallProblem")]
    | Annotated[NGramsProblem, Tag("NGramsProblem")]
    | Annotated[SortProblem, Tag("SortProblem")],
    Discriminator(_kind),
]


def _answer_start(example: Batch) -> int:
    """Return the first scored step."""
    return int(example.mask[:, 0].argmax())


def _answer(example: Batch) -> Tensor:
    """Return a view of the targets of the scored steps, the last ones: (steps, output_size)."""
    return example.targets[_answer_start(example) :, 0]


def _bits(values: Tensor) -> Any:
    """Return a tensor of zeros and ones as nested lists of integers."""
    return values.int().tolist()


def _tensor(vectors: list[list[int]], bits: int) -> Tensor:
    """Return vectors, (vectors, bits), as a tensor of floats."""
    if any(len(vector) != bits for vector in vectors):
        raise RefusedError(422, f"Every vector must have {bits} bits, as in training.")
    return torch.tensor(vectors).float()

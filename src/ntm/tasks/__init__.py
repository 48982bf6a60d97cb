"""The five tasks of the paper's section 4, and a registry for your own tasks.

    task = make_task("copy", max_length=10)
    batch = task.sample(256, torch.Generator().manual_seed(1))
    logits, _ = net(batch.inputs, lengths=batch.lengths)
    cost_in_bits(logits, batch)

No task imports a model.
"""

from typing import Any, TypeVar

from ntm.common.channels import ChannelKind
from ntm.common.fields import named_field, setting
from ntm.common.registry import Registry
from ntm.tasks.associative_recall import AssociativeRecall
from ntm.tasks.base import (
    Batch,
    SymbolBatch,
    Task,
    bit_names,
    cost_in_bits,
    wrong_bits,
)
from ntm.tasks.checks import check_batch
from ntm.tasks.collecting import examples_from
from ntm.tasks.copy import Copy
from ntm.tasks.examples import Examples
from ntm.tasks.lines import DataError
from ntm.tasks.ngrams import NGrams
from ntm.tasks.outputs import OUTPUTS, Outputs
from ntm.tasks.priority_sort import PrioritySort
from ntm.tasks.problems import ProblemPart, Problems
from ntm.tasks.repeat_copy import RepeatCopy
from ntm.tasks.sampling import (
    between,
    put,
    random_bits,
    random_integers,
    random_sequences,
    take_steps,
    time_steps,
)

__all__ = [
    "OUTPUTS",
    "TASKS",
    "AssociativeRecall",
    "Batch",
    "ChannelKind",
    "Copy",
    "DataError",
    "Examples",
    "NGrams",
    "Outputs",
    "PrioritySort",
    "ProblemPart",
    "Problems",
    "RepeatCopy",
    "SymbolBatch",
    "Task",
    "between",
    "bit_names",
    "check_batch",
    "cost_in_bits",
    "examples_from",
    "make_task",
    "put",
    "random_bits",
    "random_integers",
    "random_sequences",
    "register",
    "setting",
    "take_steps",
    "time_steps",
    "wrong_bits",
]

TaskClass = TypeVar("TaskClass", bound=type[Task])


def _require_task(task_class: object) -> None:
    if not (isinstance(task_class, type) and issubclass(task_class, Task)):
        raise TypeError(f"{task_class!r} is not a task; register a subclass of ntm.tasks.Task.")
    name = getattr(task_class, "name", None)
    if not isinstance(name, str) or not name:
        raise ValueError(
            f"The task {task_class.__qualname__} has no name; give it one, "
            f'such as `name: ClassVar[str] = "reverse"`.'
        )


TASKS: Registry[type[Task]] = Registry("task", "ntm.tasks", _require_task)


def register(task_class: TaskClass) -> TaskClass:
    """Register a task under its name, for `make_task`. Use this as a class decorator.

    Each name belongs to one class. Running the same definition again, as in a notebook, replaces
    the class.
    """
    _require_task(task_class)
    TASKS.add(task_class.name, task_class)
    return task_class


def make_task(name: str, **settings: Any) -> Task:
    """Return the task with this name, or of a Python file with this path, with these settings."""
    task_class = TASKS.find(name)
    for key in settings:
        named_field(task_class, f"the {name} task", key)
    return task_class(**settings)


# Found by name, for run folders, but not listed: `examples_from` makes such a task from a file.
TASKS.add(Examples.name, Examples, listed=False)

for _task_class in (Copy, RepeatCopy, AssociativeRecall, NGrams, PrioritySort):
    register(_task_class)

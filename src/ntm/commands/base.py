"""Shared parts of the commands: options, errors and output."""

import argparse
import importlib
import json
import math
import shlex
import sys
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ntm

if TYPE_CHECKING:
    from ntm.models import Family, Model
    from ntm.runs import Run
    from ntm.tasks import Examples, Task

FAILED, WRONG_CALL, INTERRUPTED = 1, 2, 130
"""Exit codes; 0 means done."""
AXES = ("length", "repeats", "items")
"""Axes of the paper's tasks, listed here because importing the tasks imports torch."""


class WrongCallError(Exception):
    """Error for an invalid call of a command; the message says what is wrong."""


@contextmanager
def reading_arguments() -> Iterator[None]:
    """Turn a TypeError or ValueError in this context into a WrongCallError."""
    try:
        yield
    except (TypeError, ValueError) as error:
        raise WrongCallError(str(error)) from error


def task_names() -> list[str]:
    """Return the names of the paper's tasks and of tasks from other packages.

    The names come from the TOML files of the experiments and from entry points: importing the
    tasks would take longer.
    """
    return [*(experiment["task"] for experiment in _experiments()), *_brought("ntm.tasks")]


def model_names() -> list[str]:
    """Return the names of the paper's models and of models from other packages."""
    named = dict.fromkeys(model for e in _experiments() for model in e["networks"])
    return [*named, *_brought("ntm.families")]


@cache
def _experiments() -> list[dict[str, Any]]:
    folder = Path(ntm.__file__).parent / "paper"
    files = [tomllib.loads(file.read_text()) for file in folder.glob("*/experiment.toml")]
    found = [file for file in files if "networks" in file]
    return sorted(found, key=lambda file: file["figures"][0]["number"])


def _brought(group: str) -> list[str]:
    return [point.name for point in _entry_points().select(group=group)]


@cache
def _entry_points() -> Any:  # its class depends on the Python version
    """Return the entry points of all packages, which take a while to read."""
    return entry_points()


def add_code(parser: argparse.ArgumentParser, what: str) -> None:
    """Add the option --code, whose files `load_code` imports."""
    text = f"Python file that registers your own task or model{what}"
    parser.add_argument("--code", type=Path, action="append", default=[], metavar="FILE", help=text)


def load_code(options: argparse.Namespace) -> None:
    """Import the files that --code names."""
    from ntm.common.registry import load_file

    for file in options.code:
        load_file(file)


def add_json(parser: argparse.ArgumentParser) -> None:
    """Add the option --json."""
    parser.add_argument("--json", action="store_true", help="print only JSON")


NET = "run folder, saved network, or packaged network such as copy-ff"


def add_saved(parser: argparse.ArgumentParser) -> None:
    """Add --task, --set and --model, for networks that `save_pretrained` wrote."""
    add = parser.add_argument
    add("--task", help="task, if a saved network records none: a name or a Python file")
    add(
        "--set",
        action="append",
        default=[],
        metavar="task.KEY=VALUE",
        help="change a setting of the task",
    )
    add("--model", help="for a saved network of your own class: its model name or Python file")


def opened(name: str, options: argparse.Namespace) -> "Run":
    """Open the network with this name as a run."""
    from ntm.runs.opening import open_run

    with reading_arguments():
        task, family = saved_as(options)
    return open_run(name, task, family)


def examples_of(run: "Run") -> "Examples":
    """Return the task of a run on a file of examples; raise WrongCallError for other runs."""
    from ntm.tasks import Examples

    task = run.settings.task
    if not isinstance(task, Examples):
        raise WrongCallError(
            f"{run.path.name} was trained on the {task.name} task; name a run that was trained on "
            f"a file of examples."
        )
    return task


def saved_as(options: argparse.Namespace) -> tuple["Task | None", "Family | None"]:
    """Return the task and the family given by --task, --set and --model; None if not given."""
    from ntm.models import family

    return _named_task(options), None if options.model is None else family(options.model)


def _named_task(options: argparse.Namespace) -> "Task | None":
    from dataclasses import replace

    from ntm.common.fields import parsed
    from ntm.tasks import make_task

    if options.task is None:
        if options.set:
            raise ValueError(
                f"--set {options.set[0]} needs --task, the task whose setting it changes."
            )
        return None
    task, changes = make_task(options.task), {}
    for key, text in set_pairs(options.set):
        section, _, name = key.partition(".")
        if section != "task":
            raise ValueError(f"Only settings of the task can be set here, task.KEY; got {key!r}.")
        changes[name] = parsed(type(task), section, name, text)
    return replace(task, **changes)


def set_pairs(texts: Sequence[str]) -> list[tuple[str, str]]:
    """Split the values of --set into names of settings and their text."""
    pairs = [text.partition("=") for text in texts]
    for text, (_, equals, _) in zip(texts, pairs, strict=True):
        if not equals:
            raise ValueError(f"--set takes SECTION.KEY=VALUE, such as task.bits=6; got {text!r}.")
    return [(key.strip(), value) for key, _, value in pairs]


def add_sequences(parser: argparse.ArgumentParser, sequences: int) -> None:
    """Add the network argument, --sequences and --seed."""
    add = parser.add_argument
    add("run", metavar="NET", help=NET)
    add("--sequences", type=int, default=sequences, help=f"fresh sequences (default: {sequences})")
    add("--seed", type=int, default=1, help="random seed of the sequences (default: 1)")


def add_axes(parser: argparse.ArgumentParser) -> None:
    """Add options for the sizes of a problem, and --memory-locations."""
    for axis in AXES:
        text = f"set the {axis} of each problem; may exceed the training range"
        parser.add_argument(f"--{axis}", type=int, help=text)
    text = "set another size of your own task, such as depth=3"
    parser.add_argument("--at", action="append", metavar="AXIS=N", help=text)
    parser.add_argument(
        "--memory-locations", type=int, metavar="N", help="enlarge the memory to N locations first"
    )


def axes_given(options: argparse.Namespace) -> dict[str, int]:
    """Return the sizes that the options give, by axis."""
    given = {axis: getattr(options, axis) for axis in AXES}
    known = {axis: value for axis, value in given.items() if value is not None}
    return known | dict(map(_axis, options.at or ()))


def _axis(text: str) -> tuple[str, int]:
    axis, _, value = text.partition("=")
    try:
        return axis.strip(), int(value)
    except ValueError as error:
        raise WrongCallError(f"--at takes AXIS=N, such as depth=5; got {text!r}.") from error


def resized_for(task: "Task", model: "Model", options: argparse.Namespace) -> "Model":
    """Return the model with the memory size of the options; note if a problem does not fit."""
    from ntm.evaluation import resized
    from ntm.models import family_of

    model = resized(model, options.memory_locations)
    locations = family_of(model).describe(model.config).locations or math.inf
    for axis, size in axes_given(options).items():
        # A task whose usual problems exceed the memory does not need one location per vector.
        if axis != "repeats" and task.trained_range(axis)[1] <= locations < size:
            print(
                f"Note: --{axis} {size} is more than the {locations} locations of the memory; "
                f"--memory-locations {1 << size.bit_length()} enlarges it.",
                file=sys.stderr,
            )
    return model


def require_at_least_one(**options: int | None) -> None:
    """Raise WrongCallError if a count is below 1."""
    for name, value in options.items():
        if value is not None and value < 1:
            given = name.replace("_", "-")
            raise WrongCallError(f"--{given} must be at least 1; got {value}.")


def quoted(path: Path) -> str:
    """Quote a path for a shell command."""
    return shlex.quote(str(path))


def print_json(data: Any) -> None:
    """Print plain data as JSON."""
    print(json.dumps(data, indent=2))


def print_facts(facts: dict[str, Any], as_json: bool) -> None:
    """Print names and values, as a table or as JSON."""
    if as_json:
        print_json(facts)
        return
    print_table([(name.replace("_", " "), _readable(value)) for name, value in facts.items()])


def print_table(rows: Sequence[tuple[str, ...]], texts: int = 9) -> None:
    """Print aligned columns: `texts` columns of words, then right-aligned numbers."""
    from ntm.terminal.table import Table

    print(Table("", (), rows, texts).as_text())


def with_extra(module: str, what: str, extra: str) -> Any:
    """Import and return a module that needs an extra; an error says what to install."""
    from ntm.runs import RunError

    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise RunError(
            f"{what} ({error}): pip install 'neural-turing-machines[{extra}]'"
        ) from error


def with_matplotlib(module: str) -> Any:
    """Import and return a module that needs matplotlib; an error says what to install."""
    return with_extra(module, "Figures need matplotlib", "figures")


def _readable(value: Any) -> str:
    from ntm.common.fields import as_text

    if isinstance(value, float):
        return f"{value:.4f}"
    return f"{value:,}" if type(value) is int else as_text(value)

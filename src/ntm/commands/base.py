"""Shared parts of the commands: reading arguments and printing facts."""

import argparse
import importlib
import json
import math
import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ntm.common.fields import as_text

if TYPE_CHECKING:
    from ntm.models import Family, Model
    from ntm.runs import Run
    from ntm.tasks import Task

AXES = ("length", "repeats", "items")
"""Those of the paper's tasks, without a look at the tasks, which import torch; --at has others."""


class WrongCallError(Exception):
    """The command cannot mean what was typed."""


@contextmanager
def reading_arguments() -> Iterator[None]:
    """Within this, a value that the library refuses is a wrong call."""
    try:
        yield
    except (TypeError, ValueError) as error:
        raise WrongCallError(str(error)) from error


def add_code(parser: argparse.ArgumentParser, what: str) -> None:
    """The option --code; `load_code` imports what it names."""
    text = f"Python file with a task or a model of yours, {what}"
    parser.add_argument("--code", type=Path, action="append", default=[], metavar="FILE", help=text)


def load_code(options: argparse.Namespace) -> None:
    """Import the files that --code names."""
    from ntm.common.registry import load_file

    for file in options.code:
        load_file(file)


def add_json(parser: argparse.ArgumentParser) -> None:
    """The option --json."""
    parser.add_argument("--json", action="store_true", help="print nothing but JSON")


NET = "run folder, saved network, or pretrained network such as copy-ff"


def add_saved(parser: argparse.ArgumentParser) -> None:
    """What commands need to be told of a network of `save_pretrained`."""
    add = parser.add_argument
    add("--task", help="task of a saved network, or a file that has one, if its folder names none")
    add("--set", action="append", default=[], metavar="task.KEY=VALUE", help="a setting of --task")
    add("--model", help="family that builds a saved network of a class of yours, or its file")


def opened(name: str, options: argparse.Namespace) -> "Run":
    """The network that was named, in the place of a run."""
    from ntm.pretrained.runs import open_run

    with reading_arguments():
        task, family = saved_as(options)
    return open_run(name, task, family)


def saved_as(options: argparse.Namespace) -> tuple["Task | None", "Family | None"]:
    """The task and the family that `add_saved` asks for."""
    from ntm.models import family

    return _named_task(options), None if options.model is None else family(options.model)


def _named_task(options: argparse.Namespace) -> "Task | None":
    from ntm.common.fields import parsed
    from ntm.tasks import make_task

    if options.task is None:
        if options.set:
            raise ValueError(f"--set {options.set[0]} changes a task; name it with --task.")
        return None
    task, changes = make_task(options.task), {}
    for key, text in set_pairs(options.set):
        section, _, name = key.partition(".")
        if section != "task":
            raise ValueError(f"Only settings of the task can be set here, task.KEY; got {key!r}.")
        changes[name] = parsed(type(task), section, name, text)
    return replace(task, **changes)


def set_pairs(texts: Sequence[str]) -> list[tuple[str, str]]:
    """What --set says: names of settings and their values, as typed."""
    pairs = [text.partition("=") for text in texts]
    for text, (_, equals, _) in zip(texts, pairs, strict=True):
        if not equals:
            raise ValueError(f"--set takes SECTION.KEY=VALUE, such as task.bits=6; got {text!r}.")
    return [(key.strip(), value) for key, _, value in pairs]


def add_sequences(parser: argparse.ArgumentParser, sequences: int) -> None:
    """A network, and how many fresh sequences it is given."""
    add = parser.add_argument
    add("run", metavar="NET", help=NET)
    add("--sequences", type=int, default=sequences, help=f"how many (default: {sequences})")
    add("--seed", type=int, default=1, help="decides the sequences (default: 1)")


def add_axes(parser: argparse.ArgumentParser) -> None:
    """An option for the size along every axis that a task may have."""
    for axis in AXES:
        text = f"the {axis}, beyond the training range if you like"
        parser.add_argument(f"--{axis}", type=int, help=text)
    parser.add_argument(
        "--at", action="append", metavar="AXIS=N", help="another axis, of a task of yours"
    )
    parser.add_argument(
        "--memory-locations", type=int, metavar="N", help="enlarge the memory to N locations first"
    )


def axes_given(options: argparse.Namespace) -> dict[str, int]:
    """The sizes that were given."""
    given = {axis: getattr(options, axis) for axis in AXES}
    known = {axis: value for axis, value in given.items() if value is not None}
    return known | dict(map(_axis, options.at or ()))


def _axis(text: str) -> tuple[str, int]:
    axis, _, value = text.partition("=")
    try:
        return axis.strip(), int(value)
    except ValueError as error:
        raise WrongCallError(f"--at takes AXIS=N, such as depth=5; got {text!r}.") from error


def enlarged_for(task: "Task", model: "Model", options: argparse.Namespace) -> "Model":
    """The network with the memory that was asked for; a problem that outgrows it gets a note."""
    from ntm.evaluation import enlarged

    model = enlarged(model, options.memory_locations)
    locations = getattr(model.config, "memory_locations", math.inf)
    for axis, size in axes_given(options).items():
        # Where usual problems are longer than the memory, no location per vector is wanted.
        if axis != "repeats" and task.trained_range(axis)[1] <= locations < size:
            print(
                f"Note: --{axis} {size} is more than the {locations} locations of the memory; "
                f"--memory-locations {1 << size.bit_length()} enlarges it.",
                file=sys.stderr,
            )
    return model


def require_at_least_one(**options: int | None) -> None:
    """Refuse counts below 1."""
    for name, value in options.items():
        if value is not None and value < 1:
            given = name.replace("_", "-")
            raise WrongCallError(f"--{given} must be at least 1; got {value}.")


def quoted(path: Path) -> str:
    """A path as a shell takes it, for a command to copy."""
    return shlex.quote(str(path))


def print_facts(facts: dict[str, Any], as_json: bool) -> None:
    """Print names and values, as a table or as JSON."""
    if as_json:
        print(json.dumps(facts, indent=2))
        return
    print_table([(name.replace("_", " "), _readable(value)) for name, value in facts.items()])


def print_table(rows: Sequence[tuple[str, ...]], texts: int = 9) -> None:
    """Print aligned columns; numbers, at the right, follow `texts` columns of words."""
    from ntm.report.table import Table

    print(Table("", (), rows, texts).as_text())


def with_extra(module: str, what: str, extra: str) -> Any:
    """A module that needs an extra of the package, or an error that says what to install."""
    from ntm.runs import RunError

    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise RunError(
            f"{what} ({error}): pip install 'neural-turing-machines[{extra}]'"
        ) from error


def with_matplotlib(module: str) -> Any:
    """A module that draws, or an error that says what to install."""
    return with_extra(module, "Figures need matplotlib", "figures")


def _readable(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4f}"
    return f"{value:,}" if type(value) is int else as_text(value)

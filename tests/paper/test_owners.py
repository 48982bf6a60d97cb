"""A fact has one owner: who may name a task or a model."""

import ast
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ntm import tasks
from ntm.models import MODELS
from ntm.paper import experiments

SOURCE = Path(__file__).parents[2] / "src" / "ntm"
TASKS = [experiment.task for experiment in experiments()]
TASK_OWNERS, MODEL_OWNERS = ("tasks", "paper"), ("models", "paper")
CONTROLLERS = ("config.py", "controllers.py", "layer", "engine")
CLASSES = {kind.__name__ for kind in tasks.TASKS.values() if kind.__module__.startswith("ntm.")}
# "copy" is also a word, and "lstm" also a controller: as a part of a sentence they mean those.
HYPHENATED = [name for name in (*TASKS, *MODELS) if "-" in name]


def docstrings(tree: ast.AST) -> set[ast.Constant]:
    """The strings that stand alone: documentation."""
    found = (node.value for node in ast.walk(tree) if isinstance(node, ast.Expr))
    return {value for value in found if isinstance(value, ast.Constant)}


def texts(tree: ast.AST) -> Iterator[str]:
    """The strings that a source computes with."""
    left_out = docstrings(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in left_out:
            yield node.value


def named(source: str, names: list[str]) -> set[str]:
    """Which of some names a source uses, alone or with a hyphen in a longer text."""
    said = list(texts(ast.parse(source)))
    within = [name for name in names if name in HYPHENATED]
    return {name for name in names if name in said} | {
        name for name in within for text in said if re.search(rf"\b{name}\b", text)
    }


def imported_classes(source: str) -> set[str]:
    """The tasks whose classes a source imports."""
    imports = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ImportFrom))
    return CLASSES & {alias.name for node in imports for alias in node.names}


def part(file: Path) -> str:
    """The folder of the package that a file is in, or its own name."""
    return file.relative_to(SOURCE).parts[0]


def parts_but(owners: tuple[str, ...]) -> list[str]:
    """The parts of the package but the owners."""
    return sorted({part(file) for file in SOURCE.rglob("*.py")} - set(owners))


def broken(name: str, found_in: Callable[[str], set[str]]) -> dict[str, set[str]]:
    """The files of a part that say what they should not, and what they say."""
    files = [file for file in SOURCE.rglob("*.py") if part(file) == name]
    found = {str(file.relative_to(SOURCE)): found_in(file.read_text()) for file in files}
    return {file: names for file, names in found.items() if names}


@pytest.mark.parametrize("name", parts_but(TASK_OWNERS))
def test_tasks_are_named_by_their_owners_alone(name: str) -> None:
    assert broken(name, lambda source: named(source, TASKS)) == {}


@pytest.mark.parametrize("name", parts_but(MODEL_OWNERS))
def test_models_are_named_by_their_owners_alone(name: str) -> None:
    # An LSTM is also a controller, whose name belongs to section 3 and the engines.
    models = [model for model in MODELS if model != "lstm" or name not in CONTROLLERS]
    assert broken(name, lambda source: named(source, models)) == {}


@pytest.mark.parametrize("name", parts_but(TASK_OWNERS))
def test_nobody_else_asks_what_class_a_task_has(name: str) -> None:
    assert broken(name, imported_classes) == {}


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ('CASES = {"copy": 1}', {"copy"}),
        ("def f():\n    '''As copy, or ngrams.'''\n", set()),
        ('raise ValueError("it must be copy or repeat-copy")', {"repeat-copy"}),
        ('f"{x} of priority-sort"', {"priority-sort"}),
        ('TITLE = "A copy of it"', set()),
        ('x = "ngrams"', {"ngrams"}),
    ],
)
def test_names_are_found(source: str, names: set[str]) -> None:
    assert named(source, TASKS) == names


def test_classes_are_found() -> None:
    assert imported_classes("from ntm.tasks import Batch, NGrams") == {"NGrams"}
    assert imported_classes("from ntm.tasks.copy import Copy as C") == {"Copy"}

"""Import rules, checked on the source. Every rule is also tested on a source that breaks it."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

import ntm

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src"

SECTION_3 = ("memory", "addressing", "heads", "controllers", "cell")
SECTION_3_MODULES = frozenset(f"ntm.{name}" for name in SECTION_3)
HEAVY = frozenset({"fastapi", "matplotlib", "ray", "rich", "tensorboard", "uvicorn"})


class Rule(NamedTuple):
    """Import rule: forbid the names in `never`, or allow only the standard library and `only`."""

    files: tuple[str, ...]  # patterns below src/ntm
    broken_by: str  # a source that the rule must refuse
    never: frozenset[str] = frozenset()
    only: frozenset[str] | None = None

    def refuses(self, name: str) -> bool:
        """Return whether a dotted name, or a package that contains it, is forbidden."""
        if self.only is None:
            return _within(name, self.never)
        return not _within(name, self.only | sys.stdlib_module_names)


RULES = {
    "what all parts share is made of the standard library": Rule(
        files=("common/**/*.py",),
        broken_by="import torch",
        only=frozenset({"ntm.common"}),
    ),
    "what reads a run does not import the training": Rule(
        files=tuple(
            f"{folder}/**/*.py" for folder in ("runs", "models", "evaluation", "engine", "tasks")
        ),
        broken_by="from ntm.training import train",
        never=frozenset({"ntm.training"}),
    ),
    "section 3 is made of torch and the config": Rule(
        files=("config.py", "states.py", *(f"{name}.py" for name in SECTION_3)),
        broken_by="from ntm.layer import NTM",
        only=frozenset({"torch", "ntm.torch_names", "ntm.config", "ntm.common", "ntm.states"})
        | SECTION_3_MODULES,
    ),
    "the native engine shares no code with the reference": Rule(
        files=tuple(f"engine/{name}.py" for name in ("native", "operators", "direct", "fused")),
        broken_by="from ntm import addressing",
        never=frozenset({"ntm.engine.reference"}) | SECTION_3_MODULES,
    ),
    "tasks know no model": Rule(
        files=("tasks/**/*.py",),
        broken_by="def sample():\n    import ntm\n",
        only=frozenset({"torch", "ntm.tasks", "ntm.common"}),
    ),
    "evaluation yields numbers, not pictures": Rule(
        files=("evaluation/**/*.py",),
        broken_by="import matplotlib.pyplot as plt",
        never=frozenset({"matplotlib", "ntm.figures"}),
    ),
    "nothing but `python -m ntm` imports the command line": Rule(
        files=("**/*[!_].py", "**/__init__.py"),  # all but __main__.py
        broken_by="from ntm.commands.main import main",
        never=frozenset({"ntm.commands.main"}),
    ),
    "nothing is pickled": Rule(
        files=("**/*.py",),
        broken_by="import torch as t\nweights = t.load('weights.pt')",
        never=frozenset(
            {"pickle", "cloudpickle", "dill", "joblib", "shelve", "torch.load", "torch.save"}
        ),
    ),
}


def _within(name: str, modules: frozenset[str]) -> bool:
    return any(name == module or name.startswith(f"{module}.") for module in modules)


def executed(tree: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a source, without the imports that only a type checker reads."""
    for node in ast.iter_child_nodes(tree):
        if not (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"):
            yield node
            yield from executed(node)


def imports_of(tree: ast.AST, package: str) -> Iterator[tuple[str, str]]:
    """Yield all imports in a source: the bound name and the absolute name of its target."""
    for node in executed(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.asname or alias.name, alias.name
                if alias.asname is None:  # `import torch.nn` binds torch
                    yield (alias.name.partition(".")[0],) * 2
        elif isinstance(node, ast.ImportFrom):
            origin = _origin(node, package)
            for alias in node.names:
                yield alias.asname or alias.name, f"{origin}.{alias.name}"


def _origin(node: ast.ImportFrom, package: str) -> str:
    """The absolute name of the module that a source in `package` imports from."""
    if node.level == 0:
        return node.module or ""
    parents = package.split(".")
    above = parents[: len(parents) - node.level + 1]
    return ".".join([*above, node.module] if node.module else above)


def names_used(source: str, package: str) -> set[str]:
    """The dotted names that a source imports or reaches through what it imports."""
    tree = ast.parse(source)
    imports = list(imports_of(tree, package))
    names = {origin for _, origin in imports}
    bound = dict(imports)
    for node in executed(tree):
        if isinstance(node, ast.Attribute):
            root, _, attributes = ast.unparse(node).partition(".")
            if root in bound:
                names.add(f"{bound[root]}.{attributes}")
    return names


def violations(rule: Rule, source: str, package: str) -> set[str]:
    return {name for name in names_used(source, package) if rule.refuses(name)}


def modules_loaded_by(statement: str) -> set[str]:
    """The top-level packages that a fresh interpreter holds after a statement."""
    script = f"{statement}\nimport sys\nprint(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, check=True, text=True
    )
    return {name.split(".")[0] for name in done.stdout.split()}


@pytest.mark.parametrize("name", RULES)
def test_the_source_keeps_the_rule(name: str) -> None:
    rule = RULES[name]
    files = {file for pattern in rule.files for file in (SOURCE / "ntm").glob(pattern)}
    assert files, f"no file matches {rule.files}"
    broken = {}
    for file in files:
        module = file.relative_to(SOURCE)
        if found := violations(rule, file.read_text(), ".".join(module.parent.parts)):
            broken[str(module)] = found
    assert broken == {}


@pytest.mark.parametrize("name", RULES)
def test_the_rule_refuses_a_source_that_breaks_it(name: str) -> None:
    assert violations(RULES[name], RULES[name].broken_by, "ntm.training")


@pytest.mark.parametrize(
    ("source", "used"),
    [
        ("import torch.nn", {"torch", "torch.nn"}),
        ("import torch.nn\ntorch.load", {"torch", "torch.nn", "torch.load"}),
        ("import torch.nn as nn\nnn.Linear", {"torch.nn", "torch.nn.Linear"}),
        ("import torch\ntorch.load(path)", {"torch", "torch.load"}),
        ("from torch import load as read", {"torch.load"}),
        ("from . import cell", {"ntm.engine.cell"}),
        ("from .native import run", {"ntm.engine.native.run"}),
        ("from ..cell import State", {"ntm.cell.State"}),
        ("def f():\n    import rich", {"rich"}),
        ("self.load(path)", set()),
        ("if TYPE_CHECKING:\n    import rich", set()),
        ("if there:\n    import rich", {"rich"}),
    ],
)
def test_names_are_found_however_they_are_imported(source: str, used: set[str]) -> None:
    assert names_used(source, "ntm.engine") == used


def test_importing_the_package_loads_nothing_heavy() -> None:
    assert modules_loaded_by("import ntm") & HEAVY == set()
    assert modules_loaded_by("import rich") & HEAVY == {"rich"}


def test_every_file_tells_the_same_version() -> None:
    citation = re.search(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    newest = re.search(r"^## \[(\d.*?)\]", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert citation is not None
    assert newest is not None
    assert ntm.__version__ == citation[1] == newest[1]

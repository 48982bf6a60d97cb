"""Mutation testing: break the code in one place, and see whether a test notices.

    python tests/mutate.py [--only addressing] [--sample 200] [--seed 0]

Covers section 3, the tasks and the costs. Every mutant is a process forked from one that has loaded
torch; it compiles the broken source and runs the tests that belong to it, until one fails. Results
are appended to build/mutants.jsonl, and what is known there is not tried again. `make mutate` calls
this; `docs/testing.md` has the figures.
"""

import argparse
import ast
import contextlib
import hashlib
import importlib.abc
import importlib.util
import json
import os
import random
import resource
import sys
from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "build" / "mutants.jsonl"
CPU_SECONDS = 90
BAR = 0.9

_SECTION_3 = ("memory", "addressing", "heads", "controllers", "cell", "start", "layer")
_OF_TASKS = ["test_every_task.py", "test_base.py", "test_sampling.py"]
TESTS = {
    "config": ["tests/test_config.py"],
    "trace": ["tests/test_trace.py"],
    **{name: [f"tests/test_{name}.py"] for name in _SECTION_3},
    **{
        f"tasks/{name}": [f"tests/tasks/{file}" for file in (f"test_{name}.py", *_OF_TASKS)]
        for name in ("associative_recall", "copy", "ngrams", "priority_sort", "repeat_copy")
    },
    "tasks/base": ["tests/tasks/test_base.py", "tests/tasks/test_every_task.py"],
    "tasks/sampling": ["tests/tasks/test_sampling.py", "tests/tasks/test_every_task.py"],
    "tasks/drawing": ["tests/tasks/test_drawing.py", "tests/tasks/test_base.py"],
    "evaluation/costs": ["tests/evaluation/test_costs.py"],
}
# What else would notice: tried only where the tests of the module itself do not.
_ALSO = {name: ["tests/test_cell.py", "tests/test_layer.py"] for name in _SECTION_3}
_ALSO["config"] = ["tests/test_layer.py"]

_COMPARISONS = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_ARITHMETIC = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.MatMult: ast.Mult,
    ast.RShift: ast.LShift,
}


class Mutant(NamedTuple):
    """A module with one thing changed."""

    module: str
    line: int
    change: str
    tree: ast.Module

    @property
    def key(self) -> str:
        """The same for the same change of the same source."""
        return hashlib.sha256(ast.unparse(self.tree).encode()).hexdigest()[:16]


def changes(node: ast.AST) -> Iterator[ast.AST]:
    """What may stand in the place of a node."""
    if isinstance(node, ast.Compare) and type(node.ops[0]) in _COMPARISONS:
        yield _with(node, ops=[_COMPARISONS[type(node.ops[0])](), *node.ops[1:]])
    elif isinstance(node, ast.BinOp | ast.AugAssign) and type(node.op) in _ARITHMETIC:
        yield _with(node, op=_ARITHMETIC[type(node.op)]())
    elif isinstance(node, ast.BoolOp):
        yield _with(node, op=ast.Or() if isinstance(node.op, ast.And) else ast.And())
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub):
        yield node.operand
    elif isinstance(node, ast.If | ast.IfExp):
        yield _with(node, test=ast.UnaryOp(ast.Not(), node.test))
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield ast.Constant(not node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        yield ast.Constant(node.value + 1)
    elif (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)) or isinstance(
        node, ast.Raise
    ):
        yield ast.Pass()
    elif isinstance(node, ast.Return) and node.value is not None:
        yield ast.Return(ast.Constant(None))


def _with(node: Any, **fields: Any) -> Any:
    changed = deepcopy(node)
    for name, value in fields.items():
        setattr(changed, name, value)
    return changed


def skipped(node: ast.AST) -> bool:
    """What says nothing about behaviour: annotations, error texts, decorators, representations."""
    if isinstance(node, ast.FunctionDef):
        return node.name.startswith(("__repr__", "_repr_", "extra_repr"))
    return isinstance(node, ast.JoinedStr | ast.ImportFrom | ast.Import)


def places(node: ast.AST) -> Iterator[tuple[ast.AST, str, int | None, ast.AST]]:
    """Every node below one, with its parent and where it stands there."""
    for name, value in ast.iter_fields(node):
        if name in {"annotation", "returns", "decorator_list", "type_comment"}:
            continue
        for index, child in enumerate(value if isinstance(value, list) else [value]):
            if isinstance(child, ast.AST) and not skipped(child):
                yield node, name, index if isinstance(value, list) else None, child
                yield from places(child)


def mutants(module: str) -> Iterator[Mutant]:
    """All mutants of a module."""
    tree = ast.parse((ROOT / "src" / "ntm" / f"{module}.py").read_text())
    for parent, name, index, child in list(places(tree)):
        for other in changes(child):
            ast.copy_location(other, child)
            _put(parent, name, index, other)
            changed = ast.fix_missing_locations(deepcopy(tree))
            _put(parent, name, index, child)
            text = f"{ast.unparse(child)[:60]!r} -> {ast.unparse(other)[:60]!r}"
            yield Mutant(module, getattr(child, "lineno", 0), text, changed)


def _put(parent: ast.AST, name: str, index: int | None, node: ast.AST) -> None:
    if index is None:
        setattr(parent, name, node)
    else:
        getattr(parent, name)[index] = node


class Broken(importlib.abc.MetaPathFinder, importlib.abc.InspectLoader):
    """Imports a module from a changed tree."""

    def __init__(self, mutant: Mutant) -> None:
        self.name, self.tree = f"ntm.{mutant.module.replace('/', '.')}", mutant.tree
        self.file = str(ROOT / "src" / "ntm" / f"{mutant.module}.py")

    def find_spec(self, fullname: str, *_: Any) -> Any:
        if fullname == self.name:
            return importlib.util.spec_from_file_location(fullname, self.file, loader=self)
        return None

    def get_source(self, fullname: str) -> str:
        return ast.unparse(self.tree)

    def get_code(self, fullname: str) -> Any:
        return compile(self.tree, self.file, "exec")


def passes(mutant: Mutant | None, tests: list[str]) -> bool:
    """Whether all tests pass, in a process of its own; None: with the code as it is."""
    process = os.fork()
    if process == 0:
        with contextlib.suppress(BaseException):
            os._exit(_tested(mutant, tests))
        os._exit(70)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 0


def _tested(mutant: Mutant | None, tests: list[str]) -> int:
    import pytest

    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    if mutant is not None:
        sys.meta_path.insert(0, Broken(mutant))
    # hypothesis is loaded already, which pytest would complain about.
    loaded = "ignore::pytest.PytestAssertRewriteWarning"
    options = ["-x", "-q", "-p", "no:cacheprovider", "-W", loaded]
    return int(pytest.main([*options, *tests]))


def killed(mutant: Mutant) -> bool:
    """Whether some test fails."""
    tests = TESTS[mutant.module]
    also = [test for test in _ALSO.get(mutant.module, []) if test not in tests]
    return not passes(mutant, tests) or (bool(also) and not passes(mutant, also))


def known() -> dict[str, dict[str, Any]]:
    """What was tried before, by key."""
    if not RESULTS.exists():
        return {}
    lines = map(json.loads, RESULTS.read_text().splitlines())
    return {line["key"]: line for line in lines}


def tried(mutant: Mutant, before: dict[str, dict[str, Any]], say: Callable[[str], None]) -> bool:
    """Whether a mutant is killed, now or in an earlier run of this."""
    if mutant.key not in before:
        line = {"key": mutant.key, "killed": killed(mutant), **mutant._asdict(), "tree": None}
        with RESULTS.open("a") as file:
            file.write(json.dumps(line) + "\n")
        before[mutant.key] = line
    found = bool(before[mutant.key]["killed"])
    if not found:
        say(f"survives: src/ntm/{mutant.module}.py:{mutant.line}  {mutant.change}")
    return found


def main() -> int:
    """Try mutants; 0 if nine in ten are killed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", action="append", choices=TESTS, help="these modules")
    parser.add_argument("--sample", type=int, help="so many mutants of each module")
    parser.add_argument("--seed", type=int, default=0, help="chooses them")
    options = parser.parse_args()
    import hypothesis  # noqa: F401  # loaded once, for all processes
    import numpy  # noqa: F401
    import pytest  # noqa: F401
    import torch  # noqa: F401

    os.chdir(ROOT)
    RESULTS.parent.mkdir(exist_ok=True)
    before, results = known(), []
    for module in options.only or TESTS:
        if not passes(None, TESTS[module]):
            parser.error(f"The tests of {module} fail without any change; mend them first.")
        found = list(mutants(module))
        random.Random(options.seed).shuffle(found)
        outcomes = [tried(mutant, before, print) for mutant in found[: options.sample]]
        results += outcomes
        print(f"{module}: {sum(outcomes)} of {len(outcomes)} killed", flush=True)
    share = sum(results) / len(results)
    print(f"{sum(results)} of {len(results)} mutants killed, {share:.1%}")
    return 0 if share >= BAR else 1


if __name__ == "__main__":
    sys.exit(main())

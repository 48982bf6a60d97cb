"""Mutation testing: break the code in one place, and see whether a test notices.

    python tests/mutate.py [--only addressing] [--sample 200] [--seed 0]

Covers section 3, the tasks and the costs. Every mutant is a process forked from one that has loaded
everything; it puts the broken code into the functions, or imports the broken module where that is
not enough, and runs the tests that belong to it until one fails. Results are appended to
build/mutants.jsonl, and what is known there is not tried again. `make mutate` calls this;
`docs/testing.md` says more.
"""

import argparse
import ast
import hashlib
import importlib.abc
import importlib.util
import inspect
import json
import os
import random
import resource
import sys
import types
from collections.abc import Iterator
from copy import deepcopy
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "build" / "mutants.jsonl"
CPU_SECONDS = 90
BAR = 0.9
HARNESS_FAILED, NO_TESTS = 70, 5

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
    in_body: bool
    """Whether the change is in the body of a function, and not in its signature."""

    @property
    def name(self) -> str:
        """The name of the module."""
        return f"ntm.{self.module.replace('/', '.')}"

    @property
    def file(self) -> str:
        """The file of the module."""
        return str(ROOT / "src" / "ntm" / f"{self.module}.py")

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


class Place(NamedTuple):
    """Where a node stands: in a field of its parent, in a list if there is an index."""

    parent: ast.AST
    field: str
    index: int | None
    node: ast.AST
    in_body: bool

    def put(self, node: ast.AST) -> None:
        """Put another node there."""
        if self.index is None:
            setattr(self.parent, self.field, node)
        else:
            getattr(self.parent, self.field)[self.index] = node


def places(node: ast.AST, in_body: bool = False) -> Iterator[Place]:
    """Every node below one."""
    for name, value in ast.iter_fields(node):
        if name in {"annotation", "returns", "decorator_list", "type_comment"}:
            continue
        inside = in_body or (isinstance(node, ast.FunctionDef) and name == "body")
        for index, child in enumerate(value if isinstance(value, list) else [value]):
            if isinstance(child, ast.AST) and not skipped(child):
                yield Place(node, name, index if isinstance(value, list) else None, child, inside)
                yield from places(child, inside)


def mutants(module: str) -> Iterator[Mutant]:
    """All mutants of a module."""
    tree = ast.parse((ROOT / "src" / "ntm" / f"{module}.py").read_text())
    for place in list(places(tree)):
        for other in changes(place.node):
            ast.copy_location(other, place.node)
            place.put(other)
            changed = ast.fix_missing_locations(deepcopy(tree))
            place.put(place.node)
            text = f"{ast.unparse(place.node)[:60]!r} -> {ast.unparse(other)[:60]!r}"
            yield Mutant(module, getattr(place.node, "lineno", 0), text, changed, place.in_body)


class Broken(importlib.abc.MetaPathFinder, importlib.abc.InspectLoader):
    """Imports a module from a changed tree."""

    def __init__(self, mutant: Mutant) -> None:
        self.mutant = mutant

    def find_spec(self, fullname: str, *_: Any) -> Any:
        if fullname == self.mutant.name:
            return importlib.util.spec_from_file_location(fullname, self.mutant.file, loader=self)
        return None

    def get_source(self, fullname: str) -> str:
        return ast.unparse(self.mutant.tree)

    def get_code(self, fullname: str) -> Any:
        return compile(self.mutant.tree, self.mutant.file, "exec")


def codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """The code of all functions of a module or a class; what is inside a function is its own."""
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            is_function = constant.co_flags & inspect.CO_OPTIMIZED
            yield from [constant] if is_function else codes(constant)


def functions(owner: Any) -> Iterator[Any]:
    """The functions of a module or a class, whatever they are wrapped in."""
    for value in list(vars(owner).values()):
        if isinstance(value, type) and value.__module__ == getattr(owner, "__name__", ""):
            yield from functions(value)
        for found in (
            value,
            *(getattr(value, name, None) for name in ("fget", "fset", "__func__")),
        ):
            while found is not None:
                if isinstance(found, types.FunctionType):
                    yield found
                found = getattr(found, "__wrapped__", None)


def _replaceable(function: Any, code: types.CodeType) -> bool:
    return function is not None and function.__code__.co_freevars == code.co_freevars


def exchange(mutant: Mutant) -> bool:
    """Put the broken code into the functions of the loaded module; whether it found its place."""
    there = {f.__code__.co_qualname: f for f in functions(sys.modules[mutant.name])}
    before = Path(mutant.file).read_text()
    old = {code.co_qualname: code for code in codes(compile(before, mutant.file, "exec"))}
    new = {code.co_qualname: code for code in codes(Broken(mutant).get_code(""))}
    changed = [name for name in new if new[name] != old.get(name)]
    if not changed or not all(_replaceable(there.get(name), new[name]) for name in changed):
        return False
    for name in changed:
        there[name].__code__ = new[name]
    return True


def passes(mutant: Mutant | None, tests: list[str]) -> bool:
    """Whether all tests pass, in a process of its own; None: with the code as it is."""
    process = os.fork()
    if process == 0:
        code = HARNESS_FAILED
        try:
            code = _tested(mutant, tests)
        finally:
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    if code in {HARNESS_FAILED, NO_TESTS}:
        raise RuntimeError(f"The tests {tests} could not be run on {mutant and mutant.change}.")
    return code == 0


def _tested(mutant: Mutant | None, tests: list[str]) -> int:
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    if mutant is not None and not (mutant.in_body and exchange(mutant)):
        words = [mutant.module, mutant.key, *tests]
        os.execv(sys.executable, [sys.executable, __file__, "--one", *words])
    return _run(tests)


def _one(module: str, key: str, *tests: str) -> int:
    """The tests of a mutant that must be imported."""
    sys.meta_path.insert(0, Broken(next(m for m in mutants(module) if m.key == key)))
    return _run(list(tests))


def _run(tests: list[str]) -> int:
    import pytest

    # Of what is loaded already, pytest would complain.
    loaded = "ignore::pytest.PytestAssertRewriteWarning"
    options = ["-x", "-q", "-p", "no:cacheprovider", "-W", loaded]
    return int(pytest.main([*options, *tests], plugins=[WithoutShrinking()]))


class WithoutShrinking:
    """That an example fails is all there is to know; to look for a smaller one takes seconds."""

    def pytest_collection(self) -> None:
        from hypothesis import Phase, settings

        phases = (Phase.explicit, Phase.generate)
        settings.register_profile("mutants", settings.get_profile("ntm"), phases=phases)
        settings.load_profile("mutants")


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


def tried(mutant: Mutant, before: dict[str, dict[str, Any]]) -> bool:
    """Whether a mutant is killed, now or in an earlier run of this."""
    if mutant.key not in before:
        facts = {"module": mutant.module, "line": mutant.line, "change": mutant.change}
        line = {"key": mutant.key, "killed": killed(mutant), **facts}
        with RESULTS.open("a") as file:
            file.write(json.dumps(line) + "\n")
        before[mutant.key] = line
    found = bool(before[mutant.key]["killed"])
    if not found:
        print(f"survives: src/ntm/{mutant.module}.py:{mutant.line}  {mutant.change}", flush=True)
    return found


def main() -> int:
    """Try mutants; 0 if nine in ten are killed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", action="append", choices=TESTS, help="these modules")
    parser.add_argument("--sample", type=int, help="so many mutants of each module")
    parser.add_argument("--seed", type=int, default=0, help="chooses them")
    parser.add_argument("--one", nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args()
    os.chdir(ROOT)
    if options.one:
        return _one(*options.one)
    _load_once()
    RESULTS.parent.mkdir(exist_ok=True)
    before, results = known(), []
    for module in options.only or TESTS:
        outcomes = [tried(mutant, before) for mutant in chosen(module, options)]
        results += outcomes
        print(f"{module}: {sum(outcomes)} of {len(outcomes)} killed", flush=True)
    share = sum(results) / len(results)
    print(f"{sum(results)} of {len(results)} mutants killed, {share:.1%}")
    return 0 if share >= BAR else 1


def _load_once() -> None:
    """Import what every process would: the package, pytest and what is plugged into it."""
    for name in ("pytest", "ntm.training", "ntm.evaluation", "ntm.saving"):
        importlib.import_module(name)
    for plugin in entry_points(group="pytest11"):
        plugin.load()
    import torch

    torch.testing.assert_close(torch.zeros(1), torch.zeros(1))  # loads sympy at its first call


def chosen(module: str, options: argparse.Namespace) -> list[Mutant]:
    """The mutants of a module that are to be tried; its tests must pass without any."""
    if not passes(None, TESTS[module]):
        sys.exit(f"The tests of {module} fail without any change; mend them first.")
    found = list(mutants(module))
    random.Random(options.seed).shuffle(found)
    return found[: options.sample]


if __name__ == "__main__":
    sys.exit(main())

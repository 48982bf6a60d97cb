"""Mutation testing: break the code in one place, and check whether a test fails.

    python -m tests.mutate [--only addressing] [--sample 200] [--seed 0]

Covers section 3, the tasks and the costs. The tests of a module are collected and run once, to
record the functions that each test calls. Then a forked process per mutant puts the broken code
into the function and runs the tests that call it until one fails. If the change is outside of a
function's body (a default, a constant) or the function runs only on import, a new process imports
the broken module. Results are appended to build/mutants.jsonl; mutants listed there are not tried
again. `make mutate` calls this; `docs/testing.md` says more.
"""

import argparse
import importlib.abc
import importlib.util
import inspect
import json
import os
import random
import resource
import sys
import time
import types
from collections import Counter
from collections.abc import Iterator
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest
from tests.mutants import ROOT, Mutant, mutants

RESULTS = ROOT / "build" / "mutants.jsonl"
CPU_SECONDS = 90
BAR = 0.9
HARNESS_FAILED, NO_TESTS = 70, 5
Replacements = list[tuple[Any, types.CodeType]]

_OF_TASKS = ["test_every_task.py", "test_base.py", "test_sampling.py"]
_FEATURES = "tests/test_torch_features.py::test_the_page_tells_the_truth"
_EXPORT = f"{_FEATURES}[`torch.export`, save and load-native-works]"
_OF_FORMS = [f"tests/test_{name}.py" for name in ("layer", "forms", "package", "saving")]
TESTS = {
    "config": ["tests/test_config.py", *_OF_FORMS],
    "trace": ["tests/test_trace.py"],
    **{
        name: [f"tests/test_{name}.py", "tests/test_cell.py"]
        for name in ("memory", "addressing", "heads", "controllers")
    },
    "cell": ["tests/test_cell.py", _EXPORT, *_OF_FORMS],
    "states": ["tests/test_states.py", "tests/test_cell.py", _EXPORT, *_OF_FORMS],
    "start": ["tests/test_start.py", "tests/test_layer.py"],
    "layer/base": _OF_FORMS,
    "layer/network": [*_OF_FORMS, "tests/test_start.py", "tests/test_trace.py"],
    **{
        f"tasks/{name}": [f"tests/tasks/{file}" for file in (f"test_{name}.py", *_OF_TASKS)]
        for name in ("associative_recall", "copy", "ngrams", "priority_sort", "repeat_copy")
    },
    "tasks/base": ["tests/tasks/test_base.py", "tests/tasks/test_every_task.py"],
    "tasks/sampling": ["tests/tasks/test_sampling.py", "tests/tasks/test_every_task.py"],
    "tasks/pictures": ["tests/tasks/test_pictures.py", "tests/tasks/test_base.py"],
    "evaluation/costs": [
        f"tests/evaluation/test_{name}.py" for name in ("costs", "generalisation")
    ],
}


class Broken(importlib.abc.MetaPathFinder, importlib.abc.InspectLoader):
    """Imports a module from a changed tree."""

    def __init__(self, mutant: Mutant) -> None:
        self.mutant = mutant

    def find_spec(self, fullname: str, *_: Any) -> Any:
        if fullname == self.mutant.name:
            return importlib.util.spec_from_file_location(fullname, self.mutant.file, loader=self)
        return None

    def get_source(self, fullname: str) -> str:
        return self.mutant.source

    def get_code(self, fullname: str) -> Any:
        return compile(self.mutant.tree, self.mutant.file, "exec")


def codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """Yield the code of all functions of a module or a class, except of nested functions."""
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            is_function = constant.co_flags & inspect.CO_OPTIMIZED
            yield from [constant] if is_function else codes(constant)


def functions(owner: Any) -> Iterator[Any]:
    """Yield the functions of a module or a class, with all wrappers removed."""
    for value in list(vars(owner).values()):
        if isinstance(value, type) and value.__module__ == getattr(owner, "__name__", ""):
            yield from functions(value)
        for found in (
            value,
            *(getattr(value, name, None) for name in ("fget", "fset", "func", "__func__")),
        ):
            while found is not None:
                if isinstance(found, types.FunctionType):
                    yield found
                found = getattr(found, "__wrapped__", None)


def replacements(mutant: Mutant) -> Replacements:
    """Return loaded functions with their broken code; empty if the module must be imported."""
    if not mutant.in_body:
        return []
    there = {f.__code__.co_qualname: f for f in functions(sys.modules[mutant.name])}
    before = Path(mutant.file).read_text()
    old = {code.co_qualname: code for code in codes(compile(before, mutant.file, "exec"))}
    new = {code.co_qualname: code for code in codes(Broken(mutant).get_code(""))}
    changed = [name for name in new if new[name] != old.get(name)]
    if not all(_replaceable(there.get(name), new[name]) for name in changed):
        return []
    return [(there[name], new[name]) for name in changed]


def _replaceable(function: Any, code: types.CodeType) -> bool:
    return function is not None and function.__code__.co_freevars == code.co_freevars


class Mutating:
    """Plugin that runs the collected tests once unchanged, then some of them on every mutant."""

    def __init__(self, chosen: list[Mutant]) -> None:
        self.chosen = chosen
        self.calls: dict[str, set[str]] = {}
        """Functions of the module that each test calls, by test."""
        self.seconds: dict[str, float] = {}
        self.kills = Counter[str]()

    def pytest_collection(self) -> None:
        without_shrinking()

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        for item in session.items:
            self._watch(item)
        if session.testsfailed:
            return True
        for mutant in self.chosen:
            found = replacements(mutant)
            items = self._callers(session, found)
            killer = self._killer(session, found, items) if items else self._imported(mutant)
            self.kills[killer] += 1
            _note(mutant, killer)
        return True

    def _imported(self, mutant: Mutant) -> str:
        """Call `imported` with enough time for all tests, so that a timeout means a loop."""
        return imported(mutant, CPU_SECONDS + 2 * round(sum(self.seconds.values())))

    def _watch(self, item: pytest.Item) -> None:
        called = self.calls[item.nodeid] = set()
        file = self.chosen[0].file

        def watch(frame: types.FrameType, *_: object) -> None:
            if frame.f_code.co_filename == file:
                called.add(frame.f_code.co_qualname)

        began = time.process_time()
        sys.settrace(watch)
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
        sys.settrace(None)
        self.seconds[item.nodeid] = time.process_time() - began

    def _callers(self, session: pytest.Session, found: Replacements) -> list[pytest.Item]:
        """Return the tests that call a function, the most successful ones first."""
        names = {code.co_qualname for _, code in found}
        items = [item for item in session.items if names & self.calls[item.nodeid]]
        return sorted(items, key=lambda item: (-self.kills[item.nodeid], self.seconds[item.nodeid]))

    def _killer(
        self, session: pytest.Session, found: Replacements, items: list[pytest.Item]
    ) -> str:
        """Return the first test that fails, or ''."""
        reading, writing = os.pipe()
        process = os.fork()
        if process == 0:
            resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
            _silence()
            for function, code in found:
                function.__code__ = code
            for item in items:
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
                if session.testsfailed:
                    os.write(writing, item.nodeid.encode())
                    os._exit(1)
            os._exit(0)
        os.close(writing)
        with os.fdopen(reading, "rb") as pipe:
            said = pipe.read().decode()
        code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        return said or ("" if code == 0 else f"ended with {code}")


def without_shrinking() -> None:
    """Do not look for smaller failing examples: one failure is enough, and a search is slow."""
    from hypothesis import Phase, settings

    phases = (Phase.explicit, Phase.generate)
    settings.register_profile("mutants", settings.get_profile("ntm"), phases=phases)
    settings.load_profile("mutants")


class Imported:
    """Plugin for imported mutants: tests of a single case run before parametrised tests."""

    def pytest_collection(self) -> None:
        without_shrinking()

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items.sort(key=lambda item: hasattr(item, "callspec"))


def imported(mutant: Mutant, cpu_seconds: int) -> str:
    """Import a mutant in a new process and return the first test that fails, or ''."""
    process = os.fork()
    if process == 0:
        resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds))
        _silence()
        os.execv(sys.executable, [*_THIS, "--one", mutant.module, mutant.key])
    code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    if code in {HARNESS_FAILED, NO_TESTS}:
        raise RuntimeError(f"The tests of {mutant.module} could not be run on {mutant.change}.")
    return "" if code == 0 else "a test on the imported module"


_THIS = [sys.executable, "-m", "tests.mutate"]


def _one(module: str, key: str) -> int:
    """Run the tests of a mutant that must be imported."""
    sys.meta_path.insert(0, Broken(next(m for m in mutants(module) if m.key == key)))
    return _run(module, Imported())


def _run(module: str, plugin: object) -> int:
    options = [
        "-x",
        "-q",
        "-p",
        "no:cacheprovider",
        "-W",
        "ignore::pytest.PytestAssertRewriteWarning",
    ]
    return int(pytest.main([*options, *TESTS[module]], plugins=[plugin]))


def _silence() -> None:
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)


def _note(mutant: Mutant, killer: str) -> None:
    facts = {"module": mutant.module, "line": mutant.line, "change": mutant.change}
    line = {"key": mutant.key, "killed": bool(killer), **facts, "by": killer}
    with RESULTS.open("a") as file:
        file.write(json.dumps(line) + "\n")


def known() -> dict[str, dict[str, Any]]:
    """Return the results of earlier calls, by key of the mutant."""
    if not RESULTS.exists():
        return {}
    lines = map(json.loads, RESULTS.read_text().splitlines())
    return {line["key"]: line for line in lines}


def try_all(module: str, sample: list[Mutant]) -> None:
    """Try the untried mutants of a module in a new process."""
    before = known()
    new = [mutant for mutant in sample if mutant.key not in before]
    if not new:
        return
    process = os.fork()
    if process == 0:
        code = HARNESS_FAILED
        try:
            code = _run(module, Mutating(new))
        finally:
            os._exit(code)
    if os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]):
        sys.exit(f"The tests of {module} fail without any change; mend them first.")


def report(module: str, sample: list[Mutant]) -> list[bool]:
    """Print the mutants that survive; return whether each mutant was killed."""
    results = known()
    for mutant in sample:
        if not results[mutant.key]["killed"]:
            print(f"survives: src/ntm/{module}.py:{mutant.line}  {mutant.change}")
    outcomes = [bool(results[mutant.key]["killed"]) for mutant in sample]
    print(f"{module}: {sum(outcomes)} of {len(outcomes)} killed", flush=True)
    return outcomes


def main() -> int:
    """Try mutants and return the exit code: 0 if nine in ten are killed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", action="append", choices=TESTS, help="these modules")
    parser.add_argument("--sample", type=int, help="so many mutants of each module")
    parser.add_argument("--seed", type=int, default=0, help="chooses them")
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    os.chdir(ROOT)
    if options.one:
        return _one(*options.one)
    _load_once()
    RESULTS.parent.mkdir(exist_ok=True)
    results = []
    for module in options.only or TESTS:
        found = list(mutants(module))
        random.Random(options.seed).shuffle(found)
        sample = found[: options.sample]
        try_all(module, sample)
        results += report(module, sample)
    share = sum(results) / len(results)
    print(f"{sum(results)} of {len(results)} mutants killed, {share:.1%}")
    return 0 if share >= BAR else 1


def _load_once() -> None:
    """Import once what every process needs: the package, pytest and its plugins."""
    for name in ("pytest", "ntm.training", "ntm.evaluation", "ntm.runs.saving"):
        importlib.import_module(name)
    for plugin in entry_points(group="pytest11"):
        plugin.load()
    import torch

    torch.testing.assert_close(torch.zeros(1), torch.zeros(1))  # loads sympy at its first call


if __name__ == "__main__":
    sys.exit(main())

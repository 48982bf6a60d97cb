"""Names provided by `import ntm`, and the printed form of its values."""

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

import ntm
from ntm import NTM, LSTMBaseline
from ntm.evaluation.recording import record
from ntm.tasks import Copy


def python(program: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def test_submodules_are_there_without_being_imported() -> None:
    names = python("import ntm; print(ntm.pretrained.names())")
    assert "'copy-ff'" in names
    assert python("import ntm; print(ntm.tasks.Copy.name)") == "copy"


def test_importing_the_package_imports_nothing_but_what_imports_the_rest() -> None:
    program = "import sys, ntm; dir(ntm); print([m for m in sys.modules if m.startswith('ntm.')])"
    assert python(program) == "['ntm.common', 'ntm.common.lazy']"
    assert python("import sys, ntm; dir(ntm); print('torch' in sys.modules)") == "False"


def test_everything_listed_is_there_and_nothing_else() -> None:
    folder = Path(ntm.__file__).parent
    packages = {file.parent.name for file in folder.glob("*/__init__.py")}
    modules = {file.stem for file in folder.glob("*.py")} - {"__init__", "__main__", "cli"}
    assert set(dir(ntm)) == {*ntm.__all__, *packages, *modules}
    for name in dir(ntm):
        assert getattr(ntm, name) is not None
    for missing in ("nothing", "cli", "__main__"):
        with pytest.raises(AttributeError, match=f"module 'ntm' has no attribute '{missing}'"):
            ntm.__getattr__(missing)


TASK = Copy()
BATCH = TASK.sample(32, torch.Generator().manual_seed(0))
NET = NTM(TASK.input_size, TASK.output_size, controller="lstm", heads=4)
STEPS = len(BATCH.inputs)
# Values that a notebook cell may end with, a shape that each has to tell, characters at most.
VALUES: dict[str, tuple[Callable[[], object], str, int]] = {
    "State": (lambda: NET.initial_state(32), "memory=(32, 128, 20)", 300),
    "LSTMState": (lambda: LSTMBaseline(9, 8).initial_state(32), "hidden=(32, 3, 256)", 300),
    "Batch": (lambda: BATCH, f"inputs=({STEPS}, 32, 9)", 300),
    "a part of a Batch": (lambda: BATCH.narrow(3, 5), "lengths=(2,)", 300),
    "Trace": (lambda: NET.trace(BATCH.inputs), f"read_weightings=({STEPS}, 32, 4, 128)", 300),
    "Trace with memory": (
        lambda: NET.trace(BATCH.inputs, memory=True),
        f"memory=({STEPS}, 32, 128, 20)",
        400,
    ),
    "Recording": (lambda: record(NET, TASK, 8, 1), "write_weightings=", 700),
    "View": (lambda: ntm.studio.show(NET, BATCH.narrow(0, 1), TASK), "'copy', height=900", 100),
    "Card": (lambda: ntm.pretrained.facts("copy-ff"), "memory_locations=128", 1200),
}


@pytest.mark.parametrize("name", VALUES)
def test_a_value_prints_in_one_line_without_its_numbers(name: str) -> None:
    make, told, limit = VALUES[name]
    text = repr(make())
    assert told in text
    assert len(text) < limit
    assert not re.search(r"\n|tensor\(|array\(", text)


def test_the_version_is_the_same_wherever_it_is_told() -> None:
    root = Path(__file__).parents[1]
    newest = re.search(r"^## \[([\d.]+)\]", (root / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert newest is not None
    assert newest[1] == ntm.__version__
    assert f"\nversion: {ntm.__version__}\n" in (root / "CITATION.cff").read_text()

"""Choice of the extension, and the package without an extension."""

import os

import pytest
from tests.engine.conftest import RunPython

from ntm.engine import native

COMPARE_ALL = """
from ntm.engine import native
from tests.engine.cases import CASES
from tests.engine.comparison import require_equal_engines

for name, case in CASES.items():
    try:
        require_equal_engines(case)
    except AssertionError as error:
        print(f"{name}: {error}")
print(native.loaded().target)
"""

WITHOUT_EXTENSION = """
import sys

class Hide:
    def find_spec(self, name, path=None, target=None):
        if name.startswith("ntm.engine._native"):
            raise ModuleNotFoundError(f"No module named {name!r}")

sys.meta_path.insert(0, Hide())
"""


# All other tests run on the best instruction set.
OTHERS = native.loaded().module.supported()[1:] or ["baseline"]


@pytest.mark.parametrize("target", OTHERS)
def test_the_engines_agree_on_every_instruction_set(target: str, run_python: RunPython) -> None:
    """New memory holds 3.4e38 instead of zero, which poisons the kernels' own buffers."""
    done = run_python(COMPARE_ALL, NTM_INSTRUCTIONS=target, MALLOC_PERTURB_="128")
    assert done.stderr == ""
    assert done.stdout == f"{target}\n"


def test_the_best_instruction_set_is_the_default() -> None:
    supported = native.loaded().module.supported()
    assert supported[-1] == "baseline"
    assert native.loaded().target == os.environ.get("NTM_INSTRUCTIONS", supported[0])


def test_an_unknown_instruction_set_is_refused_in_a_sentence(run_python: RunPython) -> None:
    done = run_python("import ntm.engine", NTM_INSTRUCTIONS="sse9")
    listed = ", ".join(native.loaded().module.supported())
    assert done.returncode != 0
    assert f"NTM_INSTRUCTIONS must be one of {listed}, " in done.stderr
    assert "got 'sse9'." in done.stderr


def test_without_the_extension_the_package_runs_on_the_reference(run_python: RunPython) -> None:
    done = run_python(
        WITHOUT_EXTENSION
        + """
import torch
from ntm import NTM, engine
from ntm.tasks import Copy
from ntm.training import GravesRMSprop, Stream
from ntm.models import family_of

choice = engine.choose("auto", torch.device("cpu"), torch.float32)
print(choice.name)
print(choice.reason)
net = NTM(3, 2, controller_size=5, memory_locations=7, memory_width=3)
step = family_of(net).step(net, GravesRMSprop(net.parameters()))
print(type(step).__name__, step(Stream(Copy(bits=2), seed=1, batch_size=2).block(0), 0, 2) > 0)
print(net.trace(torch.ones(4, 1, 3)).outputs.shape)
net.engine = "native"
try:
    net(torch.ones(4, 1, 3))
except RuntimeError as error:
    print(error)
"""
    )
    assert done.stderr == ""
    name, reason, step, shape, refusal = done.stdout.splitlines()
    assert name == "reference"
    assert "No module named" in reason
    assert "Fix this problem, or install a C++ compiler if there is none" in reason
    assert step == "TorchStep True"
    assert shape == "(4, 1, 2)"
    advice = "Give the network engine='reference'."
    assert refusal == f"The native engine cannot run here: {reason} {advice}"

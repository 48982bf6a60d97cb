"""Private names of torch are in one file, and a torch that lacks one still runs the layer."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from tests.test_architecture import SOURCE, names_used

from ntm import torch_names

ROOT = Path(__file__).parents[1]
LEVEL = "torch._C._functorch.peek_interpreter_stack"


def run_without(names: set[str], script: str) -> subprocess.CompletedProcess[str]:
    """Run a script where looking for these names of torch finds nothing; torch itself has them."""
    search = (
        "import pkgutil, sys, torch\n"
        "usual = pkgutil.resolve_name\n"
        "def resolve_name(name):\n"
        f"    if name in {sorted(names)}:\n"
        "        raise AttributeError(name)\n"
        "    return usual(name)\n"
        "pkgutil.resolve_name = resolve_name\n"
    )
    command = [sys.executable, "-c", search + script]
    return subprocess.run(command, capture_output=True, check=False, text=True)


COMPARISON = """
from ntm import NTM, torch_names
print(*torch_names.MISSING)
for controller in ("feedforward", "lstm"):
    torch.manual_seed(0)
    net = NTM(3, 2, controller=controller, memory_locations=11, engine="native")
    x, found = torch.randn(5, 2, 3), []
    for net.engine in ("native", "reference"):
        net.zero_grad()
        logits, _ = net(x, lengths=[5, 3])
        logits.square().sum().backward()
        read = torch.tensor(net.trace(x).read_weightings)
        found.append([logits, net.cell.output.weight.grad, net.start.read_logits.grad, read])
    torch.testing.assert_close(*found)
"""


def test_without_private_names_the_engines_agree() -> None:
    names = set(torch_names.LOOKED_UP) - {LEVEL}
    done = run_without(names, COMPARISON)
    assert done.stderr == ""
    assert set(done.stdout.split()) == names
    assert len(names) >= 10


INFO = "from ntm.commands.main import main\nsys.exit(main(['info', '--json']))"


def test_info_tells_what_torch_lacks_and_which_engine_runs() -> None:
    whole = json.loads(run_without(set(), INFO).stdout)
    assert (whole["torch_lacks"], whole["engine"]) == ("nothing", "native")
    assert whole["torch_tested"].split(", ") == list(torch_names.TESTED)
    facts = json.loads(run_without({LEVEL}, INFO).stdout)
    assert facts["engine"] == "reference"
    assert LEVEL in facts["engine_reason"]
    assert LEVEL in facts["torch_lacks"]
    assert "the native engine does not run" in facts["torch_lacks"]


def test_info_does_not_promise_an_engine_that_fails() -> None:
    facts = json.loads(run_without(set(), f"del torch.is_grad_enabled\n{INFO}").stdout)
    assert facts["engine"] == "none"
    assert "is_grad_enabled" in facts["engine_reason"]


def test_an_older_torch_is_told_once() -> None:
    script = "torch.__version__ = '2.7.1'\nfrom ntm import NTM\nNTM(3, 2)(torch.zeros(1, 1, 3))"
    done = run_without(set(), script)
    assert done.returncode == 0
    assert done.stderr.count("torch 2.7.1 is older than 2.9") == 1


def test_this_torch_has_all_names() -> None:
    assert torch_names.MISSING == {}


def is_private(name: str) -> bool:
    parts = name.split(".")
    private = [part for part in parts if re.match(r"_(?!_|foreach_)", part)]
    return parts[0] == "torch" and bool(private)


@pytest.mark.parametrize("name", ["torch._C._x", "torch.autograd.forward_ad._current_level"])
def test_a_private_name_is_told_from_a_public_one(name: str) -> None:
    assert is_private(name)
    assert not any(map(is_private, ("torch.nn", "torch.__version__", "torch._foreach_add")))


def test_private_names_of_torch_are_in_one_file() -> None:
    found = {}
    for file in (SOURCE / "ntm").rglob("*.py"):
        package = ".".join(file.relative_to(SOURCE).parent.parts)
        found[file.name] = {n for n in names_used(file.read_text(), package) if is_private(n)}
    assert found.pop("torch_names.py")
    assert {name: names for name, names in found.items() if names} == {}


def test_every_file_tells_the_same_versions() -> None:
    oldest, usual, newest = torch_names.TESTED
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert f"torch>={torch_names.OLDEST}" in project["dependencies"]
    assert oldest.startswith(torch_names.OLDEST)
    assert f"TORCH := {usual}\n" in (ROOT / "Makefile").read_text()
    told = f"{oldest}, {usual} and {newest}"
    assert told in (ROOT / "docs" / "stability.md").read_text()
    assert told in (ROOT / "docs" / "torch.md").read_text()
    workflow = ROOT / ".github" / "workflows" / "ci.yml"
    assert f'torch: ["{oldest}", "{newest}"]' in workflow.read_text()

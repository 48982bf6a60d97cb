"""Smoke test of an installed package: the native engine runs, equals the reference, and learns.

    make test-wheel
    python tests/smoke.py reference     # for a package without the native engine

It needs only the package itself, so it can run without the tests' dependencies.
"""

import json
import subprocess
import sys
import sysconfig
from pathlib import Path

import torch

import ntm
from ntm import NTM, engine


def main(expected: str = "native") -> None:
    where = Path(ntm.__file__).parent
    assert where.parent == Path(sysconfig.get_path("platlib")), f"{where} is not installed"
    info = json.loads(ntm_command("info", "--json"))
    assert info["engine"] == expected, info
    if expected == "native":
        require_abi()
        require_equal_engines()
        require_learning()
    evaluated = json.loads(ntm_command("eval", "copy-ff", "--sequences", "20", "--json"))
    assert evaluated["perfect"] == 1, evaluated
    build = info["native_build"].rstrip(".")
    print(f"Python {sys.version.split()[0]}, torch {torch.__version__}: works; {build}.")


def require_abi() -> None:
    """Check that the extension works for every Python from 3.12 on."""
    extension = Path(engine.native.loaded().module.__file__)
    if sys.version_info >= (3, 12):
        assert extension.name.endswith(".abi3.so"), extension


def require_learning() -> None:
    """Check that a short training on copy halves the cost."""
    ntm_command("train", "copy", "--run", "run", "--sequences", "2000", "--seed", "1")
    first, *_, last = map(json.loads, Path("run/metrics.jsonl").read_text().splitlines())
    assert last["bits"] < first["bits"] / 2, (first, last)


def require_equal_engines() -> None:
    """Compare outputs and gradients of one network. The tests of the engines are stricter."""
    torch.manual_seed(1)
    net = NTM(3, 2, controller="lstm", heads=2).double()
    x, gradients = torch.randn(7, 3, 3, dtype=torch.float64), []
    for name in ("native", "reference"):
        net.engine = name
        logits, _ = net(x)
        gradients.append([logits, *torch.autograd.grad(logits.square().sum(), net.parameters())])
    torch.testing.assert_close(*gradients)


def ntm_command(*words: str) -> str:
    command = [sys.executable, "-m", "ntm", *words]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


if __name__ == "__main__":
    main(*sys.argv[1:])

"""An installed package works: the native engine runs, equals the reference, and learns.

    make test-wheel

It needs nothing but the package itself, so that it can run where the tests' own needs are not met.
"""

import json
import subprocess
import sys
import sysconfig
from pathlib import Path

import torch

import ntm
from ntm import NTM, engine


def main() -> None:
    where = Path(ntm.__file__).parent
    assert where.parent == Path(sysconfig.get_path("platlib")), f"{where} is not installed"
    extension = Path(engine.native.loaded().module.__file__)
    if sys.version_info >= (3, 12):
        assert extension.name.endswith(".abi3.so"), extension
    require_equal_engines()
    trained = Path("run")
    ntm_command("train", "copy", "--run", str(trained), "--sequences", "2000", "--seed", "1")
    first, *_, last = map(json.loads, (trained / "metrics.jsonl").read_text().splitlines())
    assert last["bits"] < first["bits"] / 2, (first, last)
    info = json.loads(ntm_command("info", "--json"))
    assert info["engine"] == "native", info
    print(f"Python {sys.version.split()[0]}, torch {torch.__version__}: {extension.name} works.")


def require_equal_engines() -> None:
    """Outputs and gradients of one network, which the engines' own tests compare more closely."""
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
    main()

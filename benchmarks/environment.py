"""Separate environments for benchmarks that need other packages.

    environment.run_inside("rivals", ["jax", "dnc"])

The first call makes the environment build/rivals. The script then starts again inside it, with this
package from src.
"""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).parents[1]
# What this package itself needs, in the versions of the environment that starts the script.
OWN = ("torch", "numpy", "safetensors", "rich", "jinja2")


def run_inside(name: str, packages: Sequence[str], variables: Mapping[str, str]) -> None:
    """Return if the script runs in the environment; otherwise start it again there.

    name: folder below build.
    packages: packages to install; the requirements of this package are added.
    variables: environment variables of the new process.
    """
    home = ROOT / "build" / name
    if Path(sys.prefix) == home.resolve():
        return
    own = [f"{package}=={version(package).partition('+')[0]}" for package in OWN]
    _install(home, [*own, *packages])
    python = str(home / "bin" / "python")
    settings = {**os.environ, "PYTHONPATH": str(ROOT / "src"), **variables}
    os.execve(python, [python, *sys.argv], settings)


def _install(home: Path, packages: Sequence[str]) -> None:
    """Make the environment, unless an earlier call has installed the same packages."""
    listed, done = "\n".join(packages), home / "installed.txt"
    if done.exists() and done.read_text() == listed:
        return
    print(f"Installing into {home.relative_to(ROOT)} ...", file=sys.stderr)
    subprocess.run([sys.executable, "-m", "venv", str(home)], check=True)
    pip = [str(home / "bin" / "python"), "-m", "pip", "install", "--quiet", "--quiet"]
    subprocess.run([*pip, *packages], check=True)
    done.write_text(listed)

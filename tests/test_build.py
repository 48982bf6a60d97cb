"""The package installs even if the extension does not compile, and reports the outcome."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[1]
PROGRAMS = Path(sys.executable).parent


def built(folder: Path, **environment: str) -> tuple[str, set[str]]:
    """Run CMake's three steps; return the text of _build.txt and the other installed files."""
    cmake, engine = PROGRAMS / "cmake", folder / "package/ntm/engine"
    tools = {"CMAKE_MAKE_PROGRAM": PROGRAMS / "ninja", "Python_EXECUTABLE": sys.executable}
    settings = [f"-D{name}={value}" for name, value in tools.items()]
    for command in (
        [cmake, "-S", PROJECT, "-B", folder, "-G", "Ninja", *settings],
        [cmake, "--build", folder],
        [cmake, "--install", folder, "--prefix", folder / "package"],
    ):
        subprocess.run(command, env={**os.environ, **environment}, check=True)
    others = {file.name for file in engine.iterdir()} - {"_build.txt"}
    return (engine / "_build.txt").read_text(), others


@pytest.mark.parametrize(
    ("environment", "reason"),
    [
        ({"NTM_PURE": "1"}, "NTM_PURE was set$"),
        ({"CXX": "/nowhere/c++"}, r"/nowhere/c\+\+[.]$"),
        ({"CXX": "/bin/false"}, '"/bin/false" is not able to compile a simple test program[.]$'),
        ({"CXXFLAGS": "-nostdinc++"}, r"\S+:\d+:\d+: fatal error: .*c\w+"),
    ],
    ids=["not wanted", "no compiler", "a broken compiler", "no headers"],
)
def test_without_a_working_compiler_the_reason_is_installed(
    environment: dict[str, str], reason: str, tmp_path: Path
) -> None:
    said, installed = built(tmp_path, **environment)
    assert re.match(f"built without the native engine: .*{reason}", said)
    assert said.count("\n") == 1
    assert installed == set()


def test_a_wheel_is_built_without_writing_to_the_source(tmp_path: Path) -> None:
    source, wheels = tmp_path / "source", tmp_path / "wheels"
    ignored = shutil.ignore_patterns("__pycache__", "_native_*", "_build.txt", "pretrained")
    shutil.copytree(PROJECT / "src", source / "src", ignore=ignored)
    for name in ("CMakeLists.txt", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(PROJECT / name, source)
    before = set(source.rglob("*"))
    hook = f"from scikit_build_core.build import build_wheel; build_wheel({str(wheels)!r})"
    path = os.pathsep.join([str(PROGRAMS), os.environ["PATH"]])
    environment = {**os.environ, "NTM_PURE": "1", "PATH": path}
    subprocess.run([sys.executable, "-c", hook], cwd=source, env=environment, check=True)
    assert list(wheels.glob("*.whl"))
    assert set(source.rglob("*")) == before

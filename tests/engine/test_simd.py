"""Accuracy of the kernels' vector functions, measured in C++ for every instruction set."""

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from ntm.engine import native

HERE = Path(__file__).parent
SOURCES = HERE.parents[1] / "src/ntm/engine/csrc"
FLAGS = {
    "baseline": [],
    "avx2": ["-mavx2", "-mfma"],
    "avx512": ["-mavx512f", "-mavx512dq", "-mavx512vl", "-mavx512bw", "-mfma"],
}
# Units in the last place of the exact result.
LIMITS = {"exp": 1.5, "log": 1.5, "sigmoid": 3, "tanh": 2}
# Flags with which CMakeLists.txt compiles the kernels.
SHARED_FLAGS = ["-std=c++17", "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=fast"]


@pytest.mark.parametrize("target", native.loaded().module.supported())
def test_the_functions_are_exact_to_their_last_digit(target: str, tmp_path: Path) -> None:
    program = tmp_path / "simd_accuracy"
    warnings = ["-Wall", "-Wextra", "-Werror", "-Wno-psabi"]
    flags = ["-O2", *SHARED_FLAGS, *warnings, *FLAGS[target], f"-DNTM_TARGET={target}"]
    files = [f"-I{SOURCES}", HERE / "simd_accuracy.cpp", "-o", program]
    subprocess.run([os.environ.get("CXX", "c++"), *flags, *files], check=True)
    require_exact_functions([program])


def require_exact_functions(command: Sequence[str | Path]) -> None:
    """Require that the printed errors are within the limits, for every function and precision."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, "a special value gives a wrong result"
    errors = {}
    for line in done.stdout.splitlines():
        function, bits, units, _ = line.split()
        errors[function, int(bits)] = float(units)
    assert errors.keys() == {(function, bits) for function in LIMITS for bits in (32, 64)}
    for (function, _), error in errors.items():
        assert error < LIMITS[function], done.stdout
        assert error > 0.5, "where nothing is rounded, nothing was measured"

"""Build the kernels as WebAssembly: python build_web.py [FILE]

FILE is ../web/engine.wasm, which the package carries, unless another is named. It needs `ziglang`
in the version of pyproject.toml: then the file is the same to the byte wherever it is built.
"""

import subprocess
import sys
from pathlib import Path

from ntm.config import SHARPENING_EPSILON, SIMILARITY_EPSILON

HERE = Path(__file__).parent
PACKAGED = HERE.parent / "web" / "engine.wasm"

FLAGS = [
    *("-target", "wasm32-wasi", "-mexec-model=reactor", "-msimd128"),
    *("-fno-exceptions", "-fno-rtti"),
    # Functions that are not inlined keep their vectors in memory: a fifth of the speed.
    *("-mllvm", "-inline-threshold=1000"),
    *("-std=c++17", "-O3", "-s", "-Wall", "-Wextra", "-Werror"),
    # As CMakeLists.txt has them, so that the numbers are those of the baseline.
    *("-fno-math-errno", "-fno-trapping-math", "-ffp-contract=fast"),
    *("-DNTM_TARGET=web", f"-DNTM_SIMILARITY_EPSILON={SIMILARITY_EPSILON!r}"),
    f"-DNTM_SHARPENING_EPSILON={SHARPENING_EPSILON!r}",
    *("-Wl,--gc-sections", "-Wl,--export=malloc", "-Wl,--export=free"),
]


def build(file: Path) -> None:
    """Compile and link engine.wasm."""
    compiler = [sys.executable, "-m", "ziglang", "c++"]
    sources = ["web.cpp", "kernels.cpp"]  # relative: a path would stay in the file
    subprocess.run([*compiler, *FLAGS, *sources, "-o", file.resolve()], cwd=HERE, check=True)
    file.chmod(0o644)


if __name__ == "__main__":
    build(Path(sys.argv[1]) if len(sys.argv) > 1 else PACKAGED)

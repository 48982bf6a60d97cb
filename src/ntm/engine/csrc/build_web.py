"""Build the kernels as WebAssembly: python build_web.py [FILE]

FILE defaults to ../web/engine.wasm, which the package contains. The build needs `ziglang` in the
version of pyproject.toml: every machine then builds the same bytes.
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
    # Functions that are not inlined keep their vectors in memory, which costs a fifth of the speed.
    *("-mllvm", "-inline-threshold=1000"),
    *("-std=c++17", "-O3", "-s", "-Wall", "-Wextra", "-Werror"),
    # The flags of CMakeLists.txt, so that the results equal the baseline's.
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

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

RunPython = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def run_python() -> RunPython:
    """Run a script in a new interpreter with the same packages; keywords: environment variables."""

    def run(script: str, **environment: str) -> subprocess.CompletedProcess[str]:
        flags = ["-S"] if sys.flags.no_site else []
        return subprocess.run(
            [sys.executable, *flags, "-c", script],
            cwd=Path(__file__).parents[2],
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            check=False,
        )

    return run

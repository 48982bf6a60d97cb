import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize("context", ["fork", "spawn"])
def test_workers_of_a_loader_compute_what_their_parent_does(context: str) -> None:
    command = [sys.executable, "-m", "tests.engine.loaders", context]
    root = Path(__file__).parents[2]
    done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=root)
    assert done.stdout == "equal 4\n", done.stderr

"""Programs in the documents."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"


def run_the_program(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the only Python block of a document in this folder."""
    monkeypatch.chdir(folder)
    (program,) = re.findall(r"```python\n(.*?)```", (DOCS / name).read_text(), re.DOTALL)
    exec(compile(program, name, "exec"), {})

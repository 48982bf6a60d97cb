"""The documents' code runs, and shows what they say."""

import re
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"


def python_blocks(document: Path) -> str:
    """All Python blocks of a document, in order, as one program."""
    return "\n".join(re.findall(r"```python\n(.*?)```", document.read_text(), flags=re.DOTALL))


def test_derivation_of_the_backward_pass_equals_autograd():
    program = python_blocks(DOCS / "engine.md")
    assert program.count("same_as_autograd(") == 10  # the definition, and nine comparisons
    exec(compile(program, "engine.md", "exec"), {})

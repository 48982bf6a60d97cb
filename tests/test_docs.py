"""The documents' code runs, and shows what they say."""

import re
from pathlib import Path

import torch

DOCS = Path(__file__).parents[1] / "docs"


def python_blocks(document: Path) -> str:
    """All Python blocks of a document, in order, as one program."""
    return "\n".join(re.findall(r"```python\n(.*?)```", document.read_text(), flags=re.DOTALL))


def test_derivation_of_the_backward_pass_equals_autograd():
    program = python_blocks(DOCS / "engine.md")
    assert program.count("same_as_autograd(") == 10  # the definition, and nine comparisons
    exec(compile(program, "engine.md", "exec"), {})


def test_the_page_on_pytorch_runs():
    program = {}
    exec(compile(python_blocks(DOCS / "torch.md"), "torch.md", "exec"), program)
    assert program["features"].dtype == torch.bfloat16
    assert program["logits"].shape == (50, 2, 8)

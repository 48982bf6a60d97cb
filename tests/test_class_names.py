"""One noun, one meaning: no two public classes of the package share a name."""

import ast
from collections import defaultdict
from pathlib import Path

import ntm

PACKAGE = Path(ntm.__file__).parent


def public_classes(source: str) -> list[str]:
    classes = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ClassDef))
    return [node.name for node in classes if not node.name.startswith("_")]


def homes() -> dict[str, list[str]]:
    """Return the files that define each public class."""
    found: dict[str, list[str]] = defaultdict(list)
    for file in sorted(PACKAGE.rglob("*.py")):
        for name in public_classes(file.read_text()):
            found[name].append(str(file.relative_to(PACKAGE)))
    return found


def test_no_two_public_classes_share_a_name() -> None:
    assert {name: files for name, files in homes().items() if len(files) > 1} == {}


def test_the_walk_finds_classes_at_every_level() -> None:
    source = "class A:\n    class B: ...\ndef f():\n    class C: ...\nclass _D: ...\n"
    assert public_classes(source) == ["A", "B", "C"]
    assert homes()["NTM"] == ["layer/network.py"]

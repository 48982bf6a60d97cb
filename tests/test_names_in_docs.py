"""Names in the documents exist: targets, files, modules and functions, settings, counts."""

import importlib
import re
from pathlib import Path
from typing import Any

import pytest
from tests.mutants import mutants
from tests.mutate import TESTS

from ntm.models import MODELS
from ntm.paper import experiments, published, settings_for
from ntm.runs.settings import SECTIONS

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
DOCUMENTS = [
    *(path for path in sorted(ROOT.glob("*.md")) if path.name != "CHANGELOG.md"),
    *sorted(DOCS.rglob("*.md")),
    *sorted(ROOT.glob("*/README.md")),
]
TESTING = (DOCS / "testing.md").read_text()
ENTRY_POINTS = {"ntm.families"}  # a group, and no module
LOOK_LIKE_SETTINGS = {"model.safetensors", "optimiser.h", "training.h", "task.chance_bits"}


def quoted(text: str) -> list[str]:
    """Return the texts in backticks, outside of blocks."""
    return re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", text, flags=re.DOTALL))


def names(text: str) -> set[str]:
    """The dotted names that begin with the package, such as ntm.tasks.Copy."""
    found = (re.match(r"ntm(\.[A-Za-z_]\w*)+", part) for part in quoted(text))
    return {match[0] for match in found if match} - ENTRY_POINTS


def resolve(name: str) -> Any:
    """Return the module or the member of a module that a dotted name stands for."""
    module, _, attribute = name.rpartition(".")
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        return getattr(resolve(module), attribute)


def settings(text: str) -> set[str]:
    """The settings that a text names, such as training.seed."""
    sections = "|".join(SECTIONS)
    pattern = rf"(?:--set )?((?:{sections})\.[a-z_]+)(?:=.*)?"
    found = (re.fullmatch(pattern, part) for part in quoted(text))
    return {match[1] for match in found if match} - LOOK_LIKE_SETTINGS


def files(text: str) -> set[str]:
    """The files and folders of the repository that a text names."""
    folders = "src|tests|docs|examples|benchmarks|results"
    found = (re.fullmatch(rf"(?:{folders})(?:/[\w.*-]+)+/?", part) for part in quoted(text))
    return {match[0] for match in found if match}


KNOWN_SETTINGS = {
    key for e in experiments() for model in MODELS for key in settings_for(e.task, model).flat()
}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_what_a_document_names_is_there(document: Path) -> None:
    text = document.read_text()
    for name in names(text):
        assert resolve(name) is not None
    assert settings(text) <= KNOWN_SETTINGS
    assert [file for file in files(text) if not any(ROOT.glob(file))] == []
    targets = set(re.findall(r"^([a-z0-9-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert set(re.findall(r"(?:`|^ {4})make ([a-z0-9-]+)", text, re.MULTILINE)) <= targets


def test_names_are_found_and_wrong_ones_refused() -> None:
    text = "`ntm.tasks.Copy(bits=4)` `training.seed` `--set task.bits=6` `tests/mutate.py`"
    assert names(text) == {"ntm.tasks.Copy"}
    assert settings(text) == {"training.seed", "task.bits"}
    assert files(text) == {"tests/mutate.py"}
    with pytest.raises(AttributeError):
        resolve("ntm.tasks.Cpoy")


def test_the_mutants_are_as_many_as_the_page_says() -> None:
    count = sum(len(list(mutants(module))) for module in TESTS)
    assert f"{count:,} places where" in TESTING


def test_the_papers_numbers_beyond_the_paper_are_those_of_its_figures() -> None:
    page = (DOCS / "beyond.md").read_text()
    costs = [published.final_cost("ngrams", model) for model in ("ntm-ff", "ntm-lstm")]
    ours = " and ".join(f"{reading.bits:.2f}" for reading in costs if reading is not None)
    assert f"ahead of the paper's networks ({ours} at 200 bits)" in page

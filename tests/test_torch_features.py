"""docs/torch.md, row by row: every entry of its tables is tried, and every check has its row.

A new feature is one line of the page and one function with `@feature(its name)` in a file of
tests/torch_features, which receives the engine and asserts that the numbers are right. A new
library is one line, one file of tests/ecosystem and one version in pyproject.toml.
"""

import re
import tomllib
import warnings
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.torch_features import calls, networks, programs, sharding, transforms
from tests.torch_features.feature import CHECKS

PAGE = Path(__file__).parents[1] / "docs" / "torch.md"
PROJECT = Path(__file__).parents[1] / "pyproject.toml"
ECOSYSTEM = Path(__file__).parent / "ecosystem"
FILES = (calls, networks, programs, sharding, transforms)
REFUSALS = (RuntimeError, TypeError, ValueError)

pytestmark = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning",
    "ignore::FutureWarning",
    # Of torch's own scan, and of its ONNX exporter where x and lengths share an axis.
    "ignore:The .grad attribute of a Tensor that is not a leaf",
    "ignore:# The axis name",
    "ignore:The given buffer is not writable",  # of torch.export.load, in torch 2.9
)


class Row(NamedTuple):
    name: str
    native: str
    reference: str


class Library(NamedTuple):
    name: str
    native: str
    reference: str
    version: str
    test: str


def cells(page: str, head: str) -> list[list[str]]:
    """The cells, by row, of all tables whose first column has this head."""
    tables = re.findall(r"^\| (.+?) \|.*\n\|[-|]+\|\n((?:\| .*\n)+)", page, re.MULTILINE)
    lines = [line for first, body in tables if first == head for line in body.splitlines()]
    return [[cell.strip() for cell in line.strip("| ").split(" | ")] for line in lines]


def rows(page: str) -> list[Row]:
    """The rows of the page's tables of features: feature, native, reference, remarks."""
    return [Row(*row[:3]) for row in cells(page, "feature")]


ROWS = rows(PAGE.read_text())
ENTRIES = [(row.name, column, getattr(row, column)) for row in ROWS for column in Row._fields[1:]]


def try_entry(name: str, engine: str, entry: str) -> None:
    """Fail unless the feature does on this engine what the entry says."""
    use, refusal = CHECKS[name]
    if entry == "works":
        return use(engine)
    with pytest.raises(REFUSALS, match=refusal):
        use(engine)
    if entry == "falls back":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # which says why the native engine is left
            use("auto")
    return None


def test_every_row_has_a_check_and_every_check_a_row() -> None:
    names = [row.name for row in ROWS]
    assert len(names) == len(set(names)) >= 25
    assert set(names) == set(CHECKS)
    assert {entry for _, _, entry in ENTRIES} <= {"works", "falls back", "refused"}
    assert {row.reference for row in ROWS} <= {"works", "refused"}  # it has nothing to fall back on


def test_every_library_has_a_file_of_tests_and_a_version() -> None:
    libraries = [Library(*row[:5]) for row in cells(PAGE.read_text(), "library")]
    files = {f"tests/ecosystem/{file.name}" for file in ECOSYSTEM.glob("with_*.py")}
    assert [row.test.strip("`") for row in libraries] == sorted(files)
    extras = tomllib.loads(PROJECT.read_text())["project"]["optional-dependencies"]
    pins = [requirement.split("==") for requirement in extras["ecosystem"] if "==" in requirement]
    assert [[row.name, row.version] for row in libraries] == pins
    for row in libraries:
        tests = (PAGE.parents[1] / row.test.strip("`")).read_text()
        falls_back = "def test_engine_auto_says_that_it_falls_back" in tests
        assert (row.native, row.reference) == ("falls back" if falls_back else "works", "works")


@pytest.mark.parametrize(("name", "engine", "entry"), ENTRIES)
def test_the_page_tells_the_truth(name: str, engine: str, entry: str) -> None:
    try_entry(name, engine, entry)


@pytest.mark.parametrize(
    ("name", "engine", "wrong"),
    [
        ("float64", "native", "refused"),
        ("float64", "native", "falls back"),
        ("float16 parameters", "native", "falls back"),
        ("float16 parameters", "reference", "works"),
        ("bfloat16 parameters", "native", "works"),
    ],
)
def test_a_wrong_entry_is_noticed(name: str, engine: str, wrong: str) -> None:
    with pytest.raises((*REFUSALS, pytest.fail.Exception)):
        try_entry(name, engine, wrong)


def test_a_row_is_read_as_it_is_written() -> None:
    head = "text\n| feature | native | reference | |\n|---|---|---|---|\n"
    page = f"{head}| `a`, b | works | refused | c |\n"
    assert rows(page) == [Row("`a`, b", "works", "refused")]
    assert re.search(r"^\| feature \| native \| reference \|", PAGE.read_text(), re.MULTILINE)

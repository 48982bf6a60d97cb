"""docs/torch.md, row by row: every entry of its table is tried, and every check has its row.

A new row is one line of the page and one function with `@feature(its name)` in a file of
tests/torch_features, which receives the engine and asserts that the numbers are right.
"""

import re
import warnings
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.torch_features import calls, networks, programs, transforms
from tests.torch_features.feature import CHECKS

PAGE = Path(__file__).parents[1] / "docs" / "torch.md"
FILES = (calls, networks, programs, transforms)
REFUSALS = (RuntimeError, TypeError, ValueError)

pytestmark = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning",
    "ignore::FutureWarning",
    # Of torch's own scan, and of its ONNX exporter where x and lengths share an axis.
    "ignore:The .grad attribute of a Tensor that is not a leaf",
    "ignore:# The axis name",
)


class Row(NamedTuple):
    name: str
    native: str
    reference: str


def rows(page: str) -> list[Row]:
    """The rows of the page's tables: feature, native, reference, remarks."""
    cells = [line.strip("| ").split(" | ") for line in page.splitlines() if line.startswith("| ")]
    return [Row(*(cell.strip() for cell in row[:3])) for row in cells if row[0] != "feature"]


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

"""docs/figures.md: its program runs, and its table has all figures."""

import re
from pathlib import Path

import pytest
from tests.documents import run_the_program

from ntm import figures
from ntm.paper.associative_recall import figures as associative_recall
from ntm.paper.gallery import figures_of
from ntm.paper.ngrams import figures as ngrams
from ntm.paper.priority_sort import figures as priority_sort

PAGE = (Path(__file__).parents[2] / "docs" / "figures.md").read_text()


def test_the_program_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run_the_program("figures.md", tmp_path, monkeypatch)
    names = sorted(path.name for path in (tmp_path / "figures").iterdir())
    assert names == ["any.png", "copy.png", "copy.svg"]
    assert "reads where it wrote" in capsys.readouterr().out


def test_every_figure_has_its_function_and_its_number() -> None:
    rows = re.findall(r"^\| ([\d, ]+) \| `(\w+)` \|", PAGE, re.MULTILINE)
    numbers = sorted(int(number) for listed, _ in rows for number in listed.split(","))
    assert numbers == [figure.number for _, figure in figures_of()]
    places = (figures, associative_recall, ngrams, priority_sort)
    for _, name in rows:
        assert any(callable(getattr(place, name, None)) for place in places), name


def test_the_style_of_file_names_is_the_one_described() -> None:
    assert "figure-03-copy-learning-curves.png" in PAGE
    assert figures_of()[2][1].stem == "figure-03-copy-learning-curves"

"""The programs of docs/training.md run as they stand, on fewer sequences."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "training.md"


def test_the_programs_run_one_after_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    programs = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert len(programs) == 4
    for program in programs:
        shortened = (
            program.replace("20_000", "20").replace("500", "5").replace("range(1000)", "range(3)")
        )
        exec(compile(shortened, str(PAGE), "exec"), {})
    printed = capsys.readouterr().out
    assert "finished" in printed
    assert "Evaluation(mean_bits=" in printed
    assert re.search(r"^120 \d+\.\d+ ", printed, re.MULTILINE)
    assert re.search(r"^0 \d+\.\d+$", printed, re.MULTILINE)


def test_every_section_is_described() -> None:
    from ntm.runs.settings import SECTIONS

    page = PAGE.read_text()
    assert all(f"| `{section}` |" in page for section in SECTIONS)

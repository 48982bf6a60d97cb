"""docs/reproduce.md: its program runs, and it knows all options."""

import re
from pathlib import Path

import pytest
from tests.documents import run_the_program

from ntm.commands.main import main
from ntm.paper import experiments

PAGE = (Path(__file__).parents[2] / "docs" / "reproduce.md").read_text()


@pytest.mark.usefixtures("few_figures")
def test_the_program_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run_the_program("reproduce.md", tmp_path, monkeypatch)
    assert capsys.readouterr().out.startswith("copy-ntm-ff-0 400 ")
    assert (tmp_path / "reproduction" / "report.html").exists()


def test_every_option_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("reproduce", "results"):
        with pytest.raises(SystemExit):
            main([command, "--help"])
        for option in set(re.findall(r"--[a-z]+", capsys.readouterr().out)) - {"--help"}:
            assert option in PAGE, f"{command} {option}"


def test_the_cases_are_those_that_are_measured() -> None:
    (line,) = re.findall(r"Beyond the trained range: (.*?items\.)", PAGE, re.DOTALL)
    numbers = {int(number) for number in re.findall(r"\d+", line)}
    measured = {value for e in experiments() for case in e.cases for value in case.values()}
    assert numbers == measured

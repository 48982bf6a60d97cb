"""docs/scale.md: its file is a sweep, and its program runs."""

import re
import tomllib
from pathlib import Path

import pytest

from ntm.scale.grid import jobs_of

TEXT = (Path(__file__).parents[2] / "docs" / "scale.md").read_text()
SWEEPS = TEXT.partition("## Data-parallel training")[0]


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", SWEEPS, flags=re.DOTALL)


def test_the_file_means_what_the_text_says() -> None:
    (block,) = blocks("toml")
    jobs = jobs_of(tomllib.loads(block), "out")
    assert len(jobs) == 2 * 2 * 3 * 2
    assert "copy-ntm-ff-1-learning_rate=0.0001" in {job.name for job in jobs}
    assert {job.sequences for job in jobs if job.settings.task.name == "repeat-copy"} == {40_000}


def test_the_program_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (program,) = blocks("python")
    monkeypatch.chdir(tmp_path)
    exec(compile(program, "scale.md", "exec"), {})
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[:3]] == ["finished"] * 3
    assert re.fullmatch(r"[\d.]+ \([\d.]+ to [\d.]+\)", lines[3])

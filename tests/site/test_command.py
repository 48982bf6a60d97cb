"""ntm site."""

from pathlib import Path

import pytest
import torch
from safetensors import torch as safetensors

from ntm import pretrained
from ntm.commands.main import main


def test_the_same_files_again(site: Path, tmp_path: Path) -> None:
    assert main(["site", "--out", str(tmp_path / "again")]) == 0
    for folder in (tmp_path / "again",) * 2:
        assert main(["site", "--out", str(folder)]) == 0  # over itself
        names = {file.relative_to(site) for file in site.rglob("*") if file.is_file()}
        assert names == {f.relative_to(folder) for f in folder.rglob("*") if f.is_file()}
        for name in names:
            assert (folder / name).read_bytes() == (site / name).read_bytes(), name


def test_weights_are_in_half_precision(site: Path) -> None:
    for name in pretrained.names():
        half = safetensors.load_file(site / "data" / f"{name}.safetensors")
        for key, tensor in pretrained.load(name).state_dict().items():
            assert half[key].dtype == torch.float16
            assert torch.equal(half[key], tensor.half())


def test_another_folder_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "thesis.tex").write_text("all my work")
    assert main(["site", "--out", str(tmp_path)]) != 0
    assert "contains other files than a site" in capsys.readouterr().err
    assert [file.name for file in tmp_path.iterdir()] == ["thesis.tex"]


def test_the_files_name_nothing_that_is_missing(site: Path) -> None:
    kept = (site / "offline.js").read_text().partition("FILES = [")[2].partition("]")[0]
    for name in (part.strip(' "') for part in kept.split(",")):
        assert (site / name).exists(), name

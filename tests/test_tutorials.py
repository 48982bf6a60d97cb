"""Tutorials, notebooks and the one-file example do what they say."""

import math
import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
import torch
from nbclient import NotebookClient
from tests.test_docs import commands, python_blocks

from ntm import NTM
from ntm.commands.main import main
from ntm.models import MODELS
from ntm.tasks import TASKS, Batch, Copy, check_batch, cost_in_bits

ROOT = Path(__file__).parents[1]
TUTORIALS = ROOT / "docs" / "tutorials"
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


@pytest.fixture(autouse=True)
def _forget_new_tasks() -> Iterator[None]:
    known, families = set(TASKS), set(MODELS)
    yield
    for name in set(TASKS) - known:
        del TASKS[name]
    for name in set(MODELS) - families:
        del MODELS[name]


def test_the_program_about_a_machine_prints_the_shapes_of_its_arrays(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.syspath_prepend(ROOT / "examples")
    exec(compile(python_blocks(TUTORIALS / "dnc.md"), "dnc", "exec"), {})
    time, *rest = re.findall(r"\d+", capsys.readouterr().out)
    assert rest == ["4", "16", time, "4", "2", "16"]


@pytest.mark.parametrize("name", ["copy", "layer"])
def test_the_programs_run(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    exec(compile(python_blocks(TUTORIALS / f"{name}.md"), name, "exec"), {})
    printed = capsys.readouterr().out
    if name == "copy":
        assert printed.startswith("tensor([0, 0, 0, 0, 0, 0, 0, 0, 0, 0])\n")
    else:
        losses = [float(line.split()[1]) for line in re.findall(r"(?m)^\d+00 .*$", printed)]
        assert losses[-1] < 0.05  # a guess costs ln 5, 1.6


def shortened(arguments: list[str]) -> list[str]:
    """The same command in less time."""
    if arguments[0] == "train":
        arguments = [*arguments, "--sequences", "60"]
    if arguments[0] in {"eval", "analyse"}:
        arguments = [*arguments, "--sequences", "20"]
    return arguments


@pytest.mark.parametrize("name", ["copy", "task", "dnc"])
def test_the_commands_run_one_after_another(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    page = TUTORIALS / f"{name}.md"
    first, *_ = re.findall(r"(?s)```python\n(.*?)```", page.read_text())
    (tmp_path / "majority.py").write_text(first)
    typed = [arguments for arguments in commands(page.read_text()) if arguments[0] != "studio"]
    assert len(typed) >= 6
    for arguments in typed:
        assert main(shortened(arguments)) == 0, shlex.join(arguments)


def test_the_task_of_the_tutorial_is_what_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    program = python_blocks(TUTORIALS / "task.md")
    names: dict[str, Any] = {"__name__": "majority"}
    exec(compile(program, "task.md", "exec"), names)
    batch = names["batch"]
    assert capsys.readouterr().out.endswith("4.0\n")
    for index, length in enumerate(batch.lengths.tolist()):
        vectors = batch.inputs[: length - 1, index, :4].tolist()
        wanted = [float(sum(column) > len(column) / 2) for column in zip(*vectors, strict=True)]
        assert batch.targets[length - 1, index].tolist() == wanted


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(notebook: Path) -> None:
    content = nbformat.read(notebook, as_version=4)
    nbformat.validate(content)
    assert not any(cell.get("outputs") for cell in content.cells), "clear the outputs"
    NotebookClient(content, timeout=300, kernel_name="python3").execute()
    printed = "".join(
        output.get("text", "") for cell in content.cells for output in cell.get("outputs", ())
    )
    if notebook.stem == "look_inside":
        assert "500 vectors, 512 locations: [0, 0, 0, 0, 0]" in printed
    else:
        assert re.search(r"length 40: .* 100% perfect", printed)


def test_the_one_file_example_runs() -> None:
    script = ROOT / "examples" / "minimal.py"
    command = [sys.executable, str(script), "--steps", "500", "--batch-size", "2"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ)
    first, *lengths = done.stdout.splitlines()
    assert re.fullmatch(r" 1,000 sequences: +\d+\.\d+ bits each", first)
    assert [line.split(":")[0] for line in lengths] == [f"length {n:3}" for n in (10, 20, 50, 120)]
    assert 100 < len(script.read_text().splitlines()) < 160


def test_the_problems_of_the_one_file_example_are_those_of_the_task() -> None:
    example = runpy.run_path(str(ROOT / "examples" / "minimal.py"))
    counts = torch.tensor([1, 4, 20])
    ours = example["draw_batch"](counts, torch.Generator().manual_seed(1))
    theirs = Batch(ours.inputs, ours.targets, ours.scored.float(), ours.lengths)
    check_batch(Copy(), theirs)
    logits = torch.randn(ours.targets.shape, generator=torch.Generator().manual_seed(2))
    torch.testing.assert_close(
        example["bits_per_sequence"](logits, ours), cost_in_bits(logits, theirs)
    )


def test_the_example_of_text_carries_its_state(tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text("the cat sat on the mat. " * 400)
    script = str(ROOT / "examples" / "characters.py")
    command = [sys.executable, script, "--text", str(tmp_path / "text.txt"), "--updates", "100"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ)
    first, result, *written = done.stdout.splitlines()
    assert re.fullmatch(r" +100 updates: \d\.\d{3} bits per character", first)
    carried, new = map(float, re.findall(r"\d+\.\d{3}", result))
    assert carried < 1.5  # the characters alone have an entropy of 3.2 bits
    assert carried < new
    assert len("\n".join(written)) == 200


def test_the_example_of_text_measures_what_one_long_call_gives() -> None:
    example = runpy.run_path(str(ROOT / "examples" / "characters.py"))
    torch.manual_seed(1)
    net = NTM(5, 5, controller_size=7, memory_locations=6, memory_width=3)
    streams = example["streams_of"](torch.randint(5, (900,)), 3)
    inputs = torch.nn.functional.one_hot(streams[:-1], 5).float()
    logits = net(inputs)[0].flatten(0, 1)
    nats = torch.nn.functional.cross_entropy(logits, streams[1:].flatten())
    bits = example["bits_per_character"](net, streams)
    assert bits == pytest.approx(nats.item() / math.log(2), rel=1e-5)
    assert bits != example["bits_per_character"](net, streams, carry=False)

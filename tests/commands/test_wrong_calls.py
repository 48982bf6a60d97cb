"""What is typed wrong gets one sentence, with a hint where something comes close."""

from pathlib import Path

import pytest
from tests.commands.calls import exit_code

from ntm.commands.main import main

Arguments = list[str]
WRONG_CALLS: dict[str, tuple[Arguments, str]] = {
    "task": (["train", "coppy"], "did you mean 'copy'"),
    "no task": (["train"], "Name a task"),
    "model": (["train", "copy", "--model", "lsmt"], "did you mean 'lstm'"),
    "command": (["trian"], "did you mean 'train'"),
    "option": (["train", "copy", "--sed", "1"], "'--sed' of ntm train; did you mean --seed?"),
    "own option": (["--versoin"], "did you mean --version?"),
    "another's name": (["train", "copy", "--epochs=3"], "did you mean --sequences?"),
    "setting as option": (["train", "--lr", "1"], "--set optimiser.learning_rate=VALUE?"),
    "setting with dashes": (["train", "--memory-width", "9"], "--set model.memory_width=VALUE?"),
    "no near option": (["eval", "x", "--zzz"], "'--zzz' of ntm eval. See ntm eval --help."),
    "argument": (["eval", "x", "y"], "There is no argument 'y' of ntm eval."),
    "setting's name": (["train", "copy", "--set", "lr=1"], "such as optimiser.learning_rate;"),
    "another's setting": (
        ["train", "copy", "--set", "optimiser.lr=1"],
        "did you mean 'learning_rate'",
    ),
    "number": (
        ["eval", "x", "--sequences", "many"],
        "--sequences takes a whole number; got 'many'.",
    ),
    "setting": (["train", "copy", "--set", "training.sed=1"], "did you mean 'seed'"),
    "section": (["train", "copy", "--set", "trainin.seed=1"], "did you mean 'training'"),
    "value": (["train", "copy", "--set", "task.bits=x"], "task.bits must be an integer"),
    "no value": (["train", "copy", "--set", "task.bits"], "SECTION.KEY=VALUE"),
    "bounds": (["train", "copy", "--seed", "-1"], "at least 0"),
    "too large": (
        ["train", "copy", "--set", f"task.max_length={10**30}"],
        "an integer of at least 1 that fits into 64 bits",
    ),
    "axis": (["eval", "copy-ff", "--at", "length"], "--at takes AXIS=N, such as depth=5"),
    "no such axis": (["eval", "copy-ff", "--at", "depth=3"], "has no axis 'depth'"),
    "engine": (["train", "copy", "--engine", "warp"], "'auto' or 'native' or 'reference'"),
    "network": (["eval", "copy-f"], "did you mean 'copy-ff'"),
    "nothing near": (["eval", "zzz"], "called 'zzz'. Known: "),
    "required": (["figures", "runs"], "ntm figures needs --out (folder for the figures). See ntm"),
    "no net": (["eval"], "ntm eval needs NET (run folder, saved network, or packaged network"),
    "no shell": (["completion"], "ntm completion needs SHELL (bash, zsh or fish)."),
    "no network": (["figures", "nowhere", "--out", "x"], "no folder or packaged network called"),
    "folder": (["eval", "runs/nowhere"], "There is no folder runs/nowhere."),
    "resume": (["train", "--run", "nowhere", "--resume"], "There is no folder nowhere."),
    "page": (["studio", "nowhere"], "There is no folder nowhere."),
    "weights": (["eval", "copy-ff", "--latest"], "only its best weights; leave --latest out"),
}


@pytest.mark.parametrize("name", WRONG_CALLS)
def test_a_wrong_call_gets_one_sentence(
    name: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    arguments, message = WRONG_CALLS[name]
    assert exit_code(lambda: main(arguments)) == 2
    out, errors = capsys.readouterr()
    assert out == ""
    assert message in errors
    assert errors.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["train", "copy", "--run", "file"], "ntm: file is not a folder; name another one.\n"),
        (["train", "copy", "--run", "file/x"], "ntm: file/x is not a folder; name another one.\n"),
        (["trace", "copy-ff", "--html", "no/x"], "ntm: no/x: No such file or directory.\n"),
    ],
)
def test_what_cannot_be_written_is_named_without_the_systems_numbers(
    arguments: Arguments,
    message: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("file").write_text("")
    assert exit_code(lambda: main(arguments)) != 0
    assert capsys.readouterr().err == message

"""Commands print in every encoding, and print commands that a shell takes as they are."""

import io
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from ntm.commands.main import main, make_writable
from ntm.tasks import pictures

ENVIRONMENTS = {
    "asked for": {"PYTHONIOENCODING": "ascii"},
    "of the locale": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
}


@pytest.mark.parametrize("chosen", ENVIRONMENTS.values(), ids=ENVIRONMENTS)
def test_a_picture_is_printed_in_ascii(chosen: dict[str, str]) -> None:
    command = [sys.executable, "-m", "ntm", "trace", "copy-ff", "--length", "3"]
    done = subprocess.run(command, capture_output=True, env=os.environ | chosen, check=False)
    assert done.returncode == 0, done.stderr
    text = done.stdout.decode("ascii")
    assert "#" in text
    assert "no wrong bits" in text


def written(text: str, encoding: str, errors: str) -> str:
    stream = io.TextIOWrapper(io.BytesIO(), encoding, errors)
    make_writable(stream)
    stream.write(text)
    stream.flush()
    assert isinstance(stream.buffer, io.BytesIO)
    return stream.buffer.getvalue().decode(encoding, errors)


@pytest.mark.parametrize("errors", ["strict", "surrogateescape"])
@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_the_characters_of_pictures_stay_apart(encoding: str, errors: str) -> None:
    characters = pictures.BARS + pictures.ZERO
    plain = written(characters, encoding, errors)
    assert len(set(plain)) == len(characters)
    assert encoding != "ascii" or plain.isascii()
    assert encoding != "utf-8" or plain == characters


def test_other_characters_are_written_as_escapes() -> None:
    assert written("caf\u00e9 \u4e16", "ascii", "strict") == "caf\\xe9 \\u4e16"


def test_a_stream_without_an_encoding_is_left_alone() -> None:
    for stream in (None, io.StringIO()):
        make_writable(stream)


def test_the_command_to_run_next_is_quoted_for_the_shell(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    sizes = ("model.hidden_size=4", "model.layers=1", "task.bits=2", "task.max_length=3")
    small = [text for size in sizes for text in ("--set", size)]
    folder = "runs of mine/it's one"
    first = ["train", "copy", "--model", "lstm", "--run", folder, *small]
    for ending in (["--sequences", "4"], ["--set", "training.stop_after_seconds=1e-9"]):
        assert main([*first, *ending]) == 0
        _, command = capsys.readouterr().out.split(" Next: ntm ")
        following = shlex.split(command)
        assert folder in following
        assert main([*following, "--sequences", "2"] if following[0] == "eval" else following) == 0
        capsys.readouterr()
        folder = first[5] = "another one"


def test_a_sweep_quotes_its_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    grid = Path("my grid.toml")
    grid.write_text(
        'tasks = ["copy"]\nmodels = ["lstm"]\n[model]\nhidden_size = 4\nlayers = 1\n'
        "[task]\nbits = 2\nmax_length = 3\n[training]\nsequences = 4\n"
    )
    assert main(["sweep", str(grid), "--workers", "1"]) == 0
    _, command = capsys.readouterr().out.split(" Next: ")
    assert shlex.split(command)[:3] == ["ntm", "figures", "runs/my grid"]

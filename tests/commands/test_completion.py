"""The script that completes commands, read by a real bash."""

import subprocess
import sys
from pathlib import Path

import pytest

from ntm import pretrained
from ntm.cli import main
from ntm.commands import COMMANDS
from ntm.models import MODELS
from ntm.tasks import TASKS


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("completion") / "ntm.bash"
    command = [sys.executable, "-m", "ntm", "completion", "bash"]
    file.write_bytes(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    return file


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("", [*COMMANDS]),
        ("tra", ["train", "trace"]),
        ("train ", [*TASKS, "--help", "--set"]),
        ("train --mod", ["--model"]),
        ("train --model ", [*MODELS]),
        ("train copy --engine n", ["native"]),
        ("eval copy", ["copy-ff", "copy-lstm"]),
        ("analyse ", [*pretrained.names(), "--json"]),
        ("figures copy-ff --format s", ["svg"]),
    ],
)
def test_bash_offers_what_may_follow(script: Path, typed: str, offered: list[str]) -> None:
    found = completed(script, typed)
    assert set(offered) <= found
    assert all(word.startswith(typed.rpartition(" ")[2]) for word in found)


@pytest.mark.parametrize("typed", ["train --run ", "eval --seed ", "sweep --out "])
def test_after_an_option_with_a_free_value_no_word_is_offered(script: Path, typed: str) -> None:
    assert completed(script, typed) == set()


def test_of_another_command_nothing_is_offered(script: Path) -> None:
    assert "--starts" not in completed(script, "eval ")
    assert completed(script, "eval --star") == set()


def completed(script: Path, typed: str) -> set[str]:
    words = "('ntm' " + " ".join(f"'{word}'" for word in typed.split(" ")) + ")"
    program = (
        f"source {script}; COMP_WORDS={words}; COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); _ntm; "
        'printf "%s\\n" "${COMPREPLY[@]}"'
    )
    done = subprocess.run(["bash", "-c", program], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return set(done.stdout.split())


def test_every_option_is_in_the_scripts_for_other_shells(
    capsys: pytest.CaptureFixture[str],
) -> None:
    scripts = {}
    for shell in ("bash", "zsh", "fish"):
        assert main(["completion", shell]) == 0
        scripts[shell] = capsys.readouterr().out
    assert scripts["zsh"].endswith(scripts["bash"])
    assert "bashcompinit" in scripts["zsh"]
    for line in (
        "complete -c ntm -n '__fish_seen_subcommand_from train' -l batch-size -r -a '' -d ",
        f"complete -c ntm -n '__fish_seen_subcommand_from train' -a '{' '.join(TASKS)}'",
    ):
        assert line in scripts["fish"]

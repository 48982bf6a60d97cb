"""The command as a person or a script meets it, mostly as a real process."""

import json
import os
import pty
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.commands.calls import exit_code

from ntm import __version__
from ntm.commands.main import main
from ntm.models import MODELS
from ntm.runs import Run, read_metrics
from ntm.tasks import TASKS

SMALL = {
    "training.report_every": "20",
    "training.validation_sequences": "3",
    "model.hidden_size": "4",
    "model.layers": "1",
    "task.bits": "2",
    "task.max_length": "3",
}
Finished = subprocess.CompletedProcess[str]


def small_options() -> list[str]:
    return [text for key, value in SMALL.items() for text in ("--set", f"{key}={value}")]


def ntm(*arguments: object, **options: Any) -> Finished:
    command = [sys.executable, "-m", "ntm", *map(str, arguments)]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=300, check=False, **options
    )


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a short run of a tiny LSTM."""
    folder = tmp_path_factory.mktemp("runs") / "copy"
    done = ntm(
        "train",
        "copy",
        "--model",
        "lstm",
        "--sequences",
        60,
        "--seed",
        3,
        "--batch-size",
        4,
        "--run",
        folder,
        *small_options(),
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith("Training lstm on copy")
    assert lines[-1].startswith("Finished after 60 sequences")
    assert lines[-1].endswith(f"Next: ntm eval {folder}")
    assert done.stderr == ""
    return folder


def test_training_leaves_a_complete_folder(trained: Path) -> None:
    names = {path.name for path in trained.iterdir() if not path.name.startswith(".")}
    assert names == {
        "config.json", "metrics.jsonl", "model.safetensors", "best.safetensors", "checkpoint",
        "tensorboard",
    }  # fmt: skip
    training = Run(trained).settings.training
    assert (training.seed, training.batch_size, training.sequences) == (3, 4, 60)
    lines = read_metrics(trained / "metrics.jsonl")
    assert [line["sequences"] for line in lines] == [20, 40, 60]
    assert all({"sequences", "bits", "seconds"} <= line.keys() for line in lines)


def test_a_run_can_be_evaluated(trained: Path) -> None:
    arguments = ("eval", trained, "--sequences", 40, "--seed", 5, "--length", 7, "--json")
    done = ntm(*arguments)
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["sequences"] == 40
    assert answer["length"] == 7
    assert 0 < answer["median_bits"] < 100
    assert 0 < answer["mean_bits"] < 100
    assert 0 <= answer["perfect"] <= 1
    assert json.loads(ntm(*arguments).stdout) == answer


def test_an_early_stop_does_not_claim_that_a_goal_is_reached(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    early = {"stop_when_solved": "true", "solved_bits": "1000", "solved_window": "40"}
    options = [f"--set=training.{key}={value}" for key, value in early.items()]
    folder = str(tmp_path / "copy")
    command = ["train", "copy", "--model", "lstm", "--run", folder, *small_options(), *options]
    assert main([*command, "--batch-size", "4", "--sequences", "400"]) == 0
    told = capsys.readouterr().out
    assert "Stopped early after 40 sequences" in told
    assert "olved" not in told
    assert "Goal" not in told


def test_an_existing_run_is_refused_and_can_be_made_longer(tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    first = ["train", "copy", "--model", "lstm", "--run", str(folder), *small_options()]
    first += ["--batch-size", "4"]
    assert main([*first, "--sequences", "40"]) == 0
    refused = ntm(*first, "--sequences", 40)
    assert refused.returncode == 2
    assert "holds a run already" in refused.stderr
    assert "Traceback" not in refused.stderr
    longer = ntm("train", "--run", folder, "--resume", "--sequences", 80)
    assert longer.returncode == 0, longer.stderr
    assert "from sequence 40 to 80" in longer.stdout
    assert Run(folder).settings.training.sequences == 80
    again = ntm("train", "--run", folder, "--resume")
    assert again.returncode == 0, again.stderr
    (only,) = again.stdout.splitlines()
    assert only.startswith("Finished already after 80 sequences")
    assert only.endswith("or train for longer: --resume --sequences 160")
    shorter = ntm("train", "--run", folder, "--resume", "--sequences", 40)
    assert shorter.returncode == 2
    assert "has been trained on 80 sequences already; ask for more" in shorter.stderr
    assert Run(folder).settings.training.sequences == 80


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_training_cleanly(tmp_path: Path, number: int, code: int) -> None:
    folder = tmp_path / "run"
    command = [sys.executable, "-m", "ntm", "train", "copy", "--model", "lstm"]
    command += ["--run", str(folder), *small_options()]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline().startswith("Training")
    assert "bits per sequence" in process.stdout.readline()
    process.send_signal(number)
    rest, errors = process.communicate(timeout=60)
    assert process.returncode == code
    assert errors == ""
    assert "Interrupted after" in rest
    assert f"ntm train --run {folder} --resume" in rest
    sequences = int(re.search(r"after ([\d,]+) sequences", rest)[1].replace(",", ""))  # type: ignore[index]
    checkpoint = max((folder / "checkpoint").glob("*.json"))
    assert json.loads(checkpoint.read_text())["values"]["sequences"] == sequences > 0


def test_a_run_that_diverges_fails_with_a_sentence(tmp_path: Path) -> None:
    done = ntm(
        "train", "copy", "--model", "lstm", "--run", tmp_path / "run", *small_options(),
        "--set", "optimiser.learning_rate=3e38",
    )  # fmt: skip
    assert done.returncode == 1
    assert re.fullmatch(r"ntm: Training stopped at sequence \d+: .*\n", done.stderr)


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_on_a_terminal_there_is_a_bar_and_a_picture(tmp_path: Path, encoding: str) -> None:
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "ntm", "train", "copy", "--model", "lstm"]
    command += ["--sequences", "600", "--run", str(tmp_path / "run"), *small_options()]
    command += ["--batch-size", "1", "--set", "training.picture_seconds=0.01"]
    environment = os.environ | {"PYTHONIOENCODING": encoding}
    process = subprocess.Popen(command, stdout=theirs, stderr=theirs, env=environment)
    os.close(theirs)
    shown = b""
    while True:
        try:
            shown += os.read(ours, 65536)
        except OSError:  # the other end is closed
            break
    os.close(ours)
    assert process.wait() == 0
    text = shown.decode(encoding)
    assert "100%" in text
    assert "sequences/s" in text
    assert "target" in text
    assert "answer" in text
    assert "Finished after 600 sequences" in text


def test_params_lists_all_fifteen_networks() -> None:
    done = ntm("params", "--json")
    rows = json.loads(done.stdout)
    assert len(rows) == 15
    by_name = {(row["task"], row["model"]): row for row in rows}
    for task in ("copy", "repeat-copy", "associative-recall", "ngrams"):
        assert by_name[task, "lstm"]["difference"] == 0
    assert by_name["copy", "ntm-ff"] == {
        "task": "copy", "model": "ntm-ff", "paper": 17162, "ours": 17125, "difference": -37,
    }  # fmt: skip
    assert all(row["difference"] == row["ours"] - row["paper"] for row in rows)


def test_params_reads_well(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["params"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["task", "model", "paper", "ours", "difference"]
    assert lines[1].split() == ["copy", "ntm-ff", "17,162", "17,125", "-37"]


def test_info_tells_versions_and_engines() -> None:
    import torch

    facts = json.loads(ntm("info", "--json").stdout)
    assert facts["torch"] == torch.__version__
    assert {"ntm", "python", "engine", "engine_reason", "instructions", "threads"} <= facts.keys()


def test_starting_costs_no_module_that_is_not_needed(tmp_path: Path) -> None:
    arguments = ["train", "copy", "--model", "lstm", "--sequences", "10", "--run"]
    arguments += [str(tmp_path / "run"), *small_options()]
    script = (
        f"import sys; from ntm.commands.main import main; main({arguments!r});"
        "print(*{name.partition('.')[0] for name in sys.modules} | set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    loaded = set(done.stdout.splitlines()[-1].split())
    assert "torch" in loaded
    assert not loaded & {"rich", "matplotlib", "ray", "fastapi", "torch._dynamo", "sympy"}


def test_the_version_is_the_packages(capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(lambda: main(["--version"])) == 0
    assert capsys.readouterr().out == f"ntm {__version__}\n"


def test_help_lists_the_commands() -> None:
    done = ntm("--help")
    assert done.returncode == 0
    bare = ntm()
    assert (bare.returncode, bare.stdout, bare.stderr) == (0, done.stdout, "")
    for command in ("train", "eval", "params", "info", "demo"):
        assert re.search(rf"^ +{command} ", done.stdout, re.MULTILINE)
    for name in (*TASKS, *MODELS):
        assert name in done.stdout
    script = (
        "import sys; from ntm.commands.parser import make_parser; make_parser(); "
        "sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


def test_the_papers_protocol_can_be_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    listed = {}
    for options in ([], ["--paper"]):
        assert main(["train", "priority-sort", "--settings", *options]) == 0
        listed[bool(options)] = capsys.readouterr().out
    assert re.search(r"training.sequences\s*=?\s*1000000", listed[True])
    assert re.search(r"optimiser.backward_clip\s*=?\s*none", listed[True])
    assert re.search(r"optimiser.backward_clip\s*=?\s*10", listed[False])


def test_settings_are_listed_with_their_documentation(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train", "copy", "--settings", "--set", "model.shifts=0,1"]) == 0
    listed = capsys.readouterr().out
    assert re.search(r"^task\.max_length +20 +Vectors in the longest", listed, re.MULTILINE)
    assert re.search(r"^model\.shifts +0,1 +Shifts, in locations", listed, re.MULTILINE)
    assert re.search(r"^training\.stop_when_solved +false +Stop early", listed, re.MULTILINE)
    assert "input_size" not in listed


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--items", "3"], "no axis 'items'; it has length"),
        (["--length", "0"], "at least 1"),
        (["--memory-locations", "200"], "LSTM has no memory"),
        (["--sequences", "0"], "at least 1"),
        (["--best", "--latest"], "not allowed with"),
    ],
)
def test_an_evaluation_that_makes_no_sense_is_refused(
    trained: Path, options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert exit_code(lambda: main(["eval", str(trained), *options])) == 2
    out, errors = capsys.readouterr()
    assert out == ""
    assert message in errors


def test_an_axis_is_given_by_any_name(trained: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answers = []
    for option in (["--length", "2"], ["--at", "length=2"]):
        assert main(["eval", str(trained), *option, "--json"]) == 0
        answers.append(json.loads(capsys.readouterr().out))
    assert answers[0] == answers[1]
    assert answers[0]["length"] == 2


def test_the_weights_can_be_chosen(trained: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for option, weights in ((None, "best"), ("--best", "best"), ("--latest", "latest")):
        arguments = ["eval", str(trained), "--sequences", "5", "--json"]
        assert main([*arguments, option] if option else arguments) == 0
        assert json.loads(capsys.readouterr().out)["weights"] == weights


def test_a_readable_evaluation_is_a_table(
    trained: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["eval", str(trained), "--sequences", "1000"]) == 0
    table = dict(line.rsplit(maxsplit=1) for line in capsys.readouterr().out.splitlines())
    assert table["sequences"] == "1,000"
    assert re.fullmatch(r"\d+\.\d{4}", table["mean bits"])


def test_torn_weights_fail_the_job(
    trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "config.json").write_bytes((trained / "config.json").read_bytes())
    assert main(["eval", str(tmp_path)]) == 1
    assert "does not exist yet" in capsys.readouterr().err
    (tmp_path / "best.safetensors").write_bytes(b"torn")
    assert main(["eval", str(tmp_path)]) == 1
    assert "does not hold the weights" in capsys.readouterr().err


def test_resuming_another_task_is_refused(
    trained: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["train", "ngrams", "--run", str(trained), "--resume"]) == 2
    assert f"The task of {trained} is copy, not ngrams" in capsys.readouterr().err
    changed = ["train", "copy", "--run", str(trained), "--resume", "--seed", "9"]
    assert main(changed) == 2
    assert "training.seed is 3" in capsys.readouterr().err


def test_resuming_another_model_is_refused(
    trained: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for task in ([], ["copy"]):
        resuming = ["train", *task, "--run", str(trained), "--resume", "--model", "ntm-ff"]
        assert main(resuming) == 2
        assert f"The model of {trained} is lstm, not ntm-ff" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [
        ["eval", "copy-ff", "--memory-locations", "100000000000000"],
        ["eval", "copy-ff", "--length", "10000000000000"],
        ["train", "copy", "--batch-size", "1000000000000"],
        ["train", "copy", "--set", "training.validation_sequences=10000000000000"],
        ["train", "copy", "--set", f"task.max_length={2**62}"],
    ],
)
def test_what_no_memory_holds_is_refused_in_a_sentence(
    arguments: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 1
    *_notes, sentence = capsys.readouterr().err.splitlines()
    assert "This machine has too little memory for that" in sentence


def test_a_reader_may_leave_a_pipe_early() -> None:
    done = subprocess.run(
        f"{sys.executable} -m ntm train copy --settings | head -n 1",
        shell=True, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stdout.startswith("task.bits")
    assert done.stderr == ""

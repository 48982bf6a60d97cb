"""Ranks that torchrun started train as one process would."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from tests.training import parallel_worker as worker

from ntm.commands import main as cli
from ntm.runs import Run, checkpoints, read_metrics
from ntm.training import train

# Sums in another order differ in the last bits of float32, and a dozen updates add to that.
TOLERANCE = {"rtol": 1e-5, "atol": 2e-6}
# The two hyphens end the options of torchrun, which would take --run for one of its own.
WORKER, NTM = ("--", str(worker.__file__)), ("-m", "--", "ntm")
Process = subprocess.Popen[str]


def torchrun(program: Sequence[str], *arguments: object, restarts: int = 0) -> Process:
    """Two ranks on this machine, which meet at a free port."""
    launcher = ["-m", "torch.distributed.run", "--standalone", "--local-addr", "127.0.0.1"]
    options = ["--nproc-per-node", "2", "--max-restarts", str(restarts)]
    command = [sys.executable, *launcher, *options, *program, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def ntm(folder: Path, *arguments: object, **options: int) -> Process:
    """The ntm command on two ranks, whose process numbers appear in the folder."""
    return torchrun(WORKER, "command", folder, *arguments, **options)


def finished(process: Process) -> tuple[int, str, str]:
    try:
        output, errors = process.communicate(timeout=300)
    except subprocess.TimeoutExpired:
        process.terminate()  # torchrun ends its ranks
        output, errors = process.communicate()
        pytest.fail(f"The ranks do not end.\n{output}\n{errors}")
    return process.returncode, output, errors


def typed(settings: Any) -> list[str]:
    """Options that give these settings to the command."""
    data = settings.to_json()
    pairs = []
    for section, values in data.items():
        for key, value in values.items():
            if key not in {"name", "input_size", "output_size"}:
                text = ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
                pairs += ["--set", f"{section}.{key}={text.lower()}"]
    return [data["task"]["name"], "--model", data["model"]["name"], *pairs]


def curve(folder: Path) -> list[dict[str, float]]:
    lines = read_metrics(folder / "metrics.jsonl")
    return [{k: v for k, v in line.items() if "second" not in k} for line in lines]


def state(folder: Path) -> dict[str, torch.Tensor]:
    newest, problems = checkpoints.load_newest(folder / "checkpoint")
    assert newest is not None
    assert problems == []
    return newest.tensors


def assert_close_runs(left: Path, right: Path) -> None:
    ours, theirs = state(left), state(right)
    assert ours.keys() == theirs.keys()
    for name, tensor in ours.items():
        torch.testing.assert_close(
            tensor, theirs[name], **TOLERANCE, msg=lambda text, name=name: f"{name}: {text}"
        )
    assert len(curve(left)) == len(curve(right))
    for line, other in zip(curve(left), curve(right), strict=True):
        assert line == pytest.approx(other, rel=TOLERANCE["rtol"])


def assert_same_runs(left: Path, right: Path) -> None:
    ours, theirs = state(left), state(right)
    assert curve(left) == curve(right)
    assert ours.keys() == theirs.keys()
    for name, tensor in ours.items():
        assert torch.equal(tensor, theirs[name]), name


def waited_for(condition: Callable[[], object], process: Process) -> None:
    while not condition():
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)


def test_two_ranks_train_as_one_process(tmp_path: Path) -> None:
    code, _, errors = finished(torchrun(WORKER, "train", tmp_path))
    assert code == 0, errors
    for case in worker.CASES:
        settings = worker.settings_of(case)
        alone = tmp_path / "alone" / case
        train(settings, alone)
        assert_close_runs(tmp_path / case, alone)
        assert Run(tmp_path / case).settings == settings
        ranks = [load_file(tmp_path / f"{case}-{rank}.safetensors") for rank in range(2)]
        for name, tensor in ranks[0].items():
            assert torch.equal(tensor, ranks[1][name]), name
            assert torch.equal(tensor, state(tmp_path / case)[f"model/{name}"]), name
    told = [json.loads((tmp_path / f"errors-{rank}.json").read_text()) for rank in range(2)]
    check_refusals(told, tmp_path)
    resume_with_one_and_with_two(tmp_path)


def check_refusals(told: list[dict[str, str]], folder: Path) -> None:
    for errors in told:
        assert "batch_size is 3 and 2 ranks cannot share it evenly" in errors["uneven"]
        assert "--batch-size 4" in errors["uneven"]
        assert "training.device=meta is not for several ranks" in errors["device"]
        # The first block is whole; in the second, only what rank 1 trains on is poisoned.
        assert "RunError: Training stopped at sequence 260: The loss is nan." in errors["poisoned"]
    assert "holds a run already" in told[0]["taken"]
    assert "RunError: Rank 1 of 2 stops because it has lost another" in told[1]["taken"]
    assert not (folder / "uneven").exists()
    assert not (folder / "device").exists()


def resume_with_one_and_with_two(folder: Path) -> None:
    """A run of two ranks goes on with one, then with two, as if it had had one all the time."""
    run, alone = folder / "native", folder / "alone" / "native"
    train(worker.settings_of("native", sequences=worker.BATCH * 16), run, resume=True)
    more = ["--sequences", worker.BATCH * 20]
    code, output, errors = finished(torchrun(NTM, "train", "--run", run, "--resume", *more))
    assert code == 0, errors
    assert output.count("Training ntm-ff on copy") == 1
    assert "from sequence 64 to 80" in output
    assert output.count("Finished after 80 sequences") == 1
    train(worker.settings_of("native", sequences=worker.BATCH * 20), alone, resume=True)
    assert_close_runs(run, alone)


def test_a_signal_to_one_rank_ends_all_with_a_checkpoint(tmp_path: Path) -> None:
    run = tmp_path / "run"
    endless = worker.settings_of("native", sequences=10**9, report_every=100)
    process = ntm(tmp_path, "train", *typed(endless), "--run", run)
    waited_for(lambda: read_metrics(run / "metrics.jsonl"), process)
    os.kill(int((tmp_path / "1.pid").read_text()), signal.SIGINT)
    code, output, errors = finished(process)
    assert code != 0
    assert output.count("Interrupted after") == 1, errors
    assert "commands/main.py" not in errors  # a traceback of torchrun's own is all there may be
    newest, _ = checkpoints.load_newest(run / "checkpoint")
    assert newest is not None
    assert f"Interrupted after {newest.values['sequences']:,} sequences" in output
    assert newest.values["sequences"] >= 100


def test_a_killed_rank_is_restarted_and_the_run_is_the_same(tmp_path: Path) -> None:
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    # A checkpoint at every update leaves the time to kill a rank well before the end.
    slow = worker.settings_of("native", sequences=400, report_every=100, checkpoint_seconds=0)
    process = ntm(tmp_path, "train", *typed(slow), "--run", killed, "--resume", restarts=1)
    waited_for(lambda: len(list((killed / "checkpoint").glob("*.json"))) > 1, process)
    os.kill(int((tmp_path / "1.pid").read_text()), signal.SIGKILL)
    code, output, errors = finished(process)
    assert code == 0, errors
    assert output.count("Training ntm-ff on copy") == 2
    assert output.count("Finished after 400 sequences") == 1
    quick = worker.settings_of("native", sequences=400, report_every=100)
    code, _, errors = finished(ntm(tmp_path, "train", *typed(quick), "--run", whole))
    assert code == 0, errors
    assert_same_runs(killed, whole)


def test_a_batch_that_ranks_cannot_share_is_a_wrong_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in {"TORCHELASTIC_RUN_ID": "x", "WORLD_SIZE": "3", "RANK": "0"}.items():
        monkeypatch.setenv(name, value)
    call = ["train", "copy", "--batch-size", "16", "--run", str(tmp_path / "run")]
    assert cli.main(call) == cli.WRONG_CALL
    assert "give a multiple of 3, such as --batch-size 18" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()

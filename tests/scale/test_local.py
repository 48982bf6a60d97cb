"""Worker processes of this machine: what they compute, and what killing them does not change."""

import importlib
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.same_run import assert_same_run
from tests.scale.runs import LONG, long_jobs, small_jobs

from ntm import tasks
from ntm.runs import Run, Settings
from ntm.scale import Job, Standing, execute
from ntm.scale.ray_cluster import newest_record
from ntm.training import train


def children(parent: int) -> list[int]:
    """The worker processes of a process."""
    command = ["pgrep", "-P", str(parent), "-f", "ntm.scale.worker"]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    return [int(pid) for pid in found.stdout.split()]


def has_saved(job: Job) -> bool:
    return newest_record(job.folder) is not None


def test_a_run_of_a_sweep_is_a_run_like_any_other(eight_runs: Path, tmp_path: Path) -> None:
    (job,) = small_jobs(tmp_path)
    train(job.settings, job.folder)
    assert_same_run(job.folder, eight_runs / job.name)


def test_a_killed_worker_costs_nothing_but_time(eight_runs: Path, tmp_path: Path) -> None:
    job, killed, reasons = long_jobs(tmp_path)[0], [], set()

    def kill_once(standings: Sequence[Standing]) -> None:
        reasons.add(standings[0].reason)
        if not killed and has_saved(job):
            (worker,) = children(os.getpid())
            os.kill(worker, signal.SIGKILL)
            killed.append(worker)

    (outcome,) = execute([job], workers=1, on_event=kill_once)
    assert killed
    assert reasons == {None, "Resumed from its checkpoint: its worker was killed by SIGKILL."}
    assert (outcome.state, outcome.reason) == ("finished", None)
    assert_same_run(job.folder, eight_runs / job.name)


def test_a_worker_that_is_killed_every_time_is_given_up(tmp_path: Path) -> None:
    killed = set()

    def kill(_standings: Sequence[Standing]) -> None:
        for worker in children(os.getpid()):
            os.kill(worker, signal.SIGKILL)
            killed.add(worker)

    (outcome,) = execute([long_jobs(tmp_path)[0]], workers=1, on_event=kill)
    assert (outcome.state, outcome.reason) == ("failed", "Its worker was killed 4 times.")
    assert len(killed) == 4


def test_ctrl_c_ends_all_runs_with_checkpoints(eight_runs: Path, tmp_path: Path) -> None:
    jobs, stopped = [long_jobs(tmp_path)[0], *small_jobs(tmp_path)], []

    def stop(standings: Sequence[Standing]) -> None:
        if not stopped and standings[0].sequences:
            stopped.append(standings[0].sequences)
            signal.raise_signal(signal.SIGINT)

    interrupted, waiting = execute(jobs, workers=1, on_event=stop)
    assert children(os.getpid()) == []
    assert (interrupted.state, waiting.state) == ("interrupted", "interrupted")
    assert stopped[0] <= interrupted.sequences < LONG
    assert not waiting.job.folder.exists()
    for outcome in execute(jobs, workers=1):
        assert outcome.state == "finished"
    assert_same_run(jobs[0].folder, eight_runs / jobs[0].name)


def test_a_failure_does_not_stop_the_others(tmp_path: Path) -> None:
    jobs = small_jobs(tmp_path, optimiser__learning_rate=[1e38, 1e-3])
    refused = Job(jobs[1].settings.with_text({"training.device": "nowhere"}), tmp_path / "refused")
    diverged, finished, no_device = execute([*jobs, refused], workers=1)
    assert (diverged.state, finished.state, no_device.state) == ("failed", "finished", "failed")
    assert "Training stopped at sequence" in str(diverged.reason)
    assert "training.device=nowhere cannot be used" in str(no_device.reason)


OWN_TASK = """
from dataclasses import dataclass
from ntm.tasks import Copy, register

@register
@dataclass(frozen=True)
class Mine(Copy):
    name = "mine"
"""


def test_a_task_of_your_own_is_known_to_the_workers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "my_own_task.py").write_text(OWN_TASK)
    monkeypatch.syspath_prepend(tmp_path)
    my_own_task = importlib.import_module("my_own_task")
    try:
        (job,) = small_jobs(tmp_path / "runs")
        mine = my_own_task.Mine(bits=3, max_length=3)
        own = Settings(mine, job.settings.model, job.settings.optimiser, job.settings.training)
        (outcome,) = execute([Job(own, tmp_path / "mine")])
        assert (outcome.state, outcome.reason) == ("finished", None)
        assert Run(outcome.job.folder).settings.task == mine
    finally:
        del tasks.TASKS["mine"], sys.modules["my_own_task"]

"""A real cluster of two nodes on this machine; one of them is killed."""

import signal
import socket
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from tests.same_run import assert_same_run
from tests.scale.runs import LONG, eight_jobs, long_jobs, small_jobs

from ntm.runs import checkpoints, read_metrics
from ntm.runs.facts import Facts
from ntm.scale import Standing, execute
from ntm.scale.ray_cluster import newest_record

_PORTS = (
    "dashboard_agent_listen_port",
    "metrics_agent_port",
    "metrics_export_port",
    "runtime_env_agent_port",
)
_MEMORY = 80 * 2**20  # bytes of a node's object store; the least that Ray takes is 75 MiB


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Two nodes with one core each; this process belongs to the first."""
    made = started()
    yield made
    made.shutdown()


def started(attempts: int = 3) -> Any:
    """A cluster, tried again because Ray allows a node no more than 30 s to start."""
    from ray.cluster_utils import Cluster

    made = Cluster()
    # Dead nodes are given up in seconds, not in half a minute; training is not nice to others.
    system = {
        "health_check_initial_delay_ms": 0,
        "health_check_period_ms": 1000,
        "worker_niceness": 0,
    }
    try:
        add_node(made, no_monitor=True, _system_config=system)
        add_node(made)
    except Exception:
        made.shutdown()
        if attempts == 1:
            raise
        return started(attempts - 1)
    return made


def add_node(cluster: Any, **options: Any) -> None:
    # With ports that are known, a node need not wait for its helper processes.
    cluster.add_node(
        num_cpus=1,
        object_store_memory=_MEMORY,
        include_dashboard=False,
        include_log_monitor=False,
        **dict(zip(_PORTS, free_ports(len(_PORTS)), strict=True)),
        **options,
    )


def free_ports(count: int) -> list[int]:
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.create_server(("", 0))) for _ in range(count)]
        return [opened.getsockname()[1] for opened in sockets]


class Killer:
    """Kills a node once runs are under way on both and their first checkpoints have come home."""

    def __init__(self, cluster: Any) -> None:
        self.cluster = cluster
        self.at_home: dict[Path, list[Facts]] = {}
        self.restarted: set[Path] = set()

    def __call__(self, standings: Sequence[Standing]) -> None:
        running = [standing for standing in standings if standing.state == "running"]
        self.restarted |= {s.job.folder for s in running if s.reason is not None}
        curves = {s.job.folder: saved_curve(s.job.folder) for s in running}
        if not self.at_home and sum(map(bool, curves.values())) == 2:
            self.at_home = curves
            (node,) = self.cluster.worker_nodes
            self.cluster.remove_node(node, allow_graceful=False)


def saved_curve(folder: Path) -> list[Facts]:
    """What a checkpoint has of the learning curve, with the times that no second run repeats."""
    newest, _ = checkpoints.load_newest(folder / "checkpoint")
    done = 0 if newest is None else newest.values["sequences"]
    return [line for line in read_metrics(folder / "metrics.jsonl") if line["sequences"] <= done]


def test_eight_runs_survive_the_death_of_a_node_to_the_bit(
    cluster: Any, eight_runs: Path, tmp_path: Path
) -> None:
    killer = Killer(cluster)
    outcomes = execute(eight_jobs(tmp_path), ray=cluster.address, on_event=killer)
    assert [(o.state, o.reason) for o in outcomes] == [("finished", None)] * 8
    assert len(killer.restarted) == 1
    assert killer.restarted < killer.at_home.keys()
    for folder, lines in killer.at_home.items():  # nothing of it was computed a second time
        assert read_metrics(folder / "metrics.jsonl")[: len(lines)] == lines
    for outcome in outcomes:
        assert_same_run(outcome.job.folder, eight_runs / outcome.job.name)


def test_a_sweep_that_was_stopped_on_a_cluster_goes_on_here(
    cluster: Any, eight_runs: Path, tmp_path: Path
) -> None:
    jobs, stopped = long_jobs(tmp_path), []

    def stop_when_saved(standings: Sequence[Standing]) -> None:
        if not stopped and any(newest_record(s.job.folder) for s in standings):
            stopped.append(True)
            signal.raise_signal(signal.SIGINT)

    outcomes = execute(jobs, ray=cluster.address, on_event=stop_when_saved)
    assert [outcome.state for outcome in outcomes] == ["interrupted"] * 2
    assert 0 < outcomes[0].sequences < LONG
    for outcome in execute(jobs, workers=1):
        assert outcome.state == "finished"
        assert_same_run(outcome.job.folder, eight_runs / outcome.job.name)


def test_a_run_that_fails_on_a_node_is_told_with_its_reason(cluster: Any, tmp_path: Path) -> None:
    jobs = small_jobs(tmp_path, optimiser__learning_rate=[1e38, 1e-3])
    failed, finished = execute(jobs, ray=cluster.address)
    assert (failed.state, finished.state) == ("failed", "finished")
    assert failed.reason is not None
    assert str(failed.job.folder) in failed.reason
    assert "optimiser.learning_rate" in failed.reason

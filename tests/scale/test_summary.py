"""Medians and ranges over seeds, on outcomes that nobody had to train for."""

import io
from pathlib import Path
from statistics import median

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.scale.runs import small, small_jobs

from ntm.scale import Job, Outcome, Summary, summarise
from ntm.scale.grid import jobs_of
from ntm.scale.summary import Spread, print_summary


def finished(job: Job, bits: float | None, best: float | None = None) -> Outcome:
    return Outcome(job, "finished", job.sequences, bits, best_bits=best, seconds=1.0)


def failed(job: Job, reason: str) -> Outcome:
    return Outcome(job, "failed", 200, 3.0, reason=reason)


def printed(summary: Summary) -> str:
    stream = io.StringIO()
    print_summary(summary, stream)
    return stream.getvalue()


@given(st.lists(st.floats(0, 1e6), min_size=1))
def test_a_spread_is_the_median_and_the_ends(values: list[float]) -> None:
    spread = Spread.of([None, *values])
    assert spread == (median(values), min(values), max(values))


def test_nothing_has_no_spread() -> None:
    assert Spread.of([None]) is None


@pytest.mark.parametrize(
    ("values", "text"),
    [([2.0], "2.00"), ([0.01234, 5.0, 1234.5], "5.00 (0.0123 to 1234.50)")],
)
def test_a_spread_reads_well(values: list[float], text: str) -> None:
    assert str(Spread.of(values)) == text


def test_runs_that_differ_in_their_seed_are_one_group() -> None:
    jobs = small_jobs(Path("out"), seeds=[1, 2, 3], optimiser__learning_rate=[0.1, 0.2])
    costs = iter([1.0, 10.0, 2.0, 20.0, 4.0, 40.0])  # seeds outermost, then rates
    summary = summarise(finished(job, next(costs)) for job in jobs)
    slow, fast = summary.groups
    assert slow.settings == {"optimiser.learning_rate": 0.1}
    assert (slow.bits, fast.bits) == ((2.0, 1.0, 4.0), (20.0, 10.0, 40.0))


def test_what_failed_does_not_count_but_is_told() -> None:
    jobs = small_jobs(Path("out"), seeds=[1, 2, 3])
    outcomes = [finished(jobs[0], 1.0), failed(jobs[1], "It diverged."), finished(jobs[2], 3.0)]
    summary = summarise(outcomes)
    (group,) = summary.groups
    assert (group.bits, len(group.finished)) == ((2.0, 1.0, 3.0), 2)
    text = printed(summary)
    assert "2 of 3" in text
    assert "copy-ntm-ff-2 failed at 200 sequences. It diverged." in text
    assert "copy-ntm-ff-1" not in text


def test_what_was_interrupted_is_counted() -> None:
    jobs = small_jobs(Path("out"), seeds=[1, 2])
    stopped = Outcome(jobs[1], "interrupted", 200, reason="Interrupted.")
    text = printed(summarise([finished(jobs[0], 1.0), stopped]))
    assert "1 of 2 runs were interrupted; the same command resumes them." in text


def test_only_what_tells_groups_of_a_kind_apart_is_shown() -> None:
    data = small(models=["ntm-ff", "ntm-lstm"], task__bits=[3, 4])
    summary = summarise(finished(job, 1.0) for job in jobs_of(data, "out"))
    assert [group.settings for group in summary.groups] == [{"task.bits": 3}, {"task.bits": 4}] * 2


def test_json_has_every_number() -> None:
    jobs = small_jobs(Path("out"), seeds=[1, 2])
    data = summarise([finished(jobs[0], 1.0, 0.5), failed(jobs[1], "No.")]).to_json()
    (group,) = data["groups"]
    assert group["bits"] == {"median": 1.0, "lowest": 1.0, "highest": 1.0}
    assert (group["seeds"], group["finished"]) == (2, 1)
    assert [run["state"] for run in data["runs"]] == ["finished", "failed"]
    assert data["runs"][1]["reason"] == "No."


def test_costs_that_hold_more_than_validation_are_told_apart() -> None:
    data = small(training__validate_beyond=["", "length=4"])
    jobs = jobs_of(data, "out")
    summary = summarise(finished(job, 1.0, 0.5) for job in jobs)
    header, without, added = printed(summary).splitlines()
    assert header.endswith("best validation  with the cost at")
    assert (without.split()[-1], added.split()[-1]) == ("-", "length=4")
    told = summary.to_json()
    for part in ("groups", "runs"):
        assert [one["validate_beyond"] for one in told[part]] == ["", "length=4"]
    plain = printed(summarise([finished(jobs[0], 1.0, 0.5)]))
    assert plain.splitlines()[0].endswith("best validation")

"""How long jobs will take: what is forecast from standings, and a speed that is measured."""

from collections.abc import Callable
from dataclasses import replace
from math import inf
from pathlib import Path

import pytest
from tests.scale.runs import small_jobs

from ntm.runs import RunError, Settings
from ntm.scale import Job, Standing
from ntm.scale.forecast import Forecast, measured_seconds

# 500 sequences each; the wide one is another network.
JOBS = small_jobs(Path("out"), seeds=[1, 2, 3, 4])
WIDE = Job(JOBS[2].settings.with_(model={"controller_size": 40}), Path("out/wide"))


def running(job: Job, sequences: int, speed: float) -> Standing:
    return Standing(job, "running", sequences, speed=speed)


def forecast(
    *standings: Standing, measure: Callable[[Settings], float] | None = None
) -> tuple[float, float]:
    """The seconds left and the share done."""
    made = Forecast(measure)
    made.observe(standings)
    return made.seconds_left(standings), made.share_done(standings)


def test_nothing_is_known_before_the_first_report() -> None:
    assert forecast(running(JOBS[0], 0, 0.0), Standing(JOBS[1])) == (inf, 0.0)


def test_waiting_jobs_are_spread_over_those_that_run() -> None:
    first, second = running(JOBS[0], 100, 10.0), running(JOBS[1], 400, 10.0)
    third, fourth = Standing(JOBS[2]), Standing(JOBS[3])
    assert forecast(first, second) == pytest.approx((40, 0.5))
    # The worker that is free after 10 s takes the next job, for 50 s; the other the last one.
    assert forecast(first, second, third) == pytest.approx((60, 50 / 150))
    assert forecast(first, second, third, fourth) == pytest.approx((90, 50 / 200))


def test_jobs_count_by_their_seconds_and_not_by_their_sequences() -> None:
    standings = [
        replace(Standing(JOBS[0], "finished", 500), seconds=5.0),
        running(JOBS[1], 250, 100.0),
        Standing(WIDE),
    ]
    measured = forecast(*standings, measure={WIDE.settings: 0.2}.__getitem__)
    assert measured == pytest.approx((2.5 + 100, 7.5 / 110))
    # Without a measurement, the other network counts as fast as what is known.
    assert forecast(*standings) == pytest.approx((2.5 + 5, 7.5 / 15))


def test_an_unknown_network_takes_the_mean_time_and_not_the_mean_speed() -> None:
    fast, slow = running(JOBS[0], 500, 1000.0), running(WIDE, 500, 10.0)
    other = Job(WIDE.settings.with_(training={"batch_size": 4}), Path("out/other"))
    assert forecast(fast, slow, Standing(other))[0] == pytest.approx(500 * (0.001 + 0.1) / 2)


def test_one_network_is_measured_at_a_time_and_only_where_it_waits() -> None:
    asked: list[Settings] = []

    def measure(settings: Settings) -> float:
        asked.append(settings)
        return 0.1

    made = Forecast(measure)
    standings = [running(JOBS[0], 0, 0.0), Standing(WIDE), Standing(JOBS[1]), Standing(JOBS[3])]
    made.observe(standings)
    assert (asked, made.seconds_left(standings)) == ([WIDE.settings], inf)
    made.observe(standings)
    made.observe(standings)
    assert asked == [WIDE.settings, JOBS[1].settings]  # the last job has the same network
    assert made.seconds_left(standings) == pytest.approx(200)


def test_a_report_counts_once_and_one_odd_report_hardly() -> None:
    made, odd = Forecast(), [running(JOBS[0], 100, 50.0)]
    made.observe([running(JOBS[0], 0, 100.0)])
    for _ in range(5):
        made.observe(odd)
        assert made.seconds_left(odd) == pytest.approx(400 * (0.9 * 0.01 + 0.1 * 0.02))


@pytest.mark.parametrize("state", ["failed", "interrupted"])
def test_a_job_that_did_not_finish_takes_no_more_time(state: str) -> None:
    ended = replace(Standing(JOBS[0]), state=state, sequences=100, seconds=10.0)
    assert forecast(ended) == (0.0, 1.0)
    assert forecast(ended, running(JOBS[1], 400, 10.0))[0] == pytest.approx(10)


def test_a_network_that_cannot_be_measured_stops_nothing() -> None:
    def measure(_settings: Settings) -> float:
        raise RunError("There is no such device.")

    assert forecast(running(JOBS[0], 100, 10.0), Standing(WIDE), measure=measure)[0] == 90
    assert forecast(Standing(WIDE), measure=measure) == (inf, 0.0)


def test_a_time_is_measured_on_the_memory_that_is_trained() -> None:
    settings = JOBS[0].settings.with_(training={"batch_size": 4})
    assert 0 < measured_seconds(settings) < 1
    assert 0 < measured_seconds(settings.with_(training={"memory_locations": 4})) < 1

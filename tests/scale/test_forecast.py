"""How long jobs will take: what is forecast from standings, and a speed that is measured."""

from dataclasses import replace
from pathlib import Path

import pytest
from tests.scale.runs import small_jobs

from ntm.runs import RunError, Settings
from ntm.scale import Job, Standing
from ntm.scale.forecast import Forecast, measured_speed

# 500 sequences each; wide ones are another network.
JOBS = small_jobs(Path("out"), seeds=[1, 2, 3, 4])
WIDE = [replace(job, settings=job.settings.with_(model={"controller_size": 40})) for job in JOBS]


def running(job: Job, sequences: int, speed: float) -> Standing:
    return Standing(job, "running", sequences, speed=speed)


def test_nothing_is_known_before_the_first_report() -> None:
    standings = [running(JOBS[0], 0, 0.0), Standing(JOBS[1])]
    assert Forecast().seconds_left(standings) == float("inf")
    assert Forecast().share_done(standings) == 0.0


def test_waiting_jobs_are_spread_over_those_that_run() -> None:
    first, second = running(JOBS[0], 100, 10.0), running(JOBS[1], 400, 10.0)
    forecast = Forecast()
    assert forecast.seconds_left([first, second]) == 40.0
    # The worker that is free after 10 s takes the next job, for 50 s; the other the last one.
    assert forecast.seconds_left([first, second, Standing(JOBS[2])]) == 60.0
    assert forecast.seconds_left([first, second, Standing(JOBS[2]), Standing(JOBS[3])]) == 90.0
    assert forecast.share_done([first, second, Standing(JOBS[2])]) == pytest.approx(50 / 150)


def test_jobs_count_by_their_seconds_and_not_by_their_sequences() -> None:
    standings = [
        replace(Standing(JOBS[0], "finished", 500), seconds=5.0),
        running(JOBS[1], 250, 100.0),
        Standing(WIDE[2]),
    ]
    forecast = Forecast({WIDE[2].settings: 5.0}.__getitem__)
    assert forecast.seconds_left(standings) == pytest.approx(2.5 + 100)
    assert forecast.share_done(standings) == pytest.approx(7.5 / 110)
    # Without a measurement, the other network counts as fast as what is known.
    assert Forecast().seconds_left(standings) == pytest.approx(2.5 + 5)


def test_one_odd_report_hardly_changes_the_speed() -> None:
    forecast = Forecast()
    assert forecast.seconds_left([running(JOBS[0], 0, 100.0)]) == 5.0
    assert forecast.seconds_left([running(JOBS[0], 0, 50.0)]) == pytest.approx(500 / 95)


def test_a_failed_job_takes_no_more_time_but_an_interrupted_one_does() -> None:
    failed = Standing(JOBS[0], "failed", 100, None, 0.0, "It diverged.")
    assert Forecast().seconds_left([failed]) == 0.0
    assert Forecast().share_done([failed]) == 1.0
    forecast, job = Forecast(), running(JOBS[1], 100, 10.0)
    assert forecast.seconds_left([job]) == 40.0
    stopped = replace(job, state="interrupted", speed=0.0, seconds=10.0)
    assert forecast.seconds_left([stopped]) == 40.0
    assert forecast.share_done([stopped]) == 0.2


def test_a_network_that_cannot_be_measured_stops_nothing() -> None:
    def measure(_settings: Settings) -> float:
        raise RunError("There is no such device.")

    standings = [running(JOBS[0], 100, 10.0), Standing(WIDE[1])]
    assert Forecast(measure).seconds_left(standings) == 40.0 + 50.0
    assert Forecast(measure).seconds_left(standings[1:]) == float("inf")


def test_a_speed_is_measured_on_the_memory_that_is_trained() -> None:
    settings = JOBS[0].settings.with_(training={"batch_size": 4})
    assert measured_speed(settings) > 0
    assert measured_speed(settings.with_(training={"memory_locations": 4})) > 0

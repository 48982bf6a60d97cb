"""How long jobs will take: from the speed of those that run, and a trial of those that wait."""

import heapq
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from statistics import fmean

from ntm.bench.timing import threads
from ntm.runs import Settings, Stream, build_model
from ntm.scale.jobs import Standing
from ntm.training.state import State
from ntm.training.step import make_step

_WEIGHT_OF_NEWS = 0.1  # the speed of one report varies with the lengths of its sequences
_TRIAL_SECONDS = 0.2


class Forecast:
    """When jobs will be done.

    measure: gives the sequences per second of a network that no job has trained yet. Without it,
    such a job counts as being as fast as the mean of the others.
    """

    def __init__(self, measure: Callable[[Settings], float] | None = None) -> None:
        self._measure = measure
        self._speeds: dict[str, float] = {}

    def seconds_left(self, standings: Sequence[Standing]) -> float:
        """Until the last job ends, if as many run at a time as do now; infinite if unknown.

        A job with trials may end earlier: it counts as if it needed all of them.
        """
        running = [s for s in standings if s.state == "running"]
        others = [s for s in standings if s.state in {"waiting", "interrupted"}]
        ends = [self._seconds_left(standing) for standing in running] or [0.0]
        heapq.heapify(ends)
        for standing in others:
            heapq.heapreplace(ends, ends[0] + self._seconds_left(standing))
        return max(ends)

    def share_done(self, standings: Sequence[Standing]) -> float:
        """The share of all the training that is done."""
        left = sum(self._seconds_left(standing) for standing in standings)
        done = sum(self._seconds_done(standing) for standing in standings)
        if left in (0.0, float("inf")):
            return 1.0 if left == 0.0 else 0.0
        return done / (done + left)

    def _seconds_left(self, standing: Standing) -> float:
        if standing.state in {"finished", "failed"}:
            return 0.0
        return self._seconds(standing, max(standing.job.sequences - standing.sequences, 0))

    def _seconds_done(self, standing: Standing) -> float:
        return standing.seconds or self._seconds(standing, standing.sequences)

    def _seconds(self, standing: Standing, sequences: int) -> float:
        if sequences == 0:
            return 0.0
        speed = self._speed(standing)
        return sequences / speed if speed else float("inf")

    def _speed(self, standing: Standing) -> float:
        """Sequences per second; 0 if nothing is known."""
        kind = _kind(standing.job.settings)
        known = self._speeds.get(kind)
        if standing.speed:
            change = 0.0 if known is None else known - standing.speed
            self._speeds[kind] = standing.speed + (1 - _WEIGHT_OF_NEWS) * change
        elif known is None and self._measure:
            try:
                self._speeds[kind] = self._measure(standing.job.settings)
            except Exception:  # the job itself will say what is wrong
                self._speeds[kind] = 0.0
        others = [speed for speed in self._speeds.values() if speed]
        return self._speeds.get(kind) or fmean(others or [0.0])


def _kind(settings: Settings) -> str:
    """What decides how fast a network trains."""
    return f"{settings.task} {settings.trained_model} {settings.training.batch_size}"


def measured_speed(settings: Settings) -> float:
    """Sequences per second that a network trains on, with one thread of this machine."""
    size = settings.training.batch_size
    with threads(1):
        model = build_model(replace(settings, model=settings.trained_model))
        step = make_step(model, State(settings, model).optimiser)
        stream = Stream(settings.task, settings.training.seed, size, name="speed")
        block = stream.block(0)
        step(block, 0, size)  # the first one sets things up
        began, trained = time.process_time(), 0
        while (taken := time.process_time() - began) < _TRIAL_SECONDS:
            first = trained % stream.block_size
            step(block, first, first + size)
            trained += size
    return trained / taken

"""Forecast of the time that jobs take, from running jobs and short measurements of waiting jobs."""

import heapq
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from math import inf
from pathlib import Path
from statistics import fmean

from ntm.engine.machine import threads
from ntm.runs import Settings, Stream, build_model
from ntm.scale.jobs import Job, Standing
from ntm.training.state import TrainingState

_WEIGHT_OF_NEWS = 0.1  # low: speeds vary with the lengths of the sequences in a report
_TRIAL_SECONDS = 0.2


class Forecast:
    """Forecast of the time until all jobs end. It assumes that a job tries all its starts.

    measure: function that returns the seconds per sequence of a network that no job has trained
        yet; None assumes the mean of the other networks (None).
    """

    def __init__(self, measure: Callable[[Settings], float] | None = None) -> None:
        self._measure = measure
        self._known: dict[str, float] = {}  # seconds per sequence, by kind of network
        self._failed: set[str] = set()  # kinds that cannot be measured
        self._usual = inf
        self._kinds: dict[Path, str] = {}
        self._heard: dict[Path, int] = {}  # sequences in the last report of each job

    def observe(self, standings: Sequence[Standing]) -> None:
        """Store the speeds of the running jobs; measure at most one waiting job."""
        for standing in standings:
            job, count = standing.job, standing.sequences
            if standing.speed and self._heard.get(job.folder) != count:
                self._heard[job.folder] = count
                self._learn(self._kind(job), 1 / standing.speed)
        if self._measure and (waiting := self._unmeasured(standings)):
            try:
                self._learn(self._kind(waiting), self._measure(waiting.settings))
            except Exception:  # the run itself will report what is wrong
                self._failed.add(self._kind(waiting))
        self._usual = fmean(self._known.values()) if self._known else inf

    def seconds_left(self, standings: Sequence[Standing]) -> float:
        """Return the seconds until all jobs end; infinite if unknown.

        The forecast assumes that the number of jobs that run at a time stays as it is now.
        """
        if self._unmeasured(standings):
            return inf
        ends = [self._seconds_left(s) for s in standings if s.state == "running"] or [0.0]
        heapq.heapify(ends)
        for standing in standings:
            if standing.state == "waiting":
                heapq.heapreplace(ends, ends[0] + self._seconds_left(standing))
        return max(ends)

    def share_done(self, standings: Sequence[Standing]) -> float:
        """Return the share of all training that is done."""
        left = sum(self._seconds_left(s) for s in standings if not s.ended)
        done = sum(s.seconds or self._seconds(s.job, s.sequences) for s in standings)
        if left in {0.0, inf}:
            return 1.0 if left == 0.0 else 0.0
        return done / (done + left)

    def _seconds_left(self, standing: Standing) -> float:
        return self._seconds(standing.job, max(standing.job.sequences - standing.sequences, 0))

    def _seconds(self, job: Job, sequences: int) -> float:
        return sequences * self._known.get(self._kind(job), self._usual) if sequences else 0.0

    def _learn(self, kind: str, seconds: float) -> None:
        known = self._known.get(kind, seconds)
        self._known[kind] = known + _WEIGHT_OF_NEWS * (seconds - known)

    def _unmeasured(self, standings: Sequence[Standing]) -> Job | None:
        """Return a waiting job whose network still has to be measured, or None."""
        if not self._measure:
            return None
        waiting = (s.job for s in standings if s.state == "waiting")
        settled = self._known.keys() | self._failed
        return next((job for job in waiting if self._kind(job) not in settled), None)

    def _kind(self, job: Job) -> str:
        """Return a key of everything that affects the speed of training."""
        if job.folder not in self._kinds:
            chosen = job.settings.training
            how = (chosen.batch_size, chosen.bucketed, chosen.engine, chosen.device, chosen.threads)
            network = f"{job.settings.model_name} {job.settings.trained_model}"
            self._kinds[job.folder] = f"{job.settings.task} {network} {how}"
        return self._kinds[job.folder]


def measured_seconds(settings: Settings) -> float:
    """Measure the training time per sequence in seconds, on one thread of this machine."""
    chosen, size = settings.training, settings.training.batch_size
    with threads(1):
        model = build_model(replace(settings, model=settings.trained_model))
        step = settings.family.step(model, TrainingState(settings, model).optimiser)
        stream = Stream(settings.task, chosen.seed, size, name="speed", bucketed=chosen.bucketed)
        block = stream.block(0)
        step(block, 0, size)  # the first step also sets things up
        began, trained = time.process_time(), 0
        while (taken := time.process_time() - began) < _TRIAL_SECONDS:
            first = trained % stream.block_size
            step(block, first, first + size)
            trained += size
    return taken / trained

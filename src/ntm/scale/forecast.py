"""How long jobs will take: from the speed of those that run, and a trial of those that wait."""

import heapq
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from math import inf
from pathlib import Path
from statistics import fmean

from ntm.bench.timing import threads
from ntm.runs import Settings, Stream, build_model
from ntm.scale.jobs import Job, Standing
from ntm.training.state import State

_WEIGHT_OF_NEWS = 0.1  # the speed of one report varies with the lengths of its sequences
_TRIAL_SECONDS = 0.2


class Forecast:
    """When jobs will be done. A job with trials counts as if it needed all of them.

    measure: gives the seconds per sequence of a network that no job has trained yet. Without it,
    such a network counts as the mean of the others.
    """

    def __init__(self, measure: Callable[[Settings], float] | None = None) -> None:
        self._measure = measure
        self._known: dict[str, float] = {}  # seconds per sequence, by kind of network
        self._failed: set[str] = set()  # kinds that cannot be measured
        self._usual = inf
        self._kinds: dict[Path, str] = {}
        self._heard: dict[Path, int] = {}  # the sequences of each job's last report

    def observe(self, standings: Sequence[Standing]) -> None:
        """Learn from where the jobs stand now; at most one of those that wait is measured."""
        for standing in standings:
            job, count = standing.job, standing.sequences
            if standing.speed and self._heard.get(job.folder) != count:
                self._heard[job.folder] = count
                self._learn(self._kind(job), 1 / standing.speed)
        unmeasured = self._unmeasured(standings)
        if unmeasured and self._measure:
            self._try(unmeasured, self._measure)
        self._usual = fmean(self._known.values()) if self._known else inf

    def seconds_left(self, standings: Sequence[Standing]) -> float:
        """Until the last job ends, if as many run at a time as do now; infinite if unknown."""
        if self._unmeasured(standings):
            return inf
        ends = [self._seconds_left(s) for s in standings if s.state == "running"] or [0.0]
        heapq.heapify(ends)
        for standing in standings:
            if standing.state == "waiting":
                heapq.heapreplace(ends, ends[0] + self._seconds_left(standing))
        return max(ends)

    def share_done(self, standings: Sequence[Standing]) -> float:
        """The share of all the training that is done."""
        left = sum(self._seconds_left(s) for s in standings if not s.ended)
        done = sum(s.seconds or self._seconds(s.job, s.sequences) for s in standings)
        if left in {0.0, inf}:
            return 1.0 if left == 0.0 else 0.0
        return done / (done + left)

    def _seconds_left(self, standing: Standing) -> float:
        to_do = standing.job.sequences - standing.sequences
        return self._seconds(standing.job, max(to_do, 0))

    def _seconds(self, job: Job, sequences: int) -> float:
        return sequences * self._known.get(self._kind(job), self._usual) if sequences else 0.0

    def _learn(self, kind: str, seconds: float) -> None:
        known = self._known.get(kind, seconds)
        self._known[kind] = known + _WEIGHT_OF_NEWS * (seconds - known)

    def _unmeasured(self, standings: Sequence[Standing]) -> Job | None:
        """A job that waits, and of whose network nothing is known that could be."""
        if not self._measure:
            return None
        waiting = (s.job for s in standings if s.state == "waiting")
        settled = self._known.keys() | self._failed
        return next((job for job in waiting if self._kind(job) not in settled), None)

    def _try(self, job: Job, measure: Callable[[Settings], float]) -> None:
        try:
            self._learn(self._kind(job), measure(job.settings))
        except Exception:  # the run itself will say what is wrong
            self._failed.add(self._kind(job))

    def _kind(self, job: Job) -> str:
        """All that decides how fast a network trains."""
        if job.folder not in self._kinds:
            chosen = job.settings.training
            how = (chosen.batch_size, chosen.bucketed, chosen.engine, chosen.device, chosen.threads)
            network = f"{job.settings.model_name} {job.settings.trained_model}"
            self._kinds[job.folder] = f"{job.settings.task} {network} {how}"
        return self._kinds[job.folder]


def measured_seconds(settings: Settings) -> float:
    """Seconds that a network trains on one sequence, with one thread of this machine."""
    chosen = settings.training
    with threads(1):
        model = build_model(replace(settings, model=settings.trained_model))
        step = settings.family.step(model, State(settings, model).optimiser)
        stream = Stream(
            settings.task, chosen.seed, chosen.batch_size, name="speed", bucketed=chosen.bucketed
        )
        block = stream.block(0)
        step(block, 0, chosen.batch_size)  # the first one sets things up
        began, trained = time.process_time(), 0
        while (taken := time.process_time() - began) < _TRIAL_SECONDS:
            first = trained % stream.block_size
            step(block, first, first + chosen.batch_size)
            trained += chosen.batch_size
    return taken / trained

"""Section 4.5: measure whether the priority of a vector determines its location."""

import itertools
from typing import NamedTuple

import numpy as np

from ntm.evaluation.findings import Analysis, Finding, choose, summarised
from ntm.evaluation.recording import Recording
from ntm.evaluation.weightings import Integers, displacement
from ntm.tasks import PrioritySort
from ntm.trace import Array


class Writes(NamedTuple):
    """Write head and its timing, with the location at which the ring of memory is cut."""

    head: int
    delay: int
    """Steps from a vector's arrival to its write."""
    cut: int
    """Location that counts as the first. The memory is a ring, but a linear fit needs ends."""


class Reads(NamedTuple):
    """Read head and its timing."""

    head: int
    lead: int
    """Steps from a read to its output."""


class LinearFit(NamedTuple):
    """Linear function from a priority to the location that a head writes."""

    slope: float
    """Locations per unit of priority."""
    intercept: float
    cut: int
    r_squared: float

    def locations(self, priorities: Array, count: int) -> Array:
        """Return the locations of vectors of these priorities, among `count`; not rounded."""
        return (self.cut + self.intercept + self.slope * priorities) % count


def fit_writes(recording: Recording, writes: Writes) -> LinearFit:
    """Fit the locations that a head wrote by a linear function of the priorities."""
    count = recording.trace.weightings("write").shape[-1]
    place = ((_written(recording, writes) - writes.cut) % count).ravel()
    priority = (
        recording.channel("priority")[: recording.task_as(PrioritySort).length]
        .ravel()
        .astype(float)
    )
    covariance = np.cov(priority, place, bias=True)
    spread = covariance[0, 0] * covariance[1, 1]
    slope = covariance[0, 1] / covariance[0, 0] if spread > 0 else 0.0
    r_squared = covariance[0, 1] ** 2 / spread if spread > 0 else 0.0
    intercept = place.mean() - slope * priority.mean()
    return LinearFit(float(slope), float(intercept), writes.cut, float(r_squared))


def choose_writes(recording: Recording) -> tuple[Writes, Recording]:
    """Choose the write head whose locations a linear function of the priorities fits best."""
    heads, count = recording.trace.weightings("write").shape[2:]
    uses = itertools.starmap(Writes, itertools.product(range(heads), (0, 1), range(count)))
    return choose(recording, uses, lambda part, use: fit_writes(part, use).r_squared)


def choose_reads(recording: Recording, writes: Writes) -> tuple[Reads, Recording]:
    """Choose the read head that most often reads the location at which an answer was written."""
    heads = recording.trace.vectors("read").shape[2]
    uses = itertools.starmap(Reads, itertools.product(range(heads), (0, 1)))
    return choose(recording, uses, lambda part, use: float(_near(part, writes, use).mean()))


def analyse_sorting(recording: Recording) -> Analysis:
    """Measure whether the network writes by priority and then reads in order."""
    writes, rest = choose_writes(recording)
    reads, rest = choose_reads(recording, writes)
    fit = fit_writes(rest, writes)
    moves = np.sign(_moves(rest, reads))
    forward = float(np.sign(moves.mean()))
    findings = [
        Finding(
            "writes where the priority says",
            "the locations returned by the linear function closely match the observed",
            fit.r_squared,
            "R^2 of a linear function of the priority, fitted to the write locations",
            {"locations_per_unit_of_priority": fit.slope, "steps_late": writes.delay},
        ),
        Finding(
            "reads in order",
            "the network reads from the memory locations in increasing order",
            float((moves == forward).mean()) if forward else 0.0,
            "share of moves from one answer to the next in the usual direction",
            {"direction": forward, "steps_early": reads.lead},
        ),
        Finding(
            "reads the sorted sequence",
            "thereby traversing the sorted sequence",
            float(_near(rest, writes, reads).mean()),
            "share of answers read within one location of where their vector was written",
        ),
    ]
    chosen_for = "the write head that priorities explain best, the read head that best follows it"
    phases = {"input": rest.inside & ~rest.scored, "answer": rest.scored}
    return summarised(rest, (writes.head, reads.head), chosen_for, findings, phases)


def _written(recording: Recording, writes: Writes) -> Integers:
    """Return the location at which each vector was written, (length, batch)."""
    steps = slice(writes.delay, writes.delay + recording.task_as(PrioritySort).length)
    place: Integers = recording.trace.weightings("write")[steps, :, writes.head].argmax(axis=-1)
    return place


def _read(recording: Recording, reads: Reads) -> Integers:
    """Return the location that was read for each answer, (answers, batch)."""
    task = recording.task_as(PrioritySort)
    start = task.length + 1 - reads.lead
    steps = slice(start, start + task.answers)
    place: Integers = recording.trace.weightings("read")[steps, :, reads.head].argmax(axis=-1)
    return place


def _moves(recording: Recording, reads: Reads) -> Array:
    """Return the distances between the locations of successive answers, (answers - 1, batch)."""
    place = _read(recording, reads).astype(float)
    return displacement(place[:-1], place[1:], recording.trace.weightings("read").shape[-1])


def _near(recording: Recording, writes: Writes, reads: Reads) -> Array:
    """Return flags of answers read at most one location from their vector, (answers, batch)."""
    task = recording.task_as(PrioritySort)
    order = np.argsort(-recording.channel("priority")[: task.length], axis=0, kind="stable")
    written = np.take_along_axis(_written(recording, writes), order[: task.answers], axis=0)
    count = recording.trace.weightings("read").shape[-1]
    way = displacement(written.astype(float), _read(recording, reads).astype(float), count)
    return (np.abs(way) <= 1).astype(float)

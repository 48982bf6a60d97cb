"""Section 4.3: measure whether the read head finds the queried item and shifts to the next."""

import itertools
from typing import NamedTuple

import numpy as np

from ntm.evaluation import weightings
from ntm.evaluation.findings import Analysis, Finding, choose, head_pairs, summarised
from ntm.evaluation.recording import Recording
from ntm.evaluation.weightings import SHIFT, Booleans, Integers, Track, at_steps, mean
from ntm.paper.copy.heads import TIMINGS, Use
from ntm.tasks import AssociativeRecall
from ntm.trace import Array


class Lists(NamedTuple):
    """Layout of associative recall sequences; steps and items count from zero."""

    period: int  # steps from one item delimiter to the next
    items: Integers  # number of items, (batch,)
    queried: Integers  # number of the queried item, (batch,)
    answer: Integers  # step of the first answer, (batch,)

    @property
    def delimiter(self) -> Integers:
        """Step of the delimiter between the queried item and the answer, (batch,)."""
        return (self.queried + 1) * self.period

    @property
    def vectors(self) -> Integers:
        """Steps of the input vectors that are the answer, (item_length, batch)."""
        return self.delimiter + np.arange(1, self.period)[:, None]


def lists(recording: Recording) -> Lists:
    """Return the layout of every sequence: items, query and answer."""
    task = recording.task_as(AssociativeRecall)
    period, inside_item = task.item_length + 1, np.arange(1, task.item_length + 1)[:, None]
    items = recording.channel("item").sum(axis=0).astype(int)
    bits = recording.trace.inputs[:, :, : task.bits]
    query = at_steps(bits, items * period + inside_item)
    starts = [np.where(item < items, item * period, 0) for item in range(items.max())]
    same = [(at_steps(bits, start + inside_item) == query).all(axis=(0, 2)) for start in starts]
    return Lists(period, items, np.argmax(same, axis=0), recording.answer_start)


class Lookup(NamedTuple):
    """A write head and a read head, and the steps at which they write or read the answer."""

    plan: Lists
    writer: Track
    reader: Track
    write_step: Integers  # steps that wrote the answer's vectors, (item_length, batch)
    read_step: Integers  # steps that read the answer's vectors, (item_length, batch)
    locations: int

    @property
    def jump(self) -> Integers:
        """Last step, from the query to the first read, with addressing by content: (1, batch).

        If no step has addressing by content, the step of the first read.
        """
        step = np.arange(len(self.reader.mode))[:, None]
        query, arrival = self.plan.items * self.plan.period, self.read_step[:1]
        candidates = (self.reader.mode != SHIFT) & (step >= query) & (step <= arrival)
        last = len(candidates) - 1 - candidates[::-1].argmax(axis=0)
        return np.where(candidates.any(axis=0), last, arrival)

    @property
    def match(self) -> Array:
        """Location that the key matched best at the jump, (1, batch)."""
        return at_steps(self.reader.match, self.jump)

    @property
    def hits(self) -> Array:
        """Whether each vector was read where it was written, (item_length, batch)."""
        written = at_steps(self.writer.place, self.write_step)
        return weightings.equal(at_steps(self.reader.place, self.read_step), written)


def analyse_recalling(recording: Recording) -> Analysis:
    """Measure whether the network recalls as the paper describes."""
    uses = itertools.product(head_pairs(recording.trace), TIMINGS)
    (pair, timing), recording = choose(
        recording, uses, lambda part, use: mean(follow(part, use).hits)
    )
    lookup = follow(recording, (pair, timing))
    findings = [
        Finding(
            "reads where the answer was written",
            "the controller reads from contiguous locations that each store the time slices",
            mean(lookup.hits),
            "share of the answer's vectors read at the location to which they were written",
            {"timing": timing},
        ),
        _shifted_by_one(lookup),
        _what_matches(lookup),
        _which_key(lookup),
    ]
    chosen_for = "the pair that reads most often where the answer was written"
    return summarised(recording, pair, chosen_for, findings, _phases(recording, lookup))


def follow(recording: Recording, use: Use) -> Lookup:
    """Return the lookup of two heads, given the timing of their writes and reads."""
    pair, timing = use
    plan, trace, (delay, lead) = lists(recording), recording.trace, TIMINGS[timing]
    read_step = plan.answer + np.arange(plan.period - 1)[:, None] - lead
    locations = trace.weightings("read").shape[-1]
    heads = weightings.tracks(trace, pair)
    return Lookup(plan, *heads, plan.vectors + delay, read_step, locations)


def _shifted_by_one(lookup: Lookup) -> Finding:
    mode = at_steps(lookup.reader.mode, lookup.jump)
    place = at_steps(lookup.reader.place, lookup.jump)
    way = weightings.displacement(lookup.match, place, lookup.locations)
    return Finding(
        "lands one past the match",
        "a content-based lookup that produces a weighting that is shifted by one",
        mean((mode == weightings.CONTENT_THEN_SHIFT) & (np.abs(way) == 1)),
        "share of lookups that land beside the key's best match, by content then shift",
        {
            "by_content": mean(mode != SHIFT),
            "mean_way": mean(way),
            "steps_before_the_first_read": mean(lookup.read_step[:1] - lookup.jump),
        },
    )


def _what_matches(lookup: Lookup) -> Finding:
    """Find the step that last wrote to the location that the key matches."""
    steps = np.arange(len(lookup.writer.place))[:, None]
    wrote = (lookup.writer.place == lookup.match) & (steps < lookup.jump)
    last = np.where(wrote.any(axis=0), len(wrote) - 1 - wrote[::-1].argmax(axis=0), -1)
    after, period = last - lookup.plan.delimiter, lookup.plan.period
    shares = {
        "delimiter_after_the_queried_item": after == 0,
        "queried_item": (after < 0) & (after > -period),
        "answer": (after > 0) & (after < period),
        "never_written": last < 0,
    }
    numbers = {name: float(flags.mean()) for name, flags in shares.items()}
    return Finding(
        "matches what was stored at the delimiter",
        "when each item delimiter is presented, the controller writes a compressed representation",
        numbers["delimiter_after_the_queried_item"],
        "share of lookups that match the location written at the delimiter after the queried item",
        numbers,
    )


def _which_key(lookup: Lookup) -> Finding:
    """Compare the key of the lookup with the vectors added at delimiters that end an item."""
    plan = lookup.plan
    ends = np.arange(1, plan.items.max())[:, None]
    steps = np.where(ends < plan.items, ends * plan.period, -1)
    added = at_steps(lookup.writer.vector, steps)
    similarity = weightings.cosine(added, at_steps(lookup.reader.key, lookup.jump))
    own = ends == plan.queried + 1
    closest = np.nan_to_num(similarity, nan=-2).argmax(axis=0) == plan.queried
    return Finding(
        "recomputes the key",
        "the key used for content-lookup corresponds to the vector that was added",
        float(closest.mean()),
        "share of lookups whose key is closest to the vector added there, among all delimiters",
        {
            "similarity": mean(np.where(own, similarity, np.nan)),
            "similarity_to_others": mean(np.where(own, np.nan, similarity)),
        },
    )


def _phases(recording: Recording, lookup: Lookup) -> dict[str, Booleans]:
    step = np.arange(len(recording.scored))[:, None]
    first, last = lookup.read_step[0], lookup.read_step[-1]
    query = lookup.plan.items * lookup.plan.period
    return {
        "list": step < query,
        "query": (step >= query) & (step < first),
        "first read of the answer": step == first,
        "other reads": (step > first) & (step <= last),
    }

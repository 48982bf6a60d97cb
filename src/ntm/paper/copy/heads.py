"""Sections 4.1 and 4.2: measure whether heads write successive locations and read them again."""

import itertools
from typing import NamedTuple

import numpy as np

from ntm.evaluation.findings import Analysis, Finding, choose, head_pairs, summarised
from ntm.evaluation.recording import Recording
from ntm.evaluation.weightings import (
    SHIFT,
    Booleans,
    Integers,
    Track,
    at_steps,
    cosine,
    displacement,
    equal,
    known,
    mean,
    tracks,
)
from ntm.tasks import Copy, RepeatCopy
from ntm.trace import Array

TIMINGS = {"at once": (0, 0), "read a step early": (0, 1), "written a step late": (1, 0)}
"""Steps from a vector's arrival to its write, and from its read to its output.

The controller receives the reads of the previous step, so it can read a vector one step early.
"""

Use = tuple[tuple[int, int], str]
"""A write head and a read head, and a key of TIMINGS."""


class Answers(NamedTuple):
    """Vector, write step and read step of every answer: (answers, batch), padded with -1."""

    vector: Integers  # number of the vector that is the answer
    write_step: Integers  # step that wrote the vector
    read_step: Integers  # step that read the vector


class HeadPair(NamedTuple):
    """Write head and read head of a network, and the answers of the sequences."""

    rows: Answers
    writer: Track
    reader: Track
    locations: int

    @property
    def written(self) -> Array:
        """For each answer, the location where its vector was written, (answers, batch)."""
        return at_steps(self.writer.place, self.rows.write_step)

    @property
    def read(self) -> Array:
        """Location that was read for each answer, (answers, batch)."""
        return at_steps(self.reader.place, self.rows.read_step)


def answers(recording: Recording, timing: str) -> Answers:
    """Return the vector that each answer repeats, and the steps that wrote and read it."""
    task, start = recording.task, recording.answer_start
    if isinstance(task, RepeatCopy):
        first, marker = int(task.delimiter == "start"), 1
    elif isinstance(task, Copy):
        first, marker = int(task.start_delimiter), int(task.end_marker)
    else:
        raise TypeError(f"The task is {task.name}; it must be copy or repeat-copy.")
    vectors = start - 1 - first
    said = recording.scored.sum(axis=0) - marker
    delay, lead = TIMINGS[timing]
    position = np.arange(said.max())[:, None]
    vector = position % vectors
    rows = (vector, vector + first + delay, position + start - lead)
    return Answers(*(np.where(position < said, row, -1) for row in rows))


def analyse_copying(recording: Recording) -> Analysis:
    """Measure whether the network performs copy or repeat copy as the paper describes."""
    uses = itertools.product(head_pairs(recording.trace), TIMINGS)
    (pair, timing), recording = choose(recording, uses, _read_where_written)
    heads = _heads(recording, (pair, timing))
    findings = [
        Finding(
            "reads where it wrote",
            "the read locations exactly match the write locations",
            mean(equal(heads.read, heads.written)),
            "share of answers read at the location to which their vector was written",
            {"timing": timing},
        ),
        _same_vectors(heads),
        _focus(heads),
        *_iteration(heads),
        _start(heads),
        *(_repeats(heads) if isinstance(recording.task, RepeatCopy) else ()),
    ]
    chosen_for = "the pair that reads most often where it wrote"
    return summarised(recording, pair, chosen_for, findings, _phases(recording, heads.rows))


def _read_where_written(recording: Recording, use: Use) -> float:
    heads = _heads(recording, use)
    return mean(equal(heads.read, heads.written))


def _heads(recording: Recording, use: Use) -> HeadPair:
    (pair, timing), trace = use, recording.trace
    locations = trace.weightings("read").shape[-1]
    return HeadPair(answers(recording, timing), *tracks(trace, pair), locations)


def _phases(recording: Recording, rows: Answers) -> dict[str, Booleans]:
    """Return the steps of the input, the first read of each pass, and the other reads."""
    answering = _flags(rows.read_step, recording.scored.shape)
    starting = _flags(np.where(rows.vector == 0, rows.read_step, -1), recording.scored.shape)
    return {
        "listening": recording.inside & ~recording.scored & ~answering,
        "first read of a pass": starting,
        "other reads": answering & ~starting,
    }


def _flags(steps: Integers, shape: tuple[int, ...]) -> Booleans:
    """Return flags (time, batch) that are set at the steps (count, batch); -1 sets none."""
    flags = np.zeros(shape, dtype=bool)
    _, sequence = np.nonzero(steps >= 0)
    flags[steps[steps >= 0], sequence] = True
    return flags


def _same_vectors(heads: HeadPair) -> Finding:
    added = at_steps(heads.writer.vector, heads.rows.write_step)
    read = at_steps(heads.reader.vector, heads.rows.read_step)
    return Finding(
        "reads what it added",
        "the read vectors match the add vectors",
        mean(cosine(added, read)),
        "mean cosine similarity of the vector read and the vector added",
    )


def _focus(heads: HeadPair) -> Finding:
    writing = mean(at_steps(heads.writer.focus, heads.rows.write_step))
    reading = mean(at_steps(heads.reader.focus, heads.rows.read_step))
    return Finding(
        "looks at one location",
        "the sharp focus of all the weightings on a single location in memory",
        (writing + reading) / 2,
        "mean largest weight, over writes and reads of vectors",
        {"writing": writing, "reading": reading},
    )


def _iteration(heads: HeadPair) -> list[Finding]:
    first_pass = np.arange(len(heads.rows.vector))[:, None] == heads.rows.vector
    written = np.where(first_pass, heads.rows.write_step, -1)
    return [
        Finding(
            f"{kind}s one location after another",
            f"{action}; increment head location by 1",
            *_steady_moves(head, steps, heads),
        )
        for kind, action, head, steps in (
            ("write", "write input to head location", heads.writer, written),
            ("read", "read output vector from head location", heads.reader, heads.rows.read_step),
        )
    ]


def _steady_moves(
    head: Track, steps: Integers, heads: HeadPair
) -> tuple[float, str, dict[str, float]]:
    """Return the share of moves within a pass that equal the most common move, by a shift."""
    place = at_steps(head.place, np.where(heads.rows.vector < 0, -1, steps))
    moves = displacement(place[:-1], place[1:], heads.locations)
    moves[heads.rows.vector[1:] == 0] = np.nan
    usual = _most_common(moves)
    same = known(moves, then=moves == usual)
    shifted = known(moves, then=at_steps(head.mode, steps)[1:] == SHIFT)
    numbers = {
        "usual_move": usual,
        "share_of_usual_moves": mean(same),
        "share_by_shift": mean(shifted),
    }
    measured = "share of moves within a pass that are the usual move, made by shifting alone"
    return mean(same * shifted) if usual else 0.0, measured, numbers


def _most_common(moves: Array) -> float:
    values, counts = np.unique(moves[~np.isnan(moves)], return_counts=True)
    return float(values[counts.argmax()]) if len(values) else 0.0


def _start(heads: HeadPair) -> Finding:
    """Judge how the read head reaches the first vector, in the first answer only.

    A read head that is separate from the write head may have waited at the first vector.
    """
    arrival = heads.rows.read_step[:1]
    before = at_steps(heads.reader.place, arrival - 1)
    near = np.abs(displacement(before, heads.written[:1], heads.locations)) <= 1
    return Finding(
        "finds the start by content",
        "content-based addressing (to jump to start of the sequence)",
        mean(at_steps(heads.reader.mode != SHIFT, arrival)),
        "share of first reads whose location was found by content",
        {"waited_there_or_next_to_it": mean(known(before, then=near))},
    )


def _repeats(heads: HeadPair) -> list[Finding]:
    """Judge later passes over at least three vectors. With two, a shift leads back to the start."""
    rows = heads.rows
    again = (rows.vector == 0) & (rows.vector.max(axis=0) >= 2)
    again[0] = False
    jump = np.where(again, rows.read_step, -1)
    match = at_steps(heads.reader.match, jump)
    holds_vector = (heads.written == match[:, None]).any(axis=1)
    by_content = at_steps(heads.reader.mode != SHIFT, jump)
    return [
        Finding(
            "goes back to the start",
            "the sequential read is repeated as many times as necessary",
            mean(equal(at_steps(heads.reader.place, jump), heads.written)),
            "share of later passes that start where the first vector was written",
            {"passes": int(again.sum())},
        ),
        Finding(
            "goes back by content",
            "redirect the head to the start of the sequence (... a goto statement)",
            mean(by_content),
            "share of later passes whose first location was found by content",
        ),
        Finding(
            "goes back by way of another location",
            "an intermediate location used to redirect the head to the start",
            mean(by_content * known(match, then=~holds_vector)),
            "share of later passes that start from a location without a vector, found by content",
        ),
    ]

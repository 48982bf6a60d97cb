"""Section 4.4: measure whether the memory has one counter per context, at its own location."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ntm.evaluation.findings import Analysis, Finding, choose, head_pairs, summarised
from ntm.evaluation.recording import Recording
from ntm.evaluation.weightings import Booleans, Integers, Track, mean, tracks
from ntm.tasks import NGrams
from ntm.trace import Array

QUARTERS = 4


def contexts(recording: Recording) -> Integers:
    """Return the context, the last bits as a number, or -1 if there are too few: (time, batch)."""
    bits = recording.trace.inputs[:, :, 0].astype(np.int64)
    length = recording.task_as(NGrams).context
    numbers = np.zeros_like(bits)
    for back in range(min(length, len(bits))):
        numbers[back:] += bits[: len(bits) - back] << back
    numbers[: max(length - 1, 0)] = -1
    return numbers


def analyse_counting(recording: Recording) -> Analysis:
    """Measure whether the network counts per context, as the optimal estimator does."""
    pair, recording = choose(recording, head_pairs(recording.trace), _table_like)
    writer, reader = tracks(recording.trace, pair)
    findings = [
        _own_location(reader, contexts(recording), _notes(recording, pair)),
        _write_after_read(writer, reader, contexts(recording)),
        _opposite_adds(writer, recording),
        _fainter(writer, contexts(recording)),
        _counter(reader, recording),
        _gain(recording),
    ]
    chosen_for = "the pair that best keeps a location for each context"
    return summarised(recording, pair, chosen_for, findings, {"every step": recording.inside})


def _table_like(recording: Recording, pair: tuple[int, int]) -> float:
    writer, reader = tracks(recording.trace, pair)
    context = contexts(recording)
    own = _own_location(reader, context, {}).value
    return own + _write_after_read(writer, reader, context).value


def _own_location(reader: Track, context: Integers, notes: dict[str, float]) -> Finding:
    """Compare pairs of steps with equal contexts with pairs of steps with different contexts."""
    each = zip(context.T, reader.place.T, strict=True)
    of_equal, of_others = np.transpose([_coincidence(c[c >= 0], p[c >= 0]) for c, p in each])
    equal, others = mean(of_equal), mean(of_others)
    return Finding(
        "has a location for each context",
        "at each such point the same location is accessed by the read head",
        equal - others,
        "chance that two equal contexts read one location, minus the chance for two different ones",
        {"equal_contexts": equal, "other_contexts": others, **notes},
    )


def _notes(recording: Recording, pair: tuple[int, int]) -> dict[str, float]:
    """Measure an alternative algorithm: write each step to a new location, as in a log.

    To predict, such a network reads the entries right after earlier occurrences of the context.
    Return the read weight on these entries, and the share of all locations that hold them.
    """
    context, (writer, _) = contexts(recording), tracks(recording.trace, pair)
    weightings = recording.trace.weightings("read")[:, :, pair[1]]
    notes = _followers(context, writer.place, weightings.shape[-1])
    seen = notes.any(axis=-1)
    return {
        "weight_on_what_followed_it_before": mean((weightings * notes).sum(axis=-1)[seen]),
        "of_all_locations": mean(notes.mean(axis=-1)[seen]),
    }


def _followers(context: Integers, written: Integers, count: int) -> Booleans:
    """Return flags of locations written a step after earlier visits: (time, batch, N)."""
    notes = np.zeros((*context.shape, count), dtype=bool)
    for (step, sequence), present in np.ndenumerate(context):
        if present >= 0:
            visits = np.flatnonzero(context[:step, sequence] == present)
            notes[step, sequence, written[visits + 1, sequence]] = True
    return notes


def _coincidence(context: Integers, place: Integers) -> tuple[float, float]:
    """Return how often two steps share a location, for equal and for different contexts."""
    equal_context = context[:, None] == context
    equal_place = place[:, None] == place
    later = np.tri(len(place), k=-1, dtype=bool)
    same, other = later & equal_context, later & ~equal_context
    return _share(equal_place[same]), _share(equal_place[other])


def _share(flags: Booleans) -> float:
    return float(flags.mean()) if flags.size else np.nan


def _write_after_read(writer: Track, reader: Track, context: Integers) -> Finding:
    read, written = reader.place[:-1], writer.place[1:]
    counted = context[:-1] >= 0
    same = mean(np.where(counted, read == written, np.nan))
    # Compare with any other read of the same sequence: a head that never moves proves nothing.
    chance = mean(np.array([_meetings(r, w) for r, w in zip(read.T, written.T, strict=True)]))
    return Finding(
        "writes where it has just read",
        "and then, on the next time-step, accessed by the write head",
        (same - chance) / (1 - chance) if chance < 1 else 0.0,
        "share of writes at the location read a step before, corrected for chance",
        {"step_before": same, "any_step": chance},
    )


def _meetings(read: Integers, written: Integers) -> float:
    return float((read[:, None] == written).mean())


def _opposite_adds(writer: Track, recording: Recording) -> Finding:
    bits = recording.trace.inputs[:, :, 0] > 0.5
    ones = writer.vector[recording.inside & bits].mean(axis=0)
    zeros = writer.vector[recording.inside & ~bits].mean(axis=0)
    return Finding(
        "adds opposite vectors for one and zero",
        "the add vectors ... are clearly anti-correlated at places where the input is one or zero",
        -_correlation(ones, zeros),
        "minus the correlation between the mean vectors added after a one and after a zero",
    )


def _fainter(writer: Track, context: Integers) -> Finding:
    """Measure the writes after each visit of a context, when the next bit is known."""
    before, written = context[:-1], writer.focus[1:]
    visits = _visits(before)
    seen = before >= 0
    means = {
        f"visit_{visit}": mean(np.where(seen & (visits == visit), written, np.nan))
        for visit in (1, 2, 4, 8)
    }
    return Finding(
        "writes more faintly each time",
        "the write weightings grow fainter as the same context is repeatedly seen",
        -_correlation(_ranks(visits[seen]), _ranks(written[seen])),
        "minus the rank correlation between a write's largest weight and the number of the visit",
        means,
    )


def _visits(context: Integers) -> Integers:
    """Count how often each step's context has occurred in its sequence, this step included."""
    earlier = np.tri(len(context), dtype=bool)
    same = context[:, None] == context[None]
    visits: Integers = (same & earlier[:, :, None]).sum(axis=1)
    return visits


def _counter(reader: Track, recording: Recording) -> Finding:
    """Predict the optimal estimate from the vector read: fit on one half, test on the other."""
    optimal = recording.task_as(NGrams).optimal_probabilities(recording.batch).numpy()[..., 0]
    features = np.concatenate([reader.vector, np.ones((*optimal.shape, 1))], axis=-1)
    fitted, held = slice(0, None, 2), slice(1 if recording.sequences > 1 else 0, None, 2)
    shown = features[:, fitted].reshape(-1, features.shape[-1])
    weights, *_ = np.linalg.lstsq(shown, optimal[:, fitted].ravel(), rcond=None)
    predicted = recording.trace.probabilities[:, :, 0]
    return Finding(
        "stores the optimal estimate",
        "uses the memory to count how many ones and zeros it has observed in different contexts",
        _correlation((features[:, held] @ weights).ravel(), optimal[:, held].ravel()),
        "correlation between the optimal estimate and a linear function of the vector read",
        {"correlation_of_the_prediction": _correlation(predicted.ravel(), optimal.ravel())},
    )


def _gain(recording: Recording) -> Finding:
    """Measure the bits saved against always answering 1/2, relative to the optimal predictor."""
    optimal = recording.task_as(NGrams).optimal_probabilities(recording.batch).numpy()[..., 0]
    targets = recording.batch.targets.numpy()[..., 0]
    best = _bits(optimal, targets).mean(axis=1)
    ours = _bits(recording.trace.probabilities[:, :, 0], targets).mean(axis=1)
    above = [float(part.sum()) for part in np.array_split(ours - best, QUARTERS)]
    saved = len(best) - best.sum()
    return Finding(
        "predicts as well as can be",
        "the NTM predictions are almost indistinguishable from the optimal ones",
        float((len(ours) - ours.sum()) / saved) if saved > 0 else 0.0,
        "bits saved, as a share of the bits that the optimal estimator saves",
        {"bits_above_optimum": sum(above), "bits_above_optimum_by_quarter": above},
    )


def _bits(probabilities: Array, targets: Array) -> Array:
    right = np.where(targets > 0.5, probabilities, 1 - probabilities)
    return -np.log2(np.maximum(right, 1e-12))


def _ranks(values: NDArray[Any]) -> Array:
    """Return the rank of every value; equal values share their mean rank."""
    _, kind, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts - 1) / 2)[kind]


def _correlation(first: Array, second: Array) -> float:
    """Return Pearson's correlation, or zero if either array is constant."""
    if first.std() < 1e-9 or second.std() < 1e-9:
        return 0.0
    return float(np.corrcoef(first, second)[0, 1])

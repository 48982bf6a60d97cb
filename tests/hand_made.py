"""Hand-made recordings of two heads that run a known program."""

from dataclasses import dataclass, field, replace

import numpy as np
import torch
from numpy.typing import NDArray

from ntm.evaluation.recording import Recording
from ntm.tasks import AssociativeRecall, Batch, Copy, NGrams, PrioritySort, RepeatCopy, Task
from ntm.trace import Trace

SHIFTS = (-1, 0, 1)
LOCATIONS, WIDTH = 64, 12
NOWHERE = -1

Places = NDArray[np.int64]  # (time, batch)
Array = NDArray[np.floating]


@dataclass
class Moves:
    """Locations of a write head and a read head, and the vectors written; time comes first."""

    write: Places
    read: Places
    adds: Array  # (time, batch, WIDTH)
    match: Places  # location that the read head's key finds; NOWHERE: the head shifts
    keys: Array | None = None  # keys of the read head, (time, batch, WIDTH)
    logits: Array | None = None  # (time, batch, output_size)
    write_focus: Array | None = None  # the largest weight of each write, (time, batch)
    reads: Array = field(default_factory=lambda: np.zeros(0))  # default: the memory's contents


def still(batch: Batch) -> Moves:
    """Return heads that stay at location zero and write their inputs."""
    shape = tuple(batch.inputs.shape[:2])
    nothing = np.zeros(shape, dtype=np.int64)
    return Moves(nothing, nothing.copy(), embedded(batch), np.full(shape, NOWHERE))


def embedded(batch: Batch) -> Array:
    """Return the inputs as vectors that can be stored, all with different directions."""
    mixing = np.random.default_rng(3).normal(size=(batch.inputs.shape[2] + 1, WIDTH))
    ones = np.ones((*batch.inputs.shape[:2], 1))
    return np.tanh(np.concatenate([batch.inputs.numpy(), ones], axis=2) @ mixing)


def right_answers(batch: Batch) -> Array:
    """Return logits that predict the targets with certainty."""
    return 8 * batch.targets.numpy() - 4


def sample(task: Task, sequences: int, seed: int = 1) -> Batch:
    return task.sample(sequences, torch.Generator().manual_seed(seed))


def performed(task: Task, batch: Batch, moves: Moves, locations: int = LOCATIONS) -> Recording:
    """Return the recording of heads that make these moves, each focused on one location."""
    reads = moves.reads if moves.reads.size else _read_back(moves, locations)
    keys = np.zeros_like(moves.adds) if moves.keys is None else moves.keys
    shape = (*moves.write.shape, 1)
    outputs = np.zeros(tuple(batch.targets.shape)) if moves.logits is None else moves.logits
    arrays = {
        "lengths": batch.lengths.numpy(),
        "inputs": batch.inputs.numpy(),
        "outputs": outputs,
        "hidden": np.zeros(shape),
        "reads": reads[:, :, None],
        "adds": moves.adds[:, :, None],
        "erases": np.ones((*moves.write.shape, 1, WIDTH)),
    }
    writing = addressed(moves.write, np.full_like(moves.write, NOWHERE), locations)
    if moves.write_focus is not None:
        writing["weightings"] = _spread(moves.write, moves.write_focus, locations)
    reading = addressed(moves.read, moves.match, locations)
    for kind, values in (("write", writing), ("read", reading)):
        arrays |= {f"{kind}_{name}": array[:, :, None] for name, array in values.items()}
        arrays[f"{kind}_keys"] = keys[:, :, None]
    return Recording(task, batch, Trace(SHIFTS, **arrays))


def addressed(places: Places, match: Places, locations: int) -> dict[str, Array]:
    """Return the addressing of a head that visits `places`, by content if its key has a match."""
    by_content, before = match != NOWHERE, np.roll(places, 1, axis=0)
    before[0] = places[0]
    origin = np.where(by_content, match, before)
    moved = (places - origin + locations // 2) % locations - locations // 2
    # The programs make longer moves only at steps that no test checks.
    shifts = (np.clip(moved, -1, 1)[..., None] == SHIFTS).astype(float)
    eye, elsewhere = np.eye(locations), (places + locations // 2) % locations
    return {
        "strengths": np.ones(places.shape),
        "gates": by_content.astype(float),
        "shifts": shifts,
        "sharpness": np.ones(places.shape),
        "content": eye[np.where(by_content, match, elsewhere)],
        "gated": eye[origin],
        "shifted": eye[places],
        "weightings": eye[places],
    }


def with_more_heads(
    recording: Recording, write_heads: int, read_heads: int, seed: int
) -> Recording:
    """Add heads that attend at random before the heads of a recording."""
    noise, trace, changes = np.random.default_rng(seed), recording.trace, {}
    heads = {"write": write_heads, "read": read_heads}
    for name, array in trace.arrays.items():
        kind = {"reads": "read", "adds": "write", "erases": "write"}.get(name, name.split("_")[0])
        if kind in heads:
            others = noise.random((*array.shape[:2], heads[kind] - 1, *array.shape[3:]))
            changes[name] = np.concatenate([others, array], axis=2)
    return recording._replace(trace=replace(trace, **changes))


def with_reads_shuffled(recording: Recording, seed: int) -> Recording:
    """Let the read head visit its locations in a new random order for every sequence."""
    trace, noise = recording.trace, np.random.default_rng(seed)
    order = np.argsort(noise.random(trace.inputs.shape[:2]), axis=0)
    sequence = np.arange(order.shape[1])
    names = [name for name in trace.arrays if name.startswith("read")]
    changes = {name: getattr(trace, name)[order, sequence] for name in names}
    return recording._replace(trace=replace(trace, **changes))


def copy_program(
    task: Copy | RepeatCopy, batch: Batch, *, start: int = 7, step: int = 1, lead: int = 0
) -> Moves:
    """Copy as in the paper: write to successive locations, return to the start, read them again.

    The head finds the location before the start by content, and shifts to the start.

    lead: steps from the read of a vector to its output.
    """
    moves = still(batch)
    first = int(
        getattr(task, "start_delimiter", False) or getattr(task, "delimiter", "") == "start"
    )
    for b in range(batch.batch_size):
        answer = int(batch.mask[:, b].argmax())
        vectors = answer - 1 - first
        steps = np.arange(len(moves.write))
        moves.write[:, b] = start + step * np.minimum(steps - first, vectors)
        position = steps - answer + lead
        moves.read[:, b] = start + step * (position % vectors)
        jumps = (position >= 0) & (position % vectors == 0)
        moves.match[jumps, b] = start - step
        moves.read[position < 0, b] = start + 20
    moves.logits = right_answers(batch)
    moves.write %= LOCATIONS
    moves.read %= LOCATIONS
    moves.match[moves.match != NOWHERE] %= LOCATIONS
    return moves


def recall_program(task: AssociativeRecall, batch: Batch, *, by_item: bool = False) -> Moves:
    """Recall as in the paper: write each step to a new location, find the delimiter, read on.

    by_item: find the last vector of the queried item instead, and shift past the delimiter.
    """
    moves, period = still(batch), task.item_length + 1
    moves.write[:] = np.arange(len(moves.write))[:, None]
    moves.keys = np.zeros_like(moves.adds)
    for b in range(batch.batch_size):
        answer, queried = int(batch.mask[:, b].argmax()), queried_item(task, batch, b)
        delimiter = (queried + 1) * period
        moves.read[:, b] = delimiter + 1 + np.arange(len(moves.read)) - answer
        jump, match = (answer - 1, delimiter - 1) if by_item else (answer, delimiter)
        moves.match[jump, b] = match
        moves.keys[jump, b] = moves.adds[match, b]
    moves.logits = right_answers(batch)
    moves.read %= LOCATIONS
    # Delimiters look alike, but the vectors stored at them must differ.
    ends = np.arange(0, len(moves.adds), period)
    moves.adds[ends] = np.random.default_rng(5).normal(size=moves.adds[ends].shape)
    for b in range(batch.batch_size):
        answer = int(batch.mask[:, b].argmax())
        if not by_item:
            moves.keys[answer, b] = moves.adds[moves.match[answer, b], b]
    return moves


def queried_item(task: AssociativeRecall, batch: Batch, sequence: int) -> int:
    """Return the number of the queried item in each list, found by comparing every item."""
    bits, period = batch.inputs[:, sequence, : task.bits], task.item_length + 1
    items = int(batch.inputs[:, sequence, task.bits].sum())
    query = bits[items * period + 1 : items * period + period]
    for item in range(items):
        if torch.equal(bits[item * period + 1 : (item + 1) * period], query):
            return item
    raise AssertionError("the query is not in the list")


def counting_program(task: NGrams, batch: Batch) -> Moves:
    """Count as in the paper: one location per context, read at once, written a step later."""
    moves = still(batch)
    context = contexts_one_by_one(task, batch)
    moves.read[:] = np.where(context >= 0, context, LOCATIONS - 1)
    moves.write[1:] = moves.read[:-1]
    moves.match[:] = moves.read
    sign = 2 * batch.inputs.numpy() - 1
    moves.adds = sign * np.random.default_rng(3).normal(size=WIDTH)
    optimal = task.optimal_probabilities(batch).numpy()
    moves.logits = np.log(optimal / (1 - optimal))
    moves.reads = np.concatenate([optimal, np.zeros((*context.shape, WIDTH - 1))], axis=2)
    visits = np.ones(context.shape)
    for (t, b), present in np.ndenumerate(context[:-1]):
        visits[t + 1, b] = (context[: t + 1, b] == present).sum()
    moves.write_focus = 1 / (1 + np.log(visits))
    return moves


def contexts_one_by_one(task: NGrams, batch: Batch) -> Places:
    """Return the last bits at every step as a number, NOWHERE before there are enough."""
    bits = batch.inputs[:, :, 0].int().tolist()
    numbers = np.full((len(bits), batch.batch_size), NOWHERE)
    for t in range(task.context - 1, len(bits)):
        for b in range(batch.batch_size):
            text = "".join(str(bits[s][b]) for s in range(t - task.context + 1, t + 1))
            numbers[t, b] = int(text, 2)
    return numbers


def sorting_program(
    task: PrioritySort, batch: Batch, *, slope: float = -20.0, middle: float = 30.0
) -> Moves:
    """Sort as in the paper: write to the location of the priority, then read in order."""
    moves = still(batch)
    priorities = batch.inputs[: task.length, :, task.bits].numpy()
    places = np.round(middle + slope * priorities).astype(np.int64) % LOCATIONS
    moves.write[: task.length] = places
    for b in range(batch.batch_size):
        order = sorted(range(task.length), key=lambda i: -priorities[i, b])
        moves.read[-task.answers :, b] = places[order[: task.answers], b]
    return moves


def _read_back(moves: Moves, locations: int) -> Array:
    """Return the vectors that the read head finds if every write replaces the old vector."""
    time, batch_size = moves.write.shape
    memory, reads = np.zeros((batch_size, locations, WIDTH)), np.zeros_like(moves.adds)
    for t in range(time):
        for b in range(batch_size):
            memory[b, moves.write[t, b]] = moves.adds[t, b]
            reads[t, b] = memory[b, moves.read[t, b]]
    return reads


def _spread(places: Places, largest: Array, locations: int) -> Array:
    """Return weightings with this largest weight, and the rest spread evenly."""
    rest = ((1 - largest) / (locations - 1))[..., None]
    return np.where(np.eye(locations)[places] > 0, largest[..., None], rest)

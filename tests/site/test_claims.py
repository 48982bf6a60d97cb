"""What the tour and the gallery say of the packaged networks is so."""

import numpy as np
import torch

from ntm.layer import NTM
from ntm.tasks import Batch, make_task, wrong_bits
from ntm.trace import Trace

TOURED = ("a4", "3c", "91", "e6", "58")


def traced(name: str, task: str, count: int, **sizes: int) -> tuple[Trace, Batch]:
    batch = make_task(task).at(**sizes).sample(count, torch.Generator().manual_seed(1))
    return NTM.from_pretrained(name).trace(batch.inputs), batch


def peaks(trace: Trace, kind: str, head: int = 0) -> np.ndarray:
    """Where a head is: (steps, sequences)."""
    return getattr(trace, f"{kind}_weightings")[:, :, head].argmax(-1)


def test_the_tour_of_a_copy() -> None:
    bits = torch.tensor([[int(bit) for bit in f"{int(text, 16):08b}"] for text in TOURED])
    batch = make_task("copy").at(length=5).sample(1, torch.Generator())
    batch.inputs[:5, 0, :8] = batch.targets[6:, 0] = bits.float()
    trace = NTM.from_pretrained("copy-ff").trace(batch.inputs)
    assert not wrong_bits(torch.from_numpy(trace.outputs), batch).any()
    writes, reads = peaks(trace, "write")[:, 0], peaks(trace, "read")[:, 0]
    assert (np.diff(writes[:6]) == -1).all()  # a location of its own for every vector
    assert (trace.write_gates[:5, 0, 0] < 0.5).all()  # most of its last place
    assert len(set(reads[:5])) == 1  # waits
    assert reads[4] == writes[0] + 1  # beside the one that was written first
    assert (trace.read_content[:5, 0, 0].argmax(-1) == reads[:5]).all()  # held by content
    assert (reads[5:10] == writes[:5]).all()  # from the delimiter on, the same walk


def test_a_copy_of_120() -> None:
    trace, batch = traced("copy-ff", "copy", 20, length=120)
    assert (wrong_bits(torch.from_numpy(trace.outputs), batch) == 0).float().mean() > 0.9
    steps = np.diff(peaks(trace, "read")[121:], axis=0) % 128
    assert (steps == 127).mean() > 0.99  # always one on, round the end of the memory too


def test_the_goto_of_repeat_copy() -> None:
    trace, _ = traced("repeat-copy-lstm", "repeat-copy", 10, length=6, repeats=5)
    reads, gates = peaks(trace, "read")[7:37], trace.read_gates[7:37, :, 0]
    rounds = reads.reshape(5, 6, 10)
    assert (rounds == rounds[:1]).mean() > 0.99
    assert (gates[6::6] > 0.9).all()  # each jump is by content
    between = gates.reshape(5, 6, 10)[:, 1:].mean(axis=1)
    assert (between < 0.75).all()  # each other step is not
    assert (np.diff(between, axis=0) < 0).all()  # it closes further with every pass


def test_the_queue_of_repeat_copy() -> None:
    trace, batch = traced("repeat-copy-ff", "repeat-copy", 10, length=20, repeats=10)
    assert (wrong_bits(torch.from_numpy(trace.outputs), batch) == 0).all()
    reads, writes = peaks(trace, "read")[42:221], peaks(trace, "write")[42:221]
    assert (np.diff(reads, axis=0) % 128 == 127).all()  # no way back, even round the ring
    assert len(np.unique((reads - writes) % 128)) == 1  # as far behind the write head all the time


def test_the_jump_of_recall() -> None:
    trace, batch = traced("associative-recall-lstm", "associative-recall", 40, items=6)
    assert (wrong_bits(torch.from_numpy(trace.outputs), batch) == 0).float().mean() > 0.9
    writes, reads = peaks(trace, "write"), peaks(trace, "read")
    assert (np.diff(writes, axis=0) % 128 == 1).mean() > 0.95
    for sequence in range(40):
        items = batch.inputs[:24, sequence, :6].reshape(6, 4, 6)[:, 1:]
        query = next(
            i for i in range(6) if torch.equal(items[i], batch.inputs[25:28, sequence, :6])
        )
        written = writes[4 * query : 4 * query + 9, sequence]  # the item, and the one after it
        assert np.isin(reads[28:, sequence], written).mean() > 0.5


def test_the_table_of_ngrams() -> None:
    trace, batch = traced("ngrams-lstm", "ngrams", 10, length=200)
    reads, bits = peaks(trace, "read"), batch.inputs[:, :, 0].int().numpy()
    same = []
    for sequence in range(10):
        places: dict[bytes, list[int]] = {}
        for step in range(4, 199):
            key = bits[step - 4 : step + 1, sequence].tobytes()
            places.setdefault(key, []).append(reads[step, sequence])
        same += [max(map(found.count, found)) / len(found) for found in places.values()]
    assert np.mean(same) > 0.9


def test_the_line_of_sort() -> None:
    trace, batch = traced("priority-sort-ff", "priority-sort", 40)
    priorities = batch.inputs[:20, :, 8].numpy()
    places = peaks(trace, "write", head=7)[:20]
    slope, start = np.polyfit(priorities.ravel(), places.ravel(), 1)
    assert slope > 0
    assert (np.abs(places - (start + slope * priorities)) < 2).mean() > 0.9
    reads = peaks(trace, "read", head=0)[21:]
    assert (np.diff(reads, axis=0) <= 0).all()  # walks along, from the highest priority down

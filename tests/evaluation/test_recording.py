import numpy as np
import pytest
import torch

from ntm.evaluation.findings import choose, verdict
from ntm.evaluation.recording import record
from ntm.layer import NTM
from ntm.tasks import Copy

TASK = Copy(bits=2, max_length=4)


def network() -> NTM:
    torch.manual_seed(2)
    return NTM(3, 2, controller_size=5, memory_locations=7, memory_width=3)


def test_a_recording_is_the_trace_of_its_problems() -> None:
    net = network()
    recording = record(net, TASK, sequences=5, seed=3)
    expected = net.trace(recording.batch.inputs, lengths=recording.batch.lengths)
    np.testing.assert_array_equal(recording.trace.read_weightings, expected.read_weightings)
    np.testing.assert_array_equal(recording.scored, recording.batch.mask.numpy() == 1)
    np.testing.assert_array_equal(recording.inside.sum(axis=0), recording.batch.lengths)
    np.testing.assert_array_equal(recording.channel("end").sum(axis=0), np.ones(5))
    for b, start in enumerate(recording.answer_start):
        assert recording.scored[start, b]
        assert not recording.scored[:start, b].any()


def test_the_seed_decides_the_problems() -> None:
    net = network()
    first, same, other = (record(net, TASK, 5, seed).batch.inputs for seed in (1, 1, 2))
    assert torch.equal(first, same)
    assert not torch.equal(first, other)


def test_a_part_is_what_those_sequences_alone_give() -> None:
    net = network()
    whole = record(net, TASK, sequences=7)
    part = whole.part(2, 5)
    assert part.sequences == 3
    alone = net.trace(part.batch.inputs, lengths=part.batch.lengths)
    assert part.trace.inputs.shape == alone.inputs.shape
    np.testing.assert_allclose(part.trace.outputs, alone.outputs, atol=1e-5)
    np.testing.assert_array_equal(part.trace.lengths, alone.lengths)


def test_nothing_cannot_be_recorded() -> None:
    with pytest.raises(ValueError, match="sequences must be an integer of at least 1, got 0"):
        record(network(), TASK, sequences=0)


def test_what_is_chosen_is_not_measured_on_what_it_was_chosen_by() -> None:
    recording = record(network(), TASK, sequences=7)
    seen: list[int] = []

    def score(part: object, candidate: int) -> float:
        seen.append(part.sequences)  # type: ignore[attr-defined]
        return -abs(candidate - 2)

    best, rest = choose(recording, range(5), score)
    assert best == 2
    assert set(seen) == {3}
    np.testing.assert_array_equal(rest.trace.lengths, recording.trace.lengths[3:])


def test_where_there_is_no_choice_nothing_is_held_back() -> None:
    recording = record(network(), TASK, sequences=7)
    assert choose(recording, ["only"], lambda *_: 0.0) == ("only", recording)
    single = recording.part(0, 1)
    assert choose(single, [1, 2], lambda _, candidate: candidate) == (2, single)


@pytest.mark.parametrize(
    ("value", "word"),
    [(1.0, "holds"), (0.9, "holds"), (0.89, "partly"), (0.5, "partly"), (0.49, "does not hold"),
     (-1.0, "does not hold")],
)  # fmt: skip
def test_verdicts(value: float, word: str) -> None:
    assert verdict(value) == word

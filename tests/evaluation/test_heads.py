"""Heads that run a known program are found to run it; others are not."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch
from tests import hand_made
from tests.hand_made import performed, sample, with_more_heads, with_reads_shuffled

from ntm.evaluation.findings import Analysis
from ntm.evaluation.recording import Recording
from ntm.layer import NTM
from ntm.models.lstm import LSTMBaseline
from ntm.paper import experiment_of
from ntm.paper.analysis import analyse, analysis_of
from ntm.tasks import (
    AssociativeRecall,
    Copy,
    NGrams,
    PrioritySort,
    RepeatCopy,
    Task,
)

SEQUENCES = 24


def examined(recording: Recording) -> tuple[Analysis, dict[str, float]]:
    analysis = analysis_of(recording)
    return analysis, {finding.name: finding.value for finding in analysis.findings}


def copied(task: Copy | RepeatCopy, **options: int) -> Recording:
    batch = sample(task, SEQUENCES)
    return performed(task, batch, hand_made.copy_program(task, batch, **options))


COPIES = [
    Copy(bits=5, max_length=9),
    Copy(bits=5, min_length=4, max_length=9, start_delimiter=True, end_marker=True),
    RepeatCopy(bits=5, min_length=3, max_length=6, max_repeats=4),
    RepeatCopy(bits=5, min_length=3, max_length=6, max_repeats=4, delimiter="start"),
]
both_copies = pytest.mark.parametrize("task", COPIES, ids=lambda task: task.name)


@both_copies
@pytest.mark.parametrize("step", [1, -1])
def test_the_papers_copy_program_scores_as_such(task: Copy | RepeatCopy, step: int) -> None:
    analysis, values = examined(copied(task, step=step))
    assert values == pytest.approx(dict.fromkeys(values, 1.0))
    assert {finding.verdict for finding in analysis.findings} == {"holds"}
    numbers = {finding.name: finding.numbers for finding in analysis.findings}
    assert numbers["reads where it wrote"]["timing"] == "at once"
    assert numbers["writes one location after another"]["usual_move"] == step
    assert numbers["reads one location after another"]["usual_move"] == step
    assert numbers["finds the start by content"]["waited_there_or_next_to_it"] == 0


@both_copies
def test_a_vector_may_be_read_a_step_before_it_is_said(task: Copy | RepeatCopy) -> None:
    analysis, values = examined(copied(task, lead=1))
    assert values == pytest.approx(dict.fromkeys(values, 1.0))
    assert analysis.findings[0].numbers["timing"] == "read a step early"


@both_copies
def test_a_program_that_wraps_around_the_memory_is_the_same(task: Copy | RepeatCopy) -> None:
    _, values = examined(copied(task, start=hand_made.LOCATIONS - 2))
    assert values == pytest.approx(dict.fromkeys(values, 1.0))


@both_copies
def test_reads_in_a_random_order_do_not_score(task: Copy | RepeatCopy) -> None:
    _, values = examined(with_reads_shuffled(copied(task), seed=4))
    assert values["reads where it wrote"] < 0.5
    assert values["reads one location after another"] < 0.5
    assert values["writes one location after another"] == 1
    if isinstance(task, RepeatCopy):
        assert values["goes back to the start"] < 0.5


def test_a_head_that_waits_at_the_start_has_not_jumped_there() -> None:
    task = Copy(bits=5, min_length=3, max_length=9)
    batch = sample(task, SEQUENCES)
    moves = hand_made.copy_program(task, batch, start=7)
    for b, start in enumerate(batch.mask.argmax(dim=0)):
        moves.read[:start, b] = 7
    moves.match[:] = hand_made.NOWHERE
    analysis, values = examined(performed(task, batch, moves))
    assert values["reads where it wrote"] == 1
    assert values["finds the start by content"] == 0
    finding = analysis.findings[-1]
    assert finding.numbers["waited_there_or_next_to_it"] == 1
    assert finding.verdict == "does not hold"


def test_the_modes_of_copying() -> None:
    analysis, _ = examined(copied(Copy(bits=5, min_length=2, max_length=9)))
    shares = analysis.modes["first read of a pass"]["read"]
    assert shares == {"content": 0, "content then shift": 1, "shift": 0}
    assert analysis.modes["other reads"]["read"]["shift"] == 1
    assert analysis.modes["listening"]["write"]["shift"] == 1


def test_a_repeat_that_never_goes_back_is_seen() -> None:
    task = RepeatCopy(bits=5, min_length=3, max_length=6, min_repeats=2, max_repeats=4)
    batch = sample(task, SEQUENCES)
    moves = hand_made.copy_program(task, batch)
    for b, start in enumerate(batch.mask.argmax(dim=0)):
        moves.read[start:, b] = 7 + np.arange(len(moves.read) - int(start))
        moves.match[int(start) + 1 :, b] = hand_made.NOWHERE
    _, values = examined(performed(task, batch, moves))
    assert values["goes back to the start"] == 0
    assert values["goes back by content"] == 0
    assert values["goes back by way of another location"] == 0


def test_a_jump_straight_to_the_start_needs_no_other_location() -> None:
    task = RepeatCopy(bits=5, min_length=3, max_length=6, min_repeats=2, max_repeats=4)
    batch = sample(task, SEQUENCES)
    moves = hand_made.copy_program(task, batch, start=7)
    moves.match[moves.match != hand_made.NOWHERE] = 7
    _, values = examined(performed(task, batch, moves))
    assert values["goes back by content"] == 1
    assert values["goes back by way of another location"] == 0


def recalled(**options: bool) -> Recording:
    task = AssociativeRecall(bits=5, max_items=5)
    batch = sample(task, SEQUENCES)
    return performed(task, batch, hand_made.recall_program(task, batch, **options))


def test_the_papers_recall_program_scores_as_such() -> None:
    analysis, values = examined(recalled())
    assert values == pytest.approx(dict.fromkeys(values, 1.0))
    assert analysis.findings[1].numbers["mean_way"] == 1
    assert analysis.modes["first read of the answer"]["read"]["content then shift"] == 1
    assert analysis.modes["other reads"]["read"]["shift"] == 1


def test_recall_by_the_item_itself_is_told_from_recall_by_the_delimiter() -> None:
    analysis, values = examined(recalled(by_item=True))
    assert values["reads where the answer was written"] == 1
    assert values["lands one past the match"] == 1
    assert values["matches what was stored at the delimiter"] == 0
    matched = analysis.findings[2].numbers
    assert matched["queried_item"] == 1
    assert analysis.findings[1].numbers["steps_before_the_first_read"] == 1


def test_recall_in_a_random_order_does_not_score() -> None:
    _, values = examined(with_reads_shuffled(recalled(), seed=4))
    assert values["reads where the answer was written"] < 0.5
    assert values["lands one past the match"] < 0.5


def counted(length: int = 120) -> Recording:
    task = NGrams(length=length, context=3)
    batch = sample(task, SEQUENCES)
    return performed(task, batch, hand_made.counting_program(task, batch))


def test_a_table_of_counters_scores_as_such() -> None:
    analysis, values = examined(counted())
    assert {finding.name: finding.verdict for finding in analysis.findings} == dict.fromkeys(
        values, "holds"
    )
    assert values["has a location for each context"] == 1
    assert values["writes where it has just read"] == 1
    assert values["writes more faintly each time"] == pytest.approx(1)
    assert values["stores the optimal estimate"] == pytest.approx(1)
    assert values["predicts as well as can be"] == pytest.approx(1, abs=1e-5)
    numbers = analysis.findings[-1].numbers
    assert numbers["bits_above_optimum_by_quarter"] == pytest.approx([0] * 4, abs=1e-4)


def test_a_table_in_a_random_order_does_not_score() -> None:
    _, values = examined(with_reads_shuffled(counted(), seed=4))
    assert values["has a location for each context"] < 0.1
    assert values["writes where it has just read"] < 0.1
    assert values["stores the optimal estimate"] < 0.7


def test_heads_that_never_move_are_no_table() -> None:
    task = NGrams(length=60, context=3)
    batch = sample(task, SEQUENCES)
    _, values = examined(performed(task, batch, hand_made.still(batch)))
    assert values["has a location for each context"] == 0
    assert values["writes where it has just read"] == 0
    assert values["writes more faintly each time"] == 0
    assert values["predicts as well as can be"] == pytest.approx(0, abs=1e-6)


def test_a_log_that_is_searched_is_told_from_a_table() -> None:
    """Note every step; read what was noted after the last visit of the same context."""
    task = NGrams(length=50, context=3)
    batch = sample(task, SEQUENCES)
    moves, context = hand_made.still(batch), hand_made.contexts_one_by_one(task, batch)
    moves.write[:] = np.arange(len(moves.write))[:, None]
    for (t, b), present in np.ndenumerate(context):
        visits = np.flatnonzero(context[:t, b] == present)
        moves.read[t, b] = visits[-1] + 1 if len(visits) else 63
    analysis, values = examined(performed(task, batch, moves))
    assert values["has a location for each context"] < 0.5
    assert analysis.findings[0].numbers["weight_on_what_followed_it_before"] == 1
    assert analysis.findings[0].numbers["of_all_locations"] < 0.2


def sorted_by(**options: float) -> Recording:
    task = PrioritySort(bits=3, length=8, answers=6)
    batch = sample(task, SEQUENCES)
    return performed(task, batch, hand_made.sorting_program(task, batch, **options))


@pytest.mark.parametrize("middle", [30, 60, 2])
@pytest.mark.parametrize("slope", [-20, 20])
def test_the_papers_sort_program_scores_as_such(slope: float, middle: float) -> None:
    analysis, values = examined(sorted_by(slope=slope, middle=middle))
    assert values["writes where the priority says"] > 0.99
    assert values["reads in order"] > 0.9  # two vectors may share a location
    assert values["reads the sorted sequence"] == 1
    numbers = {name: value for f in analysis.findings for name, value in f.numbers.items()}
    assert numbers["locations_per_unit_of_priority"] == pytest.approx(slope, rel=0.03)
    assert numbers["direction"] == -np.sign(slope)


def test_sorting_in_a_random_order_does_not_score() -> None:
    recording = with_reads_shuffled(sorted_by(), seed=4)
    order = np.random.default_rng(2).permutation(8)
    recording.trace.write_weightings[:8] = recording.trace.write_weightings[order]
    _, values = examined(recording)
    assert values["writes where the priority says"] < 0.2
    assert values["reads in order"] < 0.9
    assert values["reads the sorted sequence"] < 0.5


@pytest.mark.parametrize("make", [lambda: copied(COPIES[0]), recalled, counted, sorted_by])
def test_the_heads_that_do_the_work_are_found_among_others(make) -> None:  # type: ignore[no-untyped-def]
    recording = make()
    alone, together = examined(recording)[1], with_more_heads(recording, 2, 3, seed=5)
    analysis, values = examined(together)
    assert (analysis.write_head, analysis.read_head) == (1, 2)
    assert analysis.sequences == SEQUENCES // 2
    assert values == pytest.approx(alone, abs=0.1)
    assert "on as many sequences again" in analysis.chosen


@pytest.mark.parametrize(
    "task",
    [
        Copy(bits=2, max_length=3),
        RepeatCopy(bits=2, max_length=3, max_repeats=3),
        AssociativeRecall(bits=2, item_length=2, max_items=3),
        NGrams(length=9, context=2),
        PrioritySort(bits=2, length=3, answers=2),
    ],
    ids=lambda task: task.name,
)
@pytest.mark.parametrize("sequences", [1, 2, 7])
def test_any_network_can_be_analysed(task: Task, sequences: int) -> None:
    torch.manual_seed(2)
    net = NTM(
        task.input_size, task.output_size, controller_size=5, memory_locations=7, memory_width=3,
        read_heads=2, write_heads=3,
    )  # fmt: skip
    analysis = analyse(net, task, sequences=sequences, seed=3)
    assert all(np.isfinite(finding.value) for finding in analysis.findings)
    assert all(finding.value <= 1 + 1e-9 for finding in analysis.findings)
    assert analysis == analyse(net, task, sequences=sequences, seed=3)
    assert json.loads(json.dumps(analysis.to_json()))["task"] == task.name
    for kinds in analysis.modes.values():
        for shares in kinds.values():
            assert sum(shares.values()) == pytest.approx(1) or sum(shares.values()) == 0


def test_the_text_has_every_claim_beside_its_number() -> None:
    analysis, _ = examined(copied(COPIES[0]))
    text = analysis.as_text()
    for finding in analysis.findings:
        assert f"{finding.value:.3f}  {finding.name}" in text
        assert f'"{finding.claim}"' in text
    assert "content then shift" in text
    assert max(map(len, text.splitlines())) <= 120


def test_an_lstm_has_no_heads() -> None:
    with pytest.raises(ValueError, match="LSTM has no heads to watch"):
        analyse(LSTMBaseline(9, 8, 5), Copy())


class Echo(Copy):
    """Copy under a name that no experiment knows."""

    name = "echo"


def test_any_task_gets_an_analysis_of_what_can_be_said_of_any() -> None:
    task = Echo(bits=4, min_length=6, max_length=6)
    batch = sample(task, SEQUENCES)
    recording = performed(task, batch, hand_made.copy_program(task, batch))
    analysis, values = examined(recording)
    assert analysis.task == "echo"
    assert values == {"looks at one location": 1.0, "reads where it wrote": 1.0}
    assert analysis.modes.keys() == {"before the answer", "answer"}
    assert analysis.findings[1].claim == ""
    assert "the paper" not in analysis.as_text().partition("reads where it wrote")[2]


def test_heads_that_never_meet_do_not_read_what_they_wrote() -> None:
    task = Echo(bits=4, min_length=6, max_length=6)
    batch = sample(task, SEQUENCES)
    recording = performed(task, batch, hand_made.copy_program(task, batch))
    away = np.roll(recording.trace.read_weightings, 30, axis=-1)
    moved = recording._replace(trace=replace(recording.trace, read_weightings=away))
    assert examined(moved)[1]["reads where it wrote"] == 0.0


def test_blurred_heads_look_at_no_one_location() -> None:
    analysis = analyse(NTM(Echo().input_size, Echo().output_size), Echo(), sequences=4)
    assert analysis.findings[0].value < 0.5


@pytest.mark.parametrize("name", ["copy", "ngrams"])
def test_an_analysis_refuses_recordings_of_another_task(name: str) -> None:
    recording = sorted_by()
    with pytest.raises(TypeError, match="The task is priority-sort; it must be"):
        experiment_of(name).analysis(recording)

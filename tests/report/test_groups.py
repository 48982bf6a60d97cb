"""Which runs belong together, and the commands that repeat them."""

import shlex
from dataclasses import replace

import pytest
from tests.report.examples import made_up_record

from ntm.commands.main import make_parser
from ntm.commands.train import requested
from ntm.report.groups import by_experiment, departures, grouped, paper_departures
from ntm.runs import FolderError
from ntm.training import paper_settings

FAST = {"optimiser.learning_rate": "0.001"}


def test_runs_that_differ_in_more_than_the_seed_are_apart() -> None:
    records = [
        made_up_record(seed=1),
        made_up_record(seed=0),
        made_up_record(seed=0, changes=FAST),
        made_up_record(seed=0, changes={"training.sequences": "5000"}),
        made_up_record(model="lstm"),
        made_up_record(task="ngrams"),
    ]
    groups = grouped(records, "copy")
    assert sorted(len(group.records) for group in groups) == [1, 1, 1, 2]
    assert [group.model for group in groups] == ["ntm-ff", "ntm-ff", "ntm-ff", "lstm"]
    (pair,) = [group for group in groups if len(group.records) == 2]
    assert [record.seed for record in pair.records] == [0, 1]


def test_how_a_run_was_watched_does_not_matter() -> None:
    watched = {"training.report_every": "500", "training.threads": "1"}
    records = [made_up_record(seed=0), made_up_record(seed=1, changes=watched)]
    assert len(grouped(records, "copy")) == 1
    assert departures(records[1].settings, records[0].settings) == {}


def test_the_same_run_twice_is_refused() -> None:
    with pytest.raises(FolderError, match="the same run with seed 4"):
        grouped([made_up_record(seed=4), made_up_record(seed=4)], "copy")


def test_tasks_come_in_the_papers_order() -> None:
    records = [made_up_record(task=task) for task in ("priority-sort", "copy", "ngrams")]
    assert [experiment.task for experiment, _ in by_experiment(records)] == [
        "copy",
        "ngrams",
        "priority-sort",
    ]


def test_names_say_what_is_otherwise_than_in_the_paper() -> None:
    (plain,) = grouped([made_up_record()], "copy")
    (fast,) = grouped([made_up_record(changes=FAST)], "copy")
    assert plain.name == "NTM, feedforward controller"
    assert fast.name == "NTM, feedforward controller; learning_rate 0.001"


def test_the_papers_protocol_is_told_from_ours() -> None:
    record = made_up_record(model="ntm-lstm")
    (ours,) = grouped([record], "copy")
    settings = paper_settings("copy", "ntm-lstm")
    (theirs,) = grouped([replace(record, settings=settings)], "copy")
    assert theirs.name == "NTM, LSTM controller; the paper's protocol"
    assert theirs.command == "ntm train copy --model ntm-lstm --paper --seed S"
    assert paper_departures(theirs.settings) == {}
    assert set(paper_departures(ours.settings)) == {
        "optimiser.learning_rate", "optimiser.halve_after", "optimiser.halve_every",
        "optimiser.backward_clip", "training.validate_beyond",
        "training.starts", "training.trial_sequences", "training.enough_bits",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("seeds", "text"), [([0, 1, 2], "0 to 2"), ([0, 2], "0, 2"), ([5], "5"), ([3, 4], "3 to 4")]
)
def test_seeds_in_words(seeds: list[int], text: str) -> None:
    (group,) = grouped([made_up_record(seed=seed) for seed in seeds], "copy")
    assert group.seeds == text


@pytest.mark.parametrize(
    ("task", "model", "changes"),
    [
        ("copy", "ntm-ff", {}),
        ("copy", "lstm", {"training.batch_size": "16", "training.sequences": "4800"}),
        ("ngrams", "ntm-lstm", {"initialisation.start_memory": "random", **FAST}),
        ("repeat-copy", "ntm-ff", {"model.shifts": "-2,0,1", "task.scale_max_repeats": "12"}),
        ("copy", "ntm-ff", {"training.stop_when_solved": "true", "task.max_length": "7"}),
    ],
)
def test_the_command_makes_the_very_settings(
    task: str, model: str, changes: dict[str, str]
) -> None:
    if "task.scale_max_repeats" in changes:
        changes = changes | {"task.scale_min_repeats": "1"}
    (group,) = grouped([made_up_record(task, model, seed=3, changes=changes)], task)
    program, *arguments = shlex.split(group.command.replace("--seed S", "--seed 3"))
    assert program == "ntm"
    settings, _ = requested(make_parser().parse_args(arguments))
    assert settings == group.settings


@pytest.mark.parametrize("changes", [{}, FAST, {"training.sequences": "700"}])
def test_so_does_the_command_of_the_papers_protocol(changes: dict[str, str]) -> None:
    wanted = paper_settings("ngrams", "ntm-ff").with_text(changes | {"training.seed": "3"})
    (group,) = grouped([replace(made_up_record("ngrams"), settings=wanted)], "ngrams")
    _, *arguments = shlex.split(group.command.replace("--seed S", "--seed 3"))
    assert requested(make_parser().parse_args(arguments))[0] == wanted

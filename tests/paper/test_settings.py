from dataclasses import replace

import pytest

from ntm.config import NTMConfig
from ntm.models.family import MODELS
from ntm.models.lstm import LSTMInitialisation
from ntm.paper import paper_network, paper_settings, paper_tables, settings_for
from ntm.tasks import TASKS, AssociativeRecall, Copy, register


def test_the_tables_hold_every_task_and_model_once() -> None:
    names = [(network.task, network.model) for network in paper_tables()]
    assert sorted(names) == sorted((task, model) for task in TASKS for model in MODELS)


def test_some_rows_are_as_printed() -> None:
    sort = paper_network("priority-sort", "ntm-lstm")
    assert sort is not None
    assert isinstance(sort.config, NTMConfig)
    assert (sort.config.controller_layers, sort.config.controller_size) == (2, 100)
    assert (sort.config.read_heads, sort.config.write_heads) == (5, 5)
    assert (sort.learning_rate, sort.parameters) == (3e-5, 269_038)
    recall = paper_network("associative-recall", "ntm-ff")
    assert recall is not None
    assert isinstance(recall.config, NTMConfig)
    assert (recall.config.read_heads, recall.config.controller_size) == (4, 256)
    assert (recall.learning_rate, recall.parameters) == (1e-4, 146_845)
    lstm = paper_network("repeat-copy", "lstm")
    assert lstm is not None
    assert (lstm.config.hidden_size, lstm.learning_rate) == (512, 3e-5)  # type: ignore[union-attr]


def test_training_follows_the_text_and_not_the_counts() -> None:
    settings = paper_settings("copy", "ntm-ff")
    assert settings.task == Copy()
    assert (settings.model.input_size, settings.model.output_size) == (9, 8)
    assert settings.model.shifts == (-1, 0, 1)  # type: ignore[union-attr]
    assert settings.optimiser.learning_rate == 1e-4
    assert paper_settings("repeat-copy", "lstm").training.sequences == 500_000


def test_a_task_may_come_with_its_own_settings_or_from_outside() -> None:
    short = AssociativeRecall(max_items=3)
    assert paper_settings(short, "ntm-lstm").task == short

    class Echo(Copy):
        name = "echo-for-the-presets"

    settings = paper_settings(Echo(bits=2), "ntm-ff")
    assert settings.model.input_size == 3
    assert settings.optimiser.learning_rate == 1e-4
    register(Echo)
    try:
        assert paper_settings(Echo.name, "lstm").task == Echo()
    finally:
        del TASKS[Echo.name]


@pytest.mark.parametrize(
    ("task", "model", "message"),
    [("coppy", "lstm", "did you mean 'copy'"), ("copy", "lsmt", "did you mean 'lstm'")],
)
def test_unknown_names_are_refused_with_a_suggestion(task: str, model: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        paper_settings(task, model)
    assert paper_network(task, model) is None


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("task", TASKS)
def test_our_settings_differ_from_the_papers_in_the_training_alone(task: str, model: str) -> None:
    ours, theirs = settings_for(task, model), paper_settings(task, model)
    assert ours.task == theirs.task
    assert ours.model == theirs.model
    if not ours.family.capabilities.tuned:
        assert ours == theirs or ours.training.batch_size == 16
        assert ours.initialisation == theirs.initialisation == LSTMInitialisation(forget_bias=1.0)
        return
    start = replace(ours.initialisation, start_memory="constant", gate_bias=0.0)
    assert start == theirs.initialisation
    optimiser = replace(
        ours.optimiser,
        halve_every=0,
        halve_after=0,
        backward_clip=None,
        backward_clip_until=None,
    )
    rate, epsilon = theirs.optimiser.learning_rate, theirs.optimiser.epsilon
    assert replace(optimiser, learning_rate=rate, epsilon=epsilon) == theirs.optimiser
    assert ours.optimiser.backward_clip > 0
    if (task, model) != ("copy", "ntm-ff"):
        assert ours.optimiser.rate_after(ours.training.sequences) < ours.optimiser.learning_rate / 9


def test_heads_begin_small_in_copy_and_ngrams_and_sharp_and_together_in_recall() -> None:
    def start(task: str, model: str) -> tuple[float, float, bool]:
        begin = paper_settings(task, model).initialisation
        return begin.head_gain, begin.start_spread, begin.start_together

    assert start("copy", "ntm-ff") == start("ngrams", "ntm-ff") == (0.25, 1, False)
    assert start("associative-recall", "ntm-ff") == (1, 4, True)
    assert start("copy", "ntm-lstm") == start("priority-sort", "ntm-ff") == (1, 1, False)


def test_a_task_of_yours_is_trained_as_copy_is() -> None:
    class Mine(Copy):
        name = "mine"

    assert settings_for(Mine()).optimiser == settings_for("copy").optimiser
    assert settings_for(Mine()).training.starts == 1  # it may have no axis to look beyond along


def test_starts_are_tried_in_copy_and_recall() -> None:
    chosen = settings_for("copy").training
    assert (chosen.starts, chosen.trial_sequences, chosen.sequences) == (10, 20_000, 20_000)
    assert chosen.most_sequences == 200_000
    assert settings_for("associative-recall").training.validate_beyond == "items=15"
    assert all(paper_settings(task).training.starts == 1 for task in TASKS)

import json
import re
from dataclasses import fields, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ntm.common.fields import documentation
from ntm.models.family import MODELS
from ntm.models.lstm import LSTMConfig
from ntm.runs import OptimiserSettings, Settings, TrainingSettings
from ntm.runs.settings import FOLLOWS_FROM_TASK, SECTIONS
from ntm.tasks import TASKS, Copy, RepeatCopy
from ntm.training import paper_settings

optimisers = st.builds(
    OptimiserSettings,
    learning_rate=st.floats(0, 1),
    decay=st.floats(0, 1),
    momentum=st.floats(0, 1),
    epsilon=st.floats(1e-12, 1),
    clip=st.none() | st.floats(1e-12, 1e6),
    halve_every=st.integers(0, 10**9),
    halve_after=st.integers(0, 10**9),
    backward_clip=st.none() | st.floats(1e-6, 1e6),
    backward_clip_until=st.none() | st.integers(1, 10**9),
)
trainings = st.builds(
    TrainingSettings,
    sequences=st.integers(1, 10**9),
    batch_size=st.integers(1, 10**4),
    seed=st.integers(0, 2**63 - 1),
    engine=st.sampled_from(["auto", "native", "reference"]),
    report_every=st.integers(1, 10**6),
    stop_when_solved=st.booleans(),
    solved_bits=st.floats(0, 100),
    checkpoint_seconds=st.floats(0, 1e6),
)
presets = st.builds(paper_settings, st.sampled_from(sorted(TASKS)), st.sampled_from(sorted(MODELS)))
any_settings = st.builds(
    lambda preset, optimiser, training: replace(preset, optimiser=optimiser, training=training),
    presets,
    optimisers,
    trainings,
)


def typed(value: object) -> str:
    """A value as a person would type it."""
    if isinstance(value, tuple):
        return ",".join(map(str, value))
    return str(value)


@given(any_settings)
def test_json_brings_back_the_same_settings(settings: Settings) -> None:
    assert Settings.from_json(json.loads(json.dumps(settings.to_json()))) == settings


@given(any_settings)
def test_every_setting_can_be_typed(settings: Settings) -> None:
    texts = {
        f"{section}.{f.name}": typed(getattr(getattr(settings, section), f.name))
        for section in SECTIONS
        for f in fields(getattr(settings, section))
        if f.name not in FOLLOWS_FROM_TASK
    }
    start = paper_settings(settings.task.name, settings.model_name)
    assert start.with_text(texts) == settings


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("model", MODELS)
def test_every_setting_is_documented(task: str, model: str) -> None:
    settings = paper_settings(task, model)
    for section in SECTIONS:
        owner = type(getattr(settings, section))
        texts = documentation(owner)
        assert list(texts) == [f.name for f in fields(owner)]
        assert all(texts.values()), texts
        assert not any(re.search(r"(?<!\.)\.{1,2}$", text) for text in texts.values()), texts


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("training.sequences", "1e6", 1_000_000),
        ("training.sequences", " 20_000 ", 20_000),
        ("training.stop_when_solved", "Yes", True),
        ("training.stop_when_solved", "off", False),
        ("optimiser.learning_rate", "3e-5", 3e-5),
        ("optimiser.clip", "1", 1.0),
        ("model.shifts", "(-2, -1, 0)", (-2, -1, 0)),
        ("model.shifts", "[1]", (1,)),
        ("model.shifts", "0,1,", (0, 1)),
        ("model.shift_mode", "scalar", "scalar"),
    ],
)
def test_texts_become_values(key: str, text: str, value: object) -> None:
    section, _, name = key.partition(".")
    changed = paper_settings("copy").with_text({key: text})
    got = getattr(getattr(changed, section), name)
    assert (got, type(got)) == (value, type(value))


def test_none_can_be_typed_where_it_is_a_value() -> None:
    settings = paper_settings("repeat-copy").with_text({"task.scale_max_repeats": "20"})
    assert settings.task == RepeatCopy(scale_max_repeats=20)
    assert settings.with_text({"task.scale_max_repeats": "none"}).task == RepeatCopy()


def test_the_model_follows_the_task() -> None:
    settings = paper_settings("copy").with_text({"task.bits": "3", "task.end_marker": "true"})
    assert (settings.model.input_size, settings.model.output_size) == (4, 4)
    with pytest.raises(ValueError, match=r"model\.input_size follows from the task"):
        settings.with_text({"model.input_size": "4"})
    with pytest.raises(ValueError, match=r"9 inputs and 8 outputs"):
        Settings(Copy(), LSTMConfig(8, 8))


def test_python_values_are_given_as_they_are() -> None:
    settings = paper_settings("copy").with_(training={"sequences": 20_000}, task={"bits": 3})
    assert settings.training.sequences == 20_000
    assert (settings.task, settings.model.input_size) == (Copy(bits=3), 4)
    assert settings.with_() == settings
    with pytest.raises(ValueError, match="sequences must be an integer of at least 1, got '20000'"):
        settings.with_(training={"sequences": "20000"})
    with pytest.raises(ValueError, match="did you mean 'sequences'"):
        settings.with_(training={"sequence": 20_000})
    with pytest.raises(ValueError, match="did you mean 'training'"):
        settings.with_(trainin={"sequences": 20_000})
    with pytest.raises(ValueError, match=r"model\.input_size follows from the task"):
        settings.with_(model={"input_size": 3})


def test_settings_of_a_section_change_together() -> None:
    changed = paper_settings("copy").with_text({"task.min_length": "30", "task.max_length": "40"})
    assert changed.task == Copy(min_length=30, max_length=40)


@pytest.mark.parametrize(
    ("key", "text", "message"),
    [
        ("training.sed", "1", "did you mean 'seed'"),
        ("trainin.seed", "1", "did you mean 'training'"),
        ("task.lenght", "1", "Known: bits"),
        ("seed", "1", "such as training[.]seed; got 'seed'"),
        ("training", "1", r"section\.key"),
        ("training.seed", "one", "an integer of at least 0"),
        ("training.seed", "1.5", "an integer of at least 0"),
        ("training.seed", "-1", "at least 0"),
        ("training.stop_when_solved", "maybe", "true or false"),
        ("training.engine", "fast", "'auto' or 'native' or 'reference'"),
        ("optimiser.learning_rate", "nan", "finite"),
        ("optimiser.learning_rate", "much", "must be a finite number"),
        ("model.shifts", "1,x", "separated by commas"),
        ("model.shift_mode", "both", "'softmax' or 'scalar'"),
        ("task.bits", "0", "from 1 to 4096"),
    ],
)
def test_what_makes_no_sense_is_refused(key: str, text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        paper_settings("copy").with_text({key: text})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"extra": {}}, "section"),
        ({"task": {"name": "coppy"}}, "did you mean 'copy'"),
        ({"model": {"name": "lstm"}}, r"lack model\.input_size"),
        ({"model": {"input_size": 9, "output_size": 8}}, "no model called 'None'"),
        ({"training": {"sed": 1}}, "did you mean 'seed'"),
    ],
)
def test_json_that_makes_no_sense_is_refused(change: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Settings.from_json(paper_settings("copy").to_json() | change)


def test_the_rate_halves_smoothly() -> None:
    optimiser = paper_settings("copy").optimiser
    assert optimiser.rate_after(10**9) == optimiser.learning_rate
    halving = replace(optimiser, halve_every=1000)
    assert halving.rate_after(0) == optimiser.learning_rate
    assert halving.rate_after(500) == pytest.approx(optimiser.learning_rate / 2**0.5)
    assert halving.rate_after(3000) == pytest.approx(optimiser.learning_rate / 8)
    later = replace(halving, halve_after=2000)
    assert later.rate_after(2000) == optimiser.learning_rate
    assert later.rate_after(3000) == pytest.approx(optimiser.learning_rate / 2)

"""Several initialisations on trial: which goes on, what counts, and how it resumes."""

import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import load_file
from tests.same_run import assert_same_run

from ntm.runs import Run, Settings, TrainingSettings, build_model, read_metrics
from ntm.runs.facts import chosen_start
from ntm.training import begin, train
from ntm.training.display import Shown
from ntm.training.starts import Starts

Small = Callable[..., Settings]
TRIALS: dict[str, Any] = {"training__starts": 3, "training__trial_sequences": 40}


def starts(count: int, enough: float = 0.0) -> Starts:
    return Starts.of(TrainingSettings(starts=count, trial_sequences=10, enough_bits=enough))


def weights(value: float) -> dict[str, torch.Tensor]:
    return {"model/w": torch.full((2,), value)}


@given(st.lists(st.floats(0, 100), min_size=2, max_size=6))
def test_the_first_of_the_lowest_cost_goes_on(costs: list[float]) -> None:
    trials = starts(len(costs))
    for number, bits in enumerate(costs):
        assert trials.deciding
        assert (trials.number, trials.others) == (number, 10 * number)
        trials.keep_best({"w": torch.tensor([bits])}, {"sequences": number})
        trials.end_trial(bits, {"sequences": 10, "at": number}, weights(number))
    assert not trials.deciding
    winner = costs.index(min(costs))
    assert (trials.number, trials.others) == (winner, 10 * (len(costs) - 1))
    kept, tensors = trials.release()
    assert kept["counters"]["at"] == kept["facts"]["sequences"] == winner
    assert tensors["model/w"][0] == winner
    assert tensors["best/w"].item() == pytest.approx(min(costs))
    assert trials.tensors == {}


def test_a_start_that_is_good_enough_goes_on_at_once() -> None:
    trials = starts(5, enough=1.0)
    trials.end_trial(3.0, {}, weights(0))
    trials.end_trial(0.5, {}, weights(1))
    assert not trials.deciding
    assert (trials.number, trials.others) == (1, 10)
    assert trials.verdict() == (
        "Start 2 is kept, with 0.5 bits per sequence in its best validation (all: 3, 0.5), "
        "which is good enough; starts not tried: 3."
    )


def test_what_the_trials_will_do_is_said_in_words() -> None:
    assert starts(5, enough=0.5).announcement(10) == (
        "Up to 5 starts are tried, 10 sequences each, until one is below 0.5 bits in validation. "
        "The best start is the run's result."
    )
    assert starts(2).announcement(1000) == (
        "2 starts are tried, 10 sequences each. The best start continues to 1,000."
    )


def test_the_display_counts_towards_the_end_of_the_start_that_is_on_trial(small: Small) -> None:
    stream = io.StringIO()
    settings = small(**TRIALS, training__sequences=60, training__enough_bits=1e9)
    progress = Shown(stream)
    progress.interval = 0.0
    train(settings, progress=progress)
    introduction, announcement, *lines = stream.getvalue().splitlines()
    assert introduction.endswith("from the start to at most 140.")
    assert announcement.startswith("Up to 3 starts are tried, 40 sequences each, until one is ")
    verdict = next(
        number for number, line in enumerate(lines) if line.startswith("Start 1 is kept")
    )
    assert lines[verdict].endswith("which is good enough; starts not tried: 2.")
    assert verdict > 0
    for line in lines[:verdict]:
        assert re.match(r"start 1: \d+ of 40 sequences, ", line)
    for line in lines[verdict + 1 :]:
        assert re.match(r"\d+ of 60 sequences, ", line)


def test_one_start_has_no_trial() -> None:
    assert not starts(1).deciding


def test_a_trial_is_whole_batches() -> None:
    chosen = TrainingSettings(starts=2, trial_sequences=10, batch_size=4)
    assert Starts.of(chosen).length == 12
    assert chosen.most_sequences == 1_000_012


def test_a_run_that_is_shorter_than_a_trial_has_one_start() -> None:
    chosen = TrainingSettings(starts=2, trial_sequences=99, sequences=30)
    assert not Starts.of(chosen).deciding
    assert chosen.most_sequences == 30


@pytest.mark.parametrize("longer", [39, 100])
def test_a_run_that_began_without_trials_has_none_when_it_is_made_longer(
    small: Small, tmp_path: Path, longer: int
) -> None:
    for sequences in (30, longer):
        train(small(**TRIALS, training__sequences=sequences), tmp_path / "a", resume=True)
    train(small(training__sequences=longer), tmp_path / "b")
    weights, expected = (load_file(tmp_path / name / "model.safetensors") for name in "ab")
    assert all(torch.equal(weights[name], expected[name]) for name in expected)
    lines = read_metrics(tmp_path / "a" / "metrics.jsonl")
    assert not any("start" in line for line in lines)
    assert chosen_start(lines, 40) == lines


@pytest.mark.parametrize("model", ["lstm", "ntm-ff"])
@pytest.mark.parametrize("average", [0.0, 0.5])
def test_the_best_start_goes_on_as_if_it_had_been_alone(
    small: Small, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: str, average: float
) -> None:
    # The clip is let go within the trial, and the rate falls: each start has its own schedule.
    schedule = {
        "training__average_share": average,
        "optimiser__backward_clip": 1,
        "optimiser__backward_clip_until": 20,
        "optimiser__halve_every": 30,
        "training__sequences": 300,
        "training__validate_every": 20,
    }
    tried = train(small(model=model, **TRIALS, **schedule), tmp_path / "tried")
    lines = read_metrics(tmp_path / "tried" / "metrics.jsonl")
    winner = lines[-1]["start"] - 1

    def this_start(settings: Settings, start: int = 0) -> object:
        assert start == 0
        return build_model(settings, winner)

    monkeypatch.setattr(begin, "build_model", this_start)
    alone = train(small(model=model, **schedule), tmp_path / "alone")
    for (name, ours), theirs in zip(
        tried.model.named_parameters(), alone.model.parameters(), strict=True
    ):
        assert torch.equal(ours, theirs), name
    assert (tried.bits, tried.best_bits) == (alone.bits, alone.best_bits)
    assert tried.sequences == alone.sequences + 80
    ours, theirs = (load_file(tmp_path / run / "best.safetensors") for run in ("tried", "alone"))
    assert all(torch.equal(ours[name], theirs[name]) for name in theirs)
    _, facts = Run(tmp_path / "tried").load_model("best")
    _, lonely = Run(tmp_path / "alone").load_model("best")
    assert facts == lonely | {"sequences": lonely["sequences"] + 80}


def test_all_trials_are_in_the_curve_and_in_the_count(small: Small, tmp_path: Path) -> None:
    result = train(small(**TRIALS), tmp_path)
    lines = read_metrics(tmp_path / "metrics.jsonl")
    assert [line["sequences"] for line in lines] == [20, 40, 60, 80, 100, 120, 140]
    trials = {line["start"]: line["validation_bits"] for line in lines[1:6:2]}
    assert list(trials) == [1, 2, 3]
    assert result.sequences == 140
    assert lines[-1]["start"] == min(trials, key=trials.__getitem__)
    assert Run(tmp_path).load_model("latest")[1]["sequences"] == 140
    seconds = [line["seconds"] for line in lines]
    assert seconds == sorted(seconds)


def test_the_best_weights_are_not_those_of_a_trial(small: Small, tmp_path: Path) -> None:
    # At this rate nothing gets better, so the first validation that counts is the best.
    still = {"optimiser__learning_rate": 1e-30, "training__validate_every": 20}
    result = train(small(**TRIALS, **still, training__sequences=100), tmp_path / "goes on")
    assert Run(tmp_path / "goes on").load_model("best")[1]["sequences"] == 40 * 3 + 20
    assert result.best_bits is not None
    train(small(**TRIALS, **still, training__sequences=40), tmp_path / "ends")
    assert Run(tmp_path / "ends").load_model("best")[1]["sequences"] == 40 * 2 + 20


def test_starts_differ_and_the_first_is_the_plain_run(small: Small) -> None:
    first, second = (build_model(small(), start) for start in (0, 1))
    assert torch.equal(first.output.weight, build_model(small()).output.weight)
    assert not torch.equal(first.output.weight, second.output.weight)


def test_a_trial_is_judged_even_if_nothing_else_is_validated(small: Small, tmp_path: Path) -> None:
    train(small(**TRIALS, training__validate_every=0), tmp_path)
    lines = read_metrics(tmp_path / "metrics.jsonl")
    assert [line["sequences"] for line in lines if "validation_bits" in line] == [40, 80, 120]


@pytest.mark.parametrize("batch_size", [1, 3])
def test_a_run_may_stop_anywhere_in_its_trials(
    small: Small, tmp_path: Path, batch_size: int
) -> None:
    settings = small(**TRIALS, training__batch_size=batch_size, training__average_share=0.5)
    train(settings, tmp_path / "whole")
    # Out of time after every step.
    in_steps = settings.with_text({"training.stop_after_seconds": "1e-9"})
    for _ in range(200):
        result = train(in_steps, tmp_path / "parts", resume=True)
        if result.ending == "finished":
            break
    assert result.ending == "finished"
    assert_same_run(tmp_path / "whole", tmp_path / "parts", same_settings=False)


def test_solved_in_a_trial_means_solved_when_it_goes_on(small: Small) -> None:
    solved = {"training__stop_when_solved": True, "training__solved_bits": 1000}
    result = train(small(**TRIALS, **solved, training__solved_window=40))
    assert (result.ending, result.sequences) == ("solved", 120)


def test_validation_beyond_the_range_counts_too(small: Small, tmp_path: Path) -> None:
    train(small(training__validate_beyond="length=6"), tmp_path)
    lines = [line for line in read_metrics(tmp_path / "metrics.jsonl") if "beyond_bits" in line]
    assert len(lines) == 2
    chosen = min(lines, key=lambda line: line["validation_bits"] + line["beyond_bits"])
    _, facts = Run(tmp_path).load_model("best")
    assert facts["beyond_bits"] == chosen["beyond_bits"]
    assert facts["sequences"] == chosen["sequences"]


@pytest.mark.parametrize(
    ("at", "message"),
    [
        ("length", "such as length=60"),
        ("length=long", "such as length=60"),
        ("items=5", "no axis 'items'"),
        ("length=0", "length"),
    ],
)
def test_a_place_beyond_must_be_one_of_the_task(small: Small, at: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        small(training__validate_beyond=at)


def test_the_curve_of_the_start_that_went_on_is_told_from_the_others(
    small: Small, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    train(small(**TRIALS), tmp_path / "tried")
    lines = read_metrics(tmp_path / "tried" / "metrics.jsonl")
    winner = lines[-1]["start"] - 1
    monkeypatch.setattr(begin, "build_model", lambda s: build_model(s, winner))
    train(small(), tmp_path / "alone")
    alone = read_metrics(tmp_path / "alone" / "metrics.jsonl")

    def curve(some: list[dict[str, Any]]) -> list[tuple[int, float]]:
        return [(line["sequences"], line["bits"]) for line in some]

    assert curve(chosen_start(lines, 40)) == curve(alone)
    assert chosen_start(alone, 40) == alone
    assert chosen_start([], 40) == []

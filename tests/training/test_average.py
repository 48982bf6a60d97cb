from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import load_file
from tests.training.test_loop import assert_same_run, validation_bits

from ntm.models.lstm import LSTMBaseline
from ntm.runs import Run, Settings, read_metrics
from ntm.runs.facts import Facts
from ntm.training import Observer, train
from ntm.training.loop import Trainer
from ntm.training.state import Average

Small = Callable[..., Settings]


def network(value: float) -> LSTMBaseline:
    """One whose weights are all the same."""
    model = LSTMBaseline(1, 1, 2)
    for parameter in model.parameters():
        torch.nn.init.constant_(parameter, value)
    return model


def averaged(share: float, moments: list[int], values: list[float]) -> float:
    """The mean of networks that were taken after so many sequences."""
    average = Average(network(1e6), share)
    for (before, now), value in zip(pairwise([0, *moments]), values, strict=True):
        average.take(network(value), before, now)
    weights = torch.cat([p.flatten() for p in average.model.parameters()])
    assert weights.unique().numel() == 1
    return weights[0].item()


VALUES = st.lists(st.floats(-10, 10, width=32), min_size=1, max_size=20)


@given(VALUES)
def test_over_all_of_the_training_it_is_the_plain_mean(values: list[float]) -> None:
    moments = [1000 * (i + 1) for i in range(len(values))]
    assert averaged(1.0, moments, values) == pytest.approx(sum(values) / len(values), abs=1e-4)


@given(VALUES, st.floats(0.01, 1), st.data())
def test_what_was_taken_counts_the_less_the_longer_ago_it_is(
    values: list[float], share: float, data: st.DataObject
) -> None:
    gaps = st.integers(1, 5000)
    moments, now = [], 0
    for _ in values:
        now += data.draw(gaps)
        moments.append(now)
    # How much of the mean is older than a moment is a power of how early the moment was.
    older = [0.0, *((moment / now) ** (1 / share) for moment in moments)]
    counts = [after - before for before, after in pairwise(older)]
    expected = sum(count * value for count, value in zip(counts, values, strict=True))
    assert averaged(share, moments, values) == pytest.approx(expected, abs=1e-3)


class MeanCosts(Observer):
    """Measures the running mean after every report."""

    def __init__(self) -> None:
        self.bits: list[float] = []

    def reported(self, run: Trainer, line: Facts) -> None:
        assert run.state.average is not None
        self.bits.append(validation_bits(run.settings, run.state.average.model))


@pytest.mark.parametrize("model", ["lstm", "ntm-ff", "ntm-lstm"])
def test_the_better_of_weights_and_mean_is_kept(small: Small, tmp_path: Path, model: str) -> None:
    plain, averaging = tmp_path / "plain", tmp_path / "averaging"
    # So large a rate that the weights jump about: now they are better, now their mean is.
    common = {
        "training__sequences": 200,
        "training__validate_every": 20,
        "optimiser__learning_rate": 1e-2,
    }
    train(small(model=model, **common), plain)
    settings, means = small(model=model, training__average_share=1, **common), MeanCosts()
    train(settings, averaging, observers=[means])
    # The training itself is the same.
    ours, theirs = (load_file(each / "model.safetensors") for each in (plain, averaging))
    assert all(torch.equal(ours[name], theirs[name]) for name in ours)
    curves = [read_metrics(each / "metrics.jsonl") for each in (plain, averaging)]
    assert [a["bits"] for a in curves[0]] == [b["bits"] for b in curves[1]]
    own = [line["validation_bits"] for line in curves[0]]
    measured = [line["validation_bits"] for line in curves[1]]
    assert measured == [min(pair) for pair in zip(own, means.bits, strict=True)]
    assert measured != own
    assert measured != means.bits
    best, facts = Run(averaging).load_model("best")
    assert facts["validation_bits"] == min(measured)
    assert validation_bits(settings, best) == min(measured)


def test_a_run_in_two_parts_has_the_same_mean(small: Small, tmp_path: Path) -> None:
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    for folder, lengths in ((whole, [80]), (parts, [40, 80])):
        for length in lengths:
            settings = small(training__sequences=length, training__average_share=0.3)
            train(settings, folder, resume=True)
    assert_same_run(parts, whole)

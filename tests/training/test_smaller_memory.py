"""Training with fewer memory locations than the network has."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.same_run import assert_same_run
from tests.training.test_loop import validation_bits

from ntm.layer import NTM
from ntm.runs import Run, Settings, read_metrics
from ntm.training import train

Small = Callable[..., Settings]
FEWER: dict[str, Any] = {
    "model": "ntm-ff",
    "model__memory_locations": 11,
    "training__memory_locations": 5,
}
TRIALS: dict[str, Any] = {"training__starts": 3, "training__trial_sequences": 40}


def assert_same_weights(ours: torch.nn.Module, theirs: torch.nn.Module) -> None:
    for (name, own), other in zip(ours.named_parameters(), theirs.parameters(), strict=True):
        assert torch.equal(own, other), name


@pytest.mark.parametrize("model", ["ntm-ff", "ntm-lstm"])
def test_it_trains_as_the_smaller_network_and_ends_as_the_larger(
    small: Small, tmp_path: Path, model: str
) -> None:
    larger = train(small(**FEWER | {"model": model}), tmp_path / "larger")
    smaller = train(small(model=model, model__memory_locations=5), tmp_path / "smaller")
    assert isinstance(smaller.model, NTM)
    assert larger.bits == smaller.bits
    assert_same_weights(larger.model, smaller.model.resized(11))
    latest, _ = Run(tmp_path / "larger").load_model("latest")
    assert_same_weights(latest, larger.model)


@pytest.mark.parametrize("trials", [{}, TRIALS], ids=["one start", "trials"])
@pytest.mark.parametrize("average", [0.0, 0.5])
def test_it_is_validated_with_the_whole_memory(
    small: Small, tmp_path: Path, trials: dict[str, Any], average: float
) -> None:
    settings = small(**FEWER, **trials, training__average_share=average)
    train(settings, tmp_path)
    best, facts = Run(tmp_path).load_model("best")
    assert isinstance(best, NTM)
    assert best.config.memory_locations == 11
    assert validation_bits(settings, best) == facts["validation_bits"]
    # The last validation is of the best weights, or of worse ones.
    last = read_metrics(tmp_path / "metrics.jsonl")[-1]
    assert facts["validation_bits"] <= last["validation_bits"]


def test_a_run_in_two_parts_is_the_same(small: Small, tmp_path: Path) -> None:
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    for folder, lengths in ((whole, [120]), (parts, [40, 120])):
        for length in lengths:
            train(small(**FEWER, training__sequences=length), folder, resume=True)
    assert_same_run(parts, whole)


def test_with_more_locations_than_it_has_a_network_trains_with_all(small: Small) -> None:
    bounded = train(small(**FEWER | {"training__memory_locations": 12}))
    plain = train(small(model="ntm-ff", model__memory_locations=11))
    assert_same_weights(bounded.model, plain.model)


def test_a_network_without_memory_is_refused(small: Small) -> None:
    with pytest.raises(ValueError, match="lstm has no memory; leave it out"):
        small(model="lstm", training__memory_locations=12)

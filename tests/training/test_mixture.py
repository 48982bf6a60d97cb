"""Training on a mixture of sizes: the data, the learning curve, trials and resumption."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from tests.same_run import assert_same_run

from ntm.runs import Settings, Stream, build_model, read_metrics
from ntm.tasks import Copy, RepeatCopy, cost_in_bits
from ntm.tasks.checks import check_batch
from ntm.tasks.mixture import mixture_of
from ntm.training import train

Small = Callable[..., Settings]
MIXTURE = "share=0.6,until=50,length=1"


@pytest.mark.parametrize("bucketed", [False, True])
@pytest.mark.parametrize("batch_size", [1, 3])
def test_other_batches_are_the_same_as_without_a_mixture(batch_size: int, bucketed: bool) -> None:
    task = RepeatCopy()
    mixture = mixture_of(task, "share=0.5,until=600,length=2,repeats=3")
    plain, mixed = (
        Stream(task, 5, batch_size, bucketed=bucketed, mixture=one) for one in (None, mixture)
    )
    for number in range(4):
        expected, block, smaller = plain.block(number), mixed.block(number), mixed.smaller(number)
        check_batch(task, block)
        for first in range(0, mixed.block_size, batch_size):
            ours = block.narrow(first, first + batch_size)
            if first in smaller:
                assert ours.mask.sum(0).max() <= 2 * 3 + 1
            else:
                theirs = expected.narrow(first, first + batch_size)
                assert all(torch.equal(a, b) for a, b in zip(ours, theirs, strict=True))
        assert bool(smaller) == (number * mixed.block_size < 600)


@pytest.mark.parametrize("growing", ["until", "growing_until"])
def test_a_block_does_not_depend_on_the_blocks_before_it(growing: str) -> None:
    task = Copy()
    mixture = mixture_of(task, f"share=0.7,{growing}=900,length=2")
    stream = Stream(task, 5, 2, mixture=mixture)
    forwards = [stream.block(number) for number in range(3)]
    for number in (2, 0, 1):
        again = Stream(task, 5, 2, mixture=mixture).block(number)
        assert all(torch.equal(a, b) for a, b in zip(forwards[number], again, strict=True))


@pytest.mark.parametrize("model", ["lstm", "ntm-ff"])
def test_the_learning_curve_and_validation_stay_on_the_full_range(
    small: Small, tmp_path: Path, model: str
) -> None:
    still = {"model": model, "optimiser__learning_rate": 1e-30}
    settings = small(**still, training__mixture=MIXTURE)
    train(settings, tmp_path / "mixed")
    train(small(**still), tmp_path / "plain")
    mixed, plain = (read_metrics(tmp_path / name / "metrics.jsonl") for name in ("mixed", "plain"))
    for key in ("sequences", "validation_bits"):
        assert [line.get(key) for line in mixed] == [line.get(key) for line in plain]
    # The weights do not change, so the cost of every sequence is known.
    stream = Stream(settings.task, 1, 1, mixture=mixture_of(settings.task, MIXTURE))
    network, block = build_model(settings), stream.block(0)
    costs = cost_in_bits(network(block.inputs, lengths=block.lengths)[0], block)
    for line in mixed:
        since = range(line["sequences"] - 20, line["sequences"])
        counted = [costs[first].item() for first in since if first not in stream.smaller(0)]
        assert 0 < len(counted) < 20 or line["sequences"] == 60
        assert line["bits"] == pytest.approx(sum(counted) / len(counted), rel=1e-5)


def test_a_report_without_the_full_range_repeats_the_report_before(
    small: Small, tmp_path: Path
) -> None:
    rare = {"training__mixture": "share=0.98,until=60,length=1", "training__report_every": 20}
    result = train(small(**rare), tmp_path)
    bits = [line["bits"] for line in read_metrics(tmp_path / "metrics.jsonl")]
    assert bits[0] == bits[1] != bits[2]  # batches 0 and 50 have the full range
    assert result.bits == bits[2]


def test_a_mixture_changes_the_network(small: Small) -> None:
    # Ranges grow from one block of data to the next, so the run is longer than a block.
    forms = ("", "share=0.5,until=400,length=1", "share=0.5,growing_until=400,length=1")
    weights = [
        train(small(training__mixture=text, training__sequences=300)).model.output.weight
        for text in forms
    ]
    assert not torch.equal(weights[0], weights[1])
    assert not torch.equal(weights[1], weights[2])


@pytest.mark.parametrize("growing", ["until", "growing_until"])
@pytest.mark.parametrize("batch_size", [1, 3])
def test_a_run_may_stop_anywhere(
    small: Small, tmp_path: Path, batch_size: int, growing: str
) -> None:
    settings = small(
        model="ntm-ff",
        training__mixture=MIXTURE.replace("until", growing),
        training__batch_size=batch_size,
        training__starts=2,
        training__trial_sequences=30,
    )
    train(settings, tmp_path / "whole")
    in_steps = settings.with_text({"training.stop_after_seconds": "1e-9"})
    for _ in range(200):
        result = train(in_steps, tmp_path / "parts", resume=True)
        if result.ending == "finished":
            break
    assert result.ending == "finished"
    assert_same_run(tmp_path / "whole", tmp_path / "parts", same_settings=False)
